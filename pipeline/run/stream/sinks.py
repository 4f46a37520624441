"""Writes the datasets of a stream as small files, one per window, shard and pane.

Rows wait in state until a processing-time timer writes them. There are no windows or triggers, so
no engine can drop rows as late.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import apache_beam as beam
import msgspec
import xxhash
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
from goodgain.pipeline.run.stream.counter import StreamCounter
from goodgain.pipeline.run.stream.panes import Pane, dated_window
from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.filesystems import join, make_folder
from goodgain.transforms.times import millis_of

_MOST_BYTES = 32 * 2**20  # a shard with more waiting rows is written before its timer
_MILLIS = 1_000  # of a second
_ATTEMPT_BYTES = 4


class StreamTarget(Struct, frozen=True):
    """Where and how to write.

    Attributes:
      window: length in ms of the windows of event time that share files.
      flush: longest time in ms that a row waits before it is written.
      counter: counts the rows in files; None if the workers are other processes.
    """

    folder: str
    format: Format
    shards: int
    window: int
    flush: int
    counter: StreamCounter | None = None


class WrittenPane(Struct, frozen=True):
    """A file written under its final name.

    Attributes:
      path: relative to the output folder.
    """

    dataset: str
    path: str
    rows: int


def _random_attempt() -> str:
    return secrets.token_hex(_ATTEMPT_BYTES)


@dataclass(eq=False, repr=False)
class WritePanes(beam.PTransform):
    """`PCollection[T]` to `PCollection[WrittenPane]`: writes each T's rows to one or more datasets.

    A file is written under a temporary name, then renamed.

    Attributes (the others as in `WriteRows`):
      key_of: the key to partition and sort by. Elements with equal keys are written by one worker,
        in any order.
      now: the engine's clock.
      attempt: returns new digits for the name of a file.
    """

    target: StreamTarget
    datasets: Sequence[DatasetRows]
    element_type: type[Struct]
    key_of: Callable[[Any], str]
    now: Callable[[], Timestamp] = Timestamp.now
    attempt: Callable[[], str] = _random_attempt

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[WrittenPane]:
        """Apply the transform."""
        written = (
            elements
            | "ToShard"
            >> beam.ParDo(_ToShard(self.target, self.key_of)).with_output_types(tuple[str, Waiting])
            | "WritePane"
            >> beam.ParDo(
                _WritePane(self.target, self.datasets, self.element_type, self.now, self.attempt)
            )
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
    attempt: Callable[[], str]

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
                so_far.pane,
                self.attempt(),
            )
            yield from self._write_pane(pane, list(group))
        waiting.clear()
        progress.write(_Progress(so_far.pane + 1, 0))

    def _write_pane(self, pane: Pane, elements: Sequence[Waiting]) -> Iterator[WrittenPane]:
        decoded = [self._decoder.decode(one.element) for one in elements]
        try:
            for dataset in self.datasets:
                rows = [row for element in decoded for row in dataset.rows_of(element)]
                if rows:
                    path = write_pane(self.target, pane, dataset.dataset, rows)
                    if self.target.counter is not None:
                        self.target.counter.count_written(dataset.dataset.name, rows)
                    yield WrittenPane(dataset.dataset.name, path, len(rows))
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


_encoder = msgspec.msgpack.Encoder(order="sorted")
beam.coders.registry.register_coder(Waiting, StructCoder)
