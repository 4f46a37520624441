"""Writes the datasets of a stream as small files, one per window, shard and pane; records progress.

Rows wait in state until a processing-time timer writes them. There are no windows or triggers, so
no engine can drop rows as late. The timer holds the output watermark at the first waiting row, so
all rows before that watermark have been written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import apache_beam as beam
import msgspec
import xxhash
from apache_beam.coders import VarIntCoder
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import Timestamp
from msgspec import Struct

from goodgain.pipeline.results.datasets import Dataset
from goodgain.pipeline.results.folder import UNFINISHED, reason_of
from goodgain.pipeline.results.formats import FORMATS, Format, Row
from goodgain.pipeline.results.sinks import DatasetRows
from goodgain.pipeline.results.whole_files import replacing
from goodgain.pipeline.run.stream import live_counters
from goodgain.pipeline.run.stream.checkpoint import record_progress
from goodgain.pipeline.run.stream.panes import Pane, dated_window
from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.filesystems import join, make_folder
from goodgain.transforms.stream_end import StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of

_MOST_BYTES = 32 * 2**20  # a shard with more waiting rows is written before its timer
_MILLIS = 1_000  # of a second
_ALL = "all"  # the key of all progress


class StreamTarget(Struct, frozen=True):
    """Where and how to write.

    Attributes:
      start: number of this start, from 1.
      window: length in ms of the windows of event time that share files.
      flush: longest time in ms that a row waits before it is written.
    """

    folder: str
    format: Format
    shards: int
    start: int
    window: int
    flush: int


class WrittenPane(Struct, frozen=True):
    """A file written under its final name.

    Attributes:
      path: relative to the output folder.
      latest: greatest timestamp among the elements written, in milliseconds.
    """

    dataset: str
    path: str
    rows: int
    latest: int


@dataclass(eq=False, repr=False)
class WritePanes(beam.PTransform):
    """`PCollection[T]` to `PCollection[WrittenPane]`: writes each T's rows to one or more datasets.

    A file is written under a temporary name, then renamed. The last dataset is renamed last: its
    file shows that those of the other datasets are complete.

    Attributes (the others as in `WriteRows`):
      now: the engine's clock.
    """

    target: StreamTarget
    datasets: Sequence[DatasetRows]
    element_type: type[Struct]
    key_of: Callable[[Any], str]
    now: Callable[[], Timestamp] = Timestamp.now

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[WrittenPane]:
        """Apply the transform."""
        written = (
            elements
            | "ToShard"
            >> beam.ParDo(_ToShard(self.target, self.key_of)).with_output_types(tuple[str, Waiting])
            | "WritePane"
            >> beam.ParDo(_WritePane(self.target, self.datasets, self.element_type, self.now))
        )
        written.element_type = WrittenPane
        return written


class Waiting(Struct, frozen=True, array_like=True, order=True):
    """A waiting element; sorted by window, then key, then content."""

    undated: bool
    window: int
    key: str
    element: bytes
    timestamp: int


@dataclass(eq=False, repr=False)
class _ToShard(beam.DoFn):
    target: StreamTarget
    key_of: Callable[[Any], str]

    def process(
        self, element: Any, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[tuple[str, Waiting]]:
        key = self.key_of(element)
        millis = millis_of(timestamp)
        window = dated_window(millis, self.target.window)
        waiting = Waiting(window is None, window or 0, key, _encoder.encode(element), millis)
        shard = xxhash.xxh3_64_intdigest(key.encode()) % self.target.shards
        yield str(shard), waiting


class _Progress(Struct, frozen=True, array_like=True):
    """The number of panes that a shard has written, and the bytes of its waiting elements."""

    pane: int = 0
    size: int = 0


@dataclass(eq=False, repr=False)
class _WritePane(beam.DoFn):
    WAITING = BagStateSpec("waiting", StructCoder(Waiting))
    PROGRESS = ReadModifyWriteStateSpec("progress", StructCoder(_Progress))
    FLUSH = TimerSpec("flush", TimeDomain.REAL_TIME)
    # At the end of the stream, rows are written without waiting for the clock.
    END = TimerSpec("end", TimeDomain.WATERMARK)

    target: StreamTarget
    datasets: Sequence[DatasetRows]
    element_type: type[Struct]
    now: Callable[[], Timestamp]

    def setup(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(self.element_type)

    def process(
        self,
        keyed: tuple[str, Waiting],
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
        flush: Any = beam.DoFn.TimerParam(FLUSH),
        end: Any = beam.DoFn.TimerParam(END),
    ) -> Iterator[WrittenPane]:
        shard, element = keyed
        so_far = progress.read() or _Progress()
        if not so_far.size:
            flush.set(self.now() + self.target.flush / _MILLIS)
            end.set(GlobalWindow().max_timestamp())
        waiting.add(element)
        so_far = _Progress(so_far.pane, so_far.size + len(element.element))
        progress.write(so_far)
        if so_far.size > _MOST_BYTES:
            yield from self._write_all(shard, waiting, progress)

    @on_timer(FLUSH)
    def on_flush(
        self,
        shard: str = beam.DoFn.KeyParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
    ) -> Iterator[WrittenPane]:
        yield from self._write_all(shard, waiting, progress)

    @on_timer(END)
    def on_end(
        self,
        shard: str = beam.DoFn.KeyParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
        flush: Any = beam.DoFn.TimerParam(FLUSH),
    ) -> Iterator[WrittenPane]:
        flush.clear()
        yield from self._write_all(shard, waiting, progress)

    def _write_all(self, shard: str, waiting: Any, progress: Any) -> Iterator[WrittenPane]:
        elements = sorted(waiting.read())
        if not elements:
            return
        so_far = progress.read() or _Progress()
        for (undated, window), group in groupby(elements, lambda one: (one.undated, one.window)):
            pane = Pane(
                None if undated else window,
                int(shard),
                self.target.shards,
                self.target.start,
                so_far.pane,
            )
            yield from self._write_pane(pane, list(group))
        waiting.clear()
        progress.write(_Progress(so_far.pane + 1, 0))

    def _write_pane(self, pane: Pane, elements: Sequence[Waiting]) -> Iterator[WrittenPane]:
        latest = max(one.timestamp for one in elements)
        decoded = [self._decoder.decode(one.element) for one in elements]
        try:
            for dataset in self.datasets:
                rows = [row for element in decoded for row in dataset.rows_of(element)]
                if rows:
                    path = write_pane(self.target, pane, dataset.dataset, rows)
                    live_counters.written(dataset.dataset.name, rows)
                    yield WrittenPane(dataset.dataset.name, path, len(rows), latest)
        except OSError as error:
            raise GoodGainError(
                f"The output folder {self.target.folder} cannot be written to ({reason_of(error)})."
            ) from error


def write_pane(target: StreamTarget, pane: Pane, dataset: Dataset, rows: Sequence[Row]) -> str:
    """Write rows as one file, under a temporary name until it is complete.

    Returns:
      Its path relative to the output folder.

    Raises:
      OSError: it cannot be written.
    """
    file_format = FORMATS[target.format]
    file_name = pane.file_name(file_format.suffix)
    temporary_folder = join(target.folder, UNFINISHED, dataset.name)
    folder = join(target.folder, dataset.name)
    make_folder(temporary_folder)
    make_folder(folder)
    temporary = join(temporary_folder, file_name)
    with replacing(join(folder, file_name), temporary) as file:
        file_format.write(dataset, rows, file)
    return f"{dataset.name}/{file_name}"


@dataclass(eq=False, repr=False)
class NoteProgress(beam.PTransform):
    """`PCollection[WrittenPane]` of all sinks to nothing: records their progress.

    A sink holds its output watermark at the first row that is still waiting. So when the watermark
    of this transform reaches a time, all rows before that time are in files.

    Attributes:
      folder: where to record progress; None if the engine restores streams.
      end: when the stream stops, and which timers still fire then.
    """

    folder: Path | None
    end: StreamEnd

    def expand(self, written: beam.PCollection[WrittenPane]) -> beam.PCollection[Any]:
        """Apply the transform."""
        return (
            written
            | "Together" >> beam.Map(_together).with_output_types(tuple[str, int])
            | "Note" >> beam.ParDo(_Note(self.folder, self.end))
        )


def _together(pane: WrittenPane) -> tuple[str, int]:
    return _ALL, pane.latest


@dataclass(eq=False, repr=False)
class _Note(beam.DoFn):
    # The latest recorded time, and the time for which the timer is set.
    LATEST = ReadModifyWriteStateSpec("latest", VarIntCoder())
    PENDING = ReadModifyWriteStateSpec("pending", VarIntCoder())
    SAFE = TimerSpec("safe", TimeDomain.WATERMARK)

    folder: Path | None
    end: StreamEnd

    def process(
        self,
        keyed: tuple[str, int],
        latest: Any = beam.DoFn.StateParam(LATEST),
        pending: Any = beam.DoFn.StateParam(PENDING),
        safe: Any = beam.DoFn.TimerParam(SAFE),
    ) -> None:
        known = latest.read()
        latest.write(keyed[1] if known is None else max(known, keyed[1]))
        if pending.read() is None:
            pending.write(keyed[1])
            safe.set(timestamp_of(keyed[1]))

    @on_timer(SAFE)
    def is_safe(
        self,
        latest: Any = beam.DoFn.StateParam(LATEST),
        pending: Any = beam.DoFn.StateParam(PENDING),
        safe: Any = beam.DoFn.TimerParam(SAFE),
    ) -> None:
        now, last = pending.read(), latest.read()
        if self.folder is not None and self.end.is_due(now):
            record_progress(self.folder, now)
        if last > now:
            pending.write(last)
            safe.set(timestamp_of(last))
        else:
            pending.clear()


_encoder = msgspec.msgpack.Encoder(order="sorted")
beam.coders.registry.register_coder(Waiting, StructCoder)
