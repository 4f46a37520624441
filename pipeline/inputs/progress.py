"""Shows the progress of a run, from what this process has counted so far.

Only for display: with workers in other processes the numbers stay at zero, and retries count twice.
The manifest's counts come from the pipeline itself.
"""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from goodgain.transforms.core.wording import format_count

_BYTES = "bytes.read"
_CONVERSATIONS = "conversations.total"
_SHOWN = {  # singular and plural
    "records.read": ("record", "records"),
    _CONVERSATIONS: ("conversation", "conversations"),
    "records.rejected": ("rejected", "rejected"),
}
_TICK_SECONDS = 0.5
_LINE_EVERY_TICKS = 20  # without a terminal, a line every ten seconds

_seen: dict[str, int] = dict.fromkeys((_BYTES, *_SHOWN), 0)


def advance(counts: Mapping[str, int]) -> None:
    """Add to the counts."""
    for name in _seen:
        if name in counts:
            _seen[name] += counts[name]


class _CountedFile(io.FileIO):
    def readinto(self, buffer: Any) -> int | None:
        read = super().readinto(buffer)
        advance({_BYTES: read or 0})
        return read


def open_counted(path: str) -> io.BufferedReader:
    """Open a local file for reading; what is read of it counts as progress."""
    return io.BufferedReader(_CountedFile(path))


@contextmanager
def show_progress(
    planned_bytes: int = 0, stream: TextIO | None = None, quiet: bool = False
) -> Iterator[None]:
    """Show progress while the block runs: a moving line on a terminal, plain lines elsewhere.

    Args:
      planned_bytes: bytes to read; 0 if unknown.
    """
    if quiet:
        yield
        return
    stream = stream or sys.stderr
    for name in _seen:
        _seen[name] = 0
    began = time.monotonic()
    done = threading.Event()
    watch = _draw if stream.isatty() else _print_lines

    def text() -> str:
        return progress_text(_seen, planned_bytes, time.monotonic() - began)

    watcher = threading.Thread(target=watch, args=(done, stream, text), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def progress_text(seen: Mapping[str, int], planned_bytes: int, seconds: float) -> str:
    """The progress of a run after some seconds, in one line."""
    counts = ", ".join(
        format_count(seen[name], *labels)
        for name, labels in _SHOWN.items()
        if seen[name] or name != _CONVERSATIONS  # a command that only reads counts none
    )
    read = min(seen[_BYTES], planned_bytes)
    if not read:
        return counts
    left = round(seconds * (planned_bytes - read) / read)
    wait = f", about {left // 60}:{left % 60:02} left to read" if left else ""
    return f"{100 * read / planned_bytes:.0f} % read{wait}; {counts}"


def _draw(done: threading.Event, stream: TextIO, text: Callable[[], str]) -> None:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(file=stream), transient=True) as bar:
        task = bar.add_task(text())
        while not done.wait(_TICK_SECONDS):
            bar.update(task, description=text())


def _print_lines(done: threading.Event, stream: TextIO, text: Callable[[], str]) -> None:
    ticks = 0
    while not done.wait(_TICK_SECONDS):
        ticks += 1
        # Nothing is counted here for workers in other processes.
        if ticks % _LINE_EVERY_TICKS == 0 and any(_seen.values()):
            print(f"goodgain: {text()}", file=stream, flush=True)
