"""Tells a command of the user's which day did not pass, or passes again."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence

import msgspec

from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.transforms.core.errors import problem_of

_SECONDS = 60
_STDERR = 2  # sys.stderr need not be a file


def is_news(entry: DayEntry, previous: DayEntry | None) -> bool:
    """Whether a day did not pass, or passed after one that did not.

    Args:
      previous: the latest entry, of an earlier day or of an earlier run of the day.
    """
    return entry.verdict != "passed" or (previous is not None and previous.verdict != "passed")


def document_of_day(entry: DayEntry, folder: str) -> bytes:
    """What the command reads about a day."""
    about = "; ".join(entry.reasons) or "after a day that did not pass"
    return _document(f"{entry.date}: {entry.verdict}: {about}", folder, entry)


def document_of_failure(reason: str, folder: str) -> bytes:
    """What the command reads if the whole job failed."""
    return _document(f"the nightly job failed: {reason}", folder, None)


def _document(text: str, folder: str, entry: DayEntry | None) -> bytes:
    """JSON: a sentence as `text`, which chat systems show, and the entry for programs."""
    return msgspec.json.encode({"text": f"Good Gain, {text}", "folder": folder, "day": entry})


def notify(command: Sequence[str], document: bytes, say: Callable[[str], None]) -> None:
    """Run the command with a document on its standard input; a failure is only reported.

    The output of the command goes to stderr.
    """
    try:
        done = subprocess.run(
            command, input=document, stdout=_STDERR, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        problem = f"it did not end within {_SECONDS:g} s"
    except OSError as error:
        problem = problem_of(error)
    else:
        problem = f"it ended with exit code {done.returncode}" if done.returncode else ""
    if problem:
        say(f"{command[0]}, the command of `notify`, failed: {problem}.")
