"""Progress of a stream on screen: a view that updates on a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

import goodgain.transforms
from goodgain.pipeline.document.numbers import value_text
from goodgain.pipeline.run.stream import live_counters
from goodgain.pipeline.run.stream.live_counters import LiveCounters
from goodgain.pipeline.settings.option_types import duration_text
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.streaming.journal import JournalError
from goodgain.transforms.core.wording import counted, pluralize
from goodgain.transforms.sources.journal_file import read_journal

_TICK_SECONDS = 0.5
_LINE_EVERY_TICKS = 20  # without a terminal, a line every ten seconds
_MILLIS = 1_000  # of a second
_LEAST_PAUSE = 20  # shortest pause between reads of the journal, relative to the time of a read


@contextmanager
def shown(state_folder: Path, stream: TextIO, quiet: bool = False) -> Iterator[None]:
    """Show the stream's progress and its source's warnings while the block runs.

    Args:
      quiet: show only the warnings.
    """
    done, warnings = threading.Event(), _WarningQueue()
    watch = _draw if stream.isatty() and not quiet else partial(_print_lines, quiet)
    watcher = threading.Thread(
        target=watch, args=(done, stream, state_folder, warnings), daemon=True
    )
    source = logging.getLogger(goodgain.transforms.__name__)
    source.addHandler(warnings)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        source.removeHandler(warnings)


def line(counters: LiveCounters, watermark: int | None, clock: int) -> str:
    """The stream's progress in one line; watermark of the source and clock in ms since 1970."""
    counts = (
        f"{counted(counters.read, 'record')}, {counters.open:,} open, {counters.closed:,} closed, "
        f"{counters.late:,} late, {counters.rejected:,} rejected"
    )
    means = ", ".join(
        f"{metric_by_name(name).label} {value_text(name, mean)}"
        for name, mean in counters.means.items()
    )
    parts = (
        counts,
        _time_text(watermark, clock),
        f"means {means}" if means else "",
        _warning_codes(counters),
    )
    return "; ".join(filter(None, parts))


def view(counters: LiveCounters, watermark: int | None, clock: int) -> Group:
    """The stream's progress: counts, the watermark and running means."""
    numbers = {
        pluralize(counters.read, "record", "records"): counters.read,
        "open": counters.open,
        "closed": counters.closed,
        "late": counters.late,
        "rejected": counters.rejected,
    }
    counts = Table.grid(padding=(0, 3))
    counts.add_row(*numbers, style="dim")
    counts.add_row(*(f"{number:,}" for number in numbers.values()))
    parts: list[Table | Text] = [counts, Text(_time_text(watermark, clock))]
    if counters.means:
        means = Table.grid(padding=(0, 3))
        labels = (metric_by_name(name).label for name in counters.means)
        means.add_row("running mean", *labels, style="dim")
        means.add_row("", *(value_text(name, mean) for name, mean in counters.means.items()))
        parts.append(means)
    if counters.warnings:
        parts.append(Text(_warning_codes(counters), style="yellow"))
    return Group(*parts)


def _warning_codes(counters: LiveCounters) -> str:
    """The codes of the warnings about the data so far; "" without any."""
    codes = ", ".join(warning.code for warning in counters.warnings)
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


class _ProgressReader:
    """Reads the counts, and the watermark from the journal in a folder."""

    def __init__(self, state_folder: Path) -> None:
        self._state_folder = state_folder
        self._watermark: int | None = None
        self._next_read = time.monotonic()

    def read(self) -> tuple[LiveCounters, int | None, int]:
        started = time.monotonic()
        if started >= self._next_read:
            with suppress(JournalError, OSError):  # the stream itself reports these
                self._watermark = read_journal(str(self._state_folder)).watermark_state.watermark
            self._next_read = started + _LEAST_PAUSE * (time.monotonic() - started)
        return live_counters.now(), self._watermark, time.time_ns() // 1_000_000


class _WarningQueue(logging.Handler):
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


def _draw(
    done: threading.Event, stream: TextIO, state_folder: Path, warnings: _WarningQueue
) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    reader = _ProgressReader(state_folder)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        is_over = False
        while not is_over:
            is_over = done.wait(_TICK_SECONDS)
            for warning in warnings.lines():
                console.print(warning, soft_wrap=True)
            live.update(view(*reader.read()), refresh=True)


def _print_lines(
    quiet: bool,
    done: threading.Event,
    stream: TextIO,
    state_folder: Path,
    warnings: _WarningQueue,
) -> None:
    reader, ticks, is_over = _ProgressReader(state_folder), 0, False
    while not is_over:
        is_over = done.wait(_TICK_SECONDS)
        for warning in warnings.lines():
            print(warning, file=stream, flush=True)
        ticks += 1
        if ticks % _LINE_EVERY_TICKS == 0 and not quiet:
            print(f"goodgain: {line(*reader.read())}", file=stream, flush=True)
