"""Progress of a stream on screen: a view that updates on a terminal, lines elsewhere."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import TextIO

from rich.console import Console
from rich.live import Live

import goodgain.transforms
from goodgain.pipeline.document.model import Document, Sentence, count, document, table, value
from goodgain.pipeline.document.numbers import value_text
from goodgain.pipeline.document.terminal import renderable
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.settings.option_types import duration_text
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.wording import format_count, pluralize

_TICK_SECONDS = 0.5
_LINE_EVERY_TICKS = 20  # without a terminal, a line every ten seconds
_MILLIS = 1_000  # of a second


@contextmanager
def show_progress(
    counter: StreamCounter, stream: TextIO | None = None, quiet: bool = False
) -> Iterator[None]:
    """Show the stream's progress and its source's warnings while the block runs.

    Args:
      stream: where to; stderr by default.
      quiet: show only the warnings.
    """
    stream = stream or sys.stderr
    done, warnings = threading.Event(), _WarningQueue()
    watch = _draw if stream.isatty() and not quiet else partial(_print_lines, quiet)
    watcher = threading.Thread(target=watch, args=(done, stream, counter, warnings), daemon=True)
    source = logging.getLogger(goodgain.transforms.__name__)
    source.addHandler(warnings)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        source.removeHandler(warnings)


def line(counts: StreamCounts, clock: int) -> str:
    """The stream's progress in one line; clock in ms since 1970."""
    records = (
        f"{format_count(counts.read, 'record')}, {counts.open:,} open, {counts.closed:,} closed, "
        f"{counts.late:,} late, {counts.rejected:,} rejected"
    )
    means = ", ".join(
        f"{metric_by_name(name).label} {value_text(name, mean)}"
        for name, mean in counts.means.items()
    )
    parts = (
        records,
        _time_text(counts.watermark, clock),
        f"means {means}" if means else "",
        _warning_codes(counts),
    )
    return "; ".join(filter(None, parts))


def view(counts: StreamCounts, clock: int) -> Document:
    """The stream's progress: counts, the watermark and running means."""
    numbers = {
        pluralize(counts.read, "record", "records"): counts.read,
        "open": counts.open,
        "closed": counts.closed,
        "late": counts.late,
        "rejected": counts.rejected,
    }
    means = table(
        ("running mean", *(metric_by_name(name).label for name in counts.means)),
        [("", *(value(name, mean) for name, mean in counts.means.items()))],
    )
    codes = _warning_codes(counts)
    return document(
        table(tuple(numbers), [tuple(map(count, numbers.values()))]),
        Sentence(_time_text(counts.watermark, clock)),
        means if counts.means else None,
        Sentence(codes, "warning") if codes else None,
    )


def _warning_codes(counts: StreamCounts) -> str:
    """The codes of the warnings about the data so far; "" without any."""
    codes = ", ".join(warning.code for warning in counts.warnings)
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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


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
    done: threading.Event, stream: TextIO, counter: StreamCounter, warnings: _WarningQueue
) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        is_over = False
        while not is_over:
            is_over = done.wait(_TICK_SECONDS)
            for warning in warnings.lines():
                console.print(warning, soft_wrap=True)
            live.update(renderable(view(counter.now(), _now_ms())), refresh=True)


def _print_lines(
    quiet: bool,
    done: threading.Event,
    stream: TextIO,
    counter: StreamCounter,
    warnings: _WarningQueue,
) -> None:
    ticks, is_over = 0, False
    while not is_over:
        is_over = done.wait(_TICK_SECONDS)
        for warning in warnings.lines():
            print(warning, file=stream, flush=True)
        ticks += 1
        if ticks % _LINE_EVERY_TICKS == 0 and not quiet:
            print(f"goodgain: {line(counter.now(), _now_ms())}", file=stream, flush=True)
