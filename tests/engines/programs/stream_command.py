"""`goodgain stream` that ends with its input, or gets a signal at a chosen moment.

python -m tests.engines.programs.stream_command FEED [--signal SIGNAL MOMENT NUMBER] [options]

Files come from the folder FEED, one each time the watermark advances. The process gets the signal
(KILL or INT) at the NUMBER-th occurrence of the moment: `taken`, a line of the journal was written;
`compact`, the journal was compacted, which is tried here whenever the watermark advances;
`aside`, a file was written under a temporary name; `written`, one of rows was renamed; `noted`, the
progress was written.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from goodgain.pipeline.cli.commands import load_command, parse_arguments
from goodgain.pipeline.cli.config_options import given_options
from goodgain.pipeline.run.stream import sinks
from goodgain.pipeline.run.stream.run import stream
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.streaming.journal import Entry, Move
from goodgain.transforms.sources import folder_watch
from goodgain.transforms.sources.journal_file import JournalFile


def schedule_signal(name: str, moment: str, number: int) -> None:
    """Make this process send itself a signal at the `number`-th occurrence of the moment."""
    owner, function, after = {
        "taken": (JournalFile, "append", True),
        "compact": (JournalFile, "compact", True),
        "aside": (os, "replace", False),
        "written": (sinks, "write_pane", True),
        "noted": (sinks, "record_progress", True),
    }[moment]
    setattr(owner, function, _with_signal(getattr(owner, function), name, number, after))


def _with_signal(
    function: Callable[..., Any], name: str, number: int, after: bool
) -> Callable[..., Any]:
    calls = count(1)

    def call(*arguments: Any) -> Any:
        is_due = next(calls) == number
        if is_due and not after:
            os.kill(os.getpid(), signal.Signals[f"SIG{name}"])
        result = function(*arguments)
        if is_due and after:
            os.kill(os.getpid(), signal.Signals[f"SIG{name}"])
        return result

    return call


def feed(waiting: Path, incoming: Path) -> None:
    """Move one of the remaining files now and each time the watermark advances."""

    def next_file() -> None:
        for path in sorted(waiting.iterdir())[:1]:
            path.rename(incoming / path.name)

    append = JournalFile.append

    def appended(journal: JournalFile, entry: Entry) -> None:
        append(journal, entry)
        if isinstance(entry, Move):
            next_file()

    JournalFile.append = appended
    next_file()


def compact_always() -> None:
    """Have the journal compacted without waiting until it has doubled."""
    compact = folder_watch.FolderWatch._compact

    def compact_again(watch: folder_watch.FolderWatch) -> None:
        compact(watch)
        watch._compact_above = 0

    folder_watch._LEAST_COMPACTED = 0
    folder_watch.FolderWatch._compact = compact_again


def main(words: list[str]) -> int:
    """Stream; return the exit code."""
    waiting, *words = words
    if words[0] == "--signal":
        schedule_signal(words[1], words[2], int(words[3]))
        words = words[4:]
    args = parse_arguments(load_command("stream"), words)
    config = load_config(StreamConfig, given_options(args, StreamConfig), args.config)
    compact_always()
    feed(Path(waiting), Path(config.input))
    return stream(config, args.beam_arguments, ends_when_silent=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except GoodGainError as error:
        sys.exit(f"goodgain: {error}")
