"""What engines raise, as our errors with a cause in one line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC

from goodgain.transforms.core.errors import GoodGainError

_INTERRUPTED = re.compile(r"^KeyboardInterrupt\b", re.MULTILINE)  # as workers report it
_PLACE_IN_GRAPH = re.compile(r" \[while running '.*'\]$")  # added by Beam
_DISK_IS_FULL = re.compile(rf"\[Errno ({ENOSPC}|{EDQUOT})\]")


@contextmanager
def engine_failures(failed: str, advice: str = "") -> Iterator[None]:
    """Run a pipeline in the block, and raise our errors for those of its engine.

    Args:
      failed: begins the message, like "The run failed".
      advice: ends it.

    Raises:
      GoodGainError: the engine failed; a subclass if a worker raised one of ours.
      KeyboardInterrupt: a worker was interrupted.
    """
    try:
        yield
    except GoodGainError as error:
        raise type(error)(_PLACE_IN_GRAPH.sub("", str(error))) from error
    except Exception as error:  # engines raise all kinds of errors
        if _INTERRUPTED.search(str(error)):
            raise KeyboardInterrupt from error
        raise GoodGainError(f"{failed}: {_cause_of(error)}{advice}") from error


def _cause_of(error: BaseException) -> str:
    """One line: the first of an engine's message or, if that is a traceback, its last."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    line = lines[-1 if "Traceback (most recent call last)" in str(error) else 0]
    # An engine reports our own errors by class, message and place in the graph.
    ours = re.fullmatch(r"goodgain\.[\w.]+: (.*)", line)
    cause = _PLACE_IN_GRAPH.sub("", ours[1] if ours else line)
    if _DISK_IS_FULL.search(cause):
        return (
            f"a disk is full ({cause}); free space where the outputs are written, and where the "
            "engine keeps its files."
        )
    return cause
