"""Progress of a stream on screen: a view that updates on a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

import goodgain.transforms
from goodgain.pipeline.options.duration import duration_text
from goodgain.pipeline.streaming import live_counters
from goodgain.pipeline.streaming.live_counters import LiveCounters
from goodgain.transforms.core.streaming.journal import JournalError
from goodgain.transforms.core.wording import counted, fitting
from goodgain.transforms.sources.journal_file import read_journal

_TICK_SECONDS = 0.5
_LINE_EVERY_TICKS = 20  # without a terminal, a line every ten seconds
_MILLIS = 1_000  # of a second
_LEAST_PAUSE = 20  # shortest pause between reads of the journal, relative to the time of a read


@contextmanager
def shown(kept: Path, stream: TextIO) -> Iterator[None]:
    """Show the stream's progress and its source's warnings while the block runs.

    Args:
      kept: the folder of the journal.
    """
    done, complaints = threading.Event(), _Complaints()
    watch = _draw if stream.isatty() else _print_lines
    watcher = threading.Thread(target=watch, args=(done, stream, kept, complaints), daemon=True)
    source = logging.getLogger(goodgain.transforms.__name__)
    source.addHandler(complaints)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        source.removeHandler(complaints)


def line(now: LiveCounters, watermark: int | None, clock: int) -> str:
    """The stream's progress in one line; watermark of the source and clock in ms since 1970."""
    counts = (
        f"{counted(now.read, 'record')}, {now.open:,} open, {now.closed:,} closed, "
        f"{now.late:,} late, {now.rejected:,} rejected"
    )
    means = ", ".join(f"{name} {mean:.3f}" for name, mean in now.means.items())
    parts = (counts, _time_text(watermark, clock), f"means {means}" if means else "", _odd(now))
    return "; ".join(filter(None, parts))


def view(now: LiveCounters, watermark: int | None, clock: int) -> Group:
    """The stream's progress: counts, the watermark and running means."""
    counts = Table.grid(padding=(0, 3))
    counts.add_row(
        fitting(now.read, "record", "records"), "open", "closed", "late", "rejected", style="dim"
    )
    counts.add_row(
        *(f"{number:,}" for number in (now.read, now.open, now.closed, now.late, now.rejected))
    )
    parts: list[Table | Text] = [counts, Text(_time_text(watermark, clock))]
    if now.means:
        means = Table.grid(padding=(0, 3))
        means.add_row("running mean", *now.means, style="dim")
        means.add_row("", *(f"{mean:.3f}" for mean in now.means.values()))
        parts.append(means)
    if now.warnings:
        parts.append(Text(_odd(now), style="yellow"))
    return Group(*parts)


def _odd(now: LiveCounters) -> str:
    """The codes of the warnings about the data so far; "" without any."""
    codes = ", ".join(warning.code for warning in now.warnings)
    return f"warnings {codes}" if codes else ""


def _time_text(watermark: int | None, clock: int) -> str:
    if watermark is None:
        return "no watermark yet"
    try:
        moment = datetime.fromtimestamp(watermark / _MILLIS, UTC)
    except (ValueError, OverflowError, OSError):
        return f"watermark {watermark} ms"
    # Whole seconds are precise enough here.
    behind = max(0, clock - watermark) // _MILLIS * _MILLIS
    return f"watermark {moment:%Y-%m-%d %H:%M:%S}, {duration_text(behind)} behind the clock"


class _Gauge:
    """Reads the counts, and the watermark from the journal in a folder."""

    def __init__(self, kept: Path) -> None:
        self._kept = kept
        self._watermark: int | None = None
        self._read_again = time.monotonic()

    def read(self) -> tuple[LiveCounters, int | None, int]:
        begins = time.monotonic()
        if begins >= self._read_again:
            with suppress(JournalError, OSError):  # the stream itself reports these
                self._watermark = read_journal(str(self._kept)).watermark_state.watermark
            self._read_again = begins + _LEAST_PAUSE * (time.monotonic() - begins)
        return live_counters.now(), self._watermark, time.time_ns() // 1_000_000


class _Complaints(logging.Handler):
    """Collects warnings of the source, to print them between updates of the view."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._waiting: SimpleQueue[str] = SimpleQueue()

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.put(record.getMessage())

    def lines(self) -> Iterator[str]:
        """The warnings since the last call, as lines to print."""
        with suppress(Empty):
            while True:
                yield f"goodgain: {self._waiting.get_nowait()}"


def _draw(done: threading.Event, stream: TextIO, kept: Path, complaints: _Complaints) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    gauge = _Gauge(kept)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        is_over = False
        while not is_over:
            is_over = done.wait(_TICK_SECONDS)
            for complaint in complaints.lines():
                console.print(complaint, soft_wrap=True)
            live.update(view(*gauge.read()), refresh=True)


def _print_lines(
    done: threading.Event, stream: TextIO, kept: Path, complaints: _Complaints
) -> None:
    gauge, ticks, is_over = _Gauge(kept), 0, False
    while not is_over:
        is_over = done.wait(_TICK_SECONDS)
        for complaint in complaints.lines():
            print(complaint, file=stream, flush=True)
        ticks += 1
        if ticks % _LINE_EVERY_TICKS == 0:
            print(f"goodgain: {line(*gauge.read())}", file=stream, flush=True)
