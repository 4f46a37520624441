"""`goodgain stream` that ends with its input, or gets a signal at a chosen moment.

python -m tests.engines.programs.stream_command FEED [--signal SIGNAL MOMENT NUMBER] [options]

Files come from the folder FEED, one each time the watermark advances. The process gets the signal
(KILL or INT) at the NUMBER-th occurrence of the moment: `read`, a shard was read; `aside`, a file
was written under a temporary name; `written`, one of rows was renamed.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from goodgain.pipeline.cli.commands import load_command, parse_arguments
from goodgain.pipeline.cli.config_options import collect_given_options
from goodgain.pipeline.run.stream import sinks
from goodgain.pipeline.run.stream.run import stream
from goodgain.pipeline.settings.config_file import load_config
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.views.stream import print_summary
from goodgain.pipeline.views.stream_progress import show_progress
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.sources import watch
from goodgain.transforms.sources.folder_watch import FolderWatch


def schedule_signal(name: str, moment: str, number: int) -> None:
    """Make this process send itself a signal at the `number`-th occurrence of the moment."""
    owner, function, after = {
        "read": (FolderWatch, "after", True),
        "aside": (os, "replace", False),
        "written": (sinks, "write_pane", True),
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

    move = watch._move

    def note_move(watermark: Any, moved_to: int | None) -> None:
        move(watermark, moved_to)
        next_file()

    watch._move = note_move
    next_file()


def main(words: list[str]) -> int:
    """Stream; return the exit code."""
    waiting, *words = words
    if words[0] == "--signal":
        schedule_signal(words[1], words[2], int(words[3]))
        words = words[4:]
    args = parse_arguments(load_command("stream"), words)
    config = load_config(StreamConfig, collect_given_options(args, StreamConfig), args.config)
    feed(Path(waiting), Path(config.input))
    return stream(
        config,
        args.beam_arguments,
        ends_when_silent=True,
        show=print_summary,
        watch=show_progress,
    )


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except GoodGainError as error:
        sys.exit(f"goodgain: {error}")
