"""Writes the datasets of a stream as small files, one per window, shard and pane.

Rows wait in state until a processing-time timer writes them. There are no windows or triggers, so
no engine can drop rows as late.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import apache_beam as beam
import msgspec
import xxhash
from apache_beam.coders import StrUtf8Coder
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

from goodgain.pipeline.results.folder import reason_of
from goodgain.pipeline.results.rows import SortedRows
from goodgain.pipeline.run.stream.pane_files import StreamTarget, draw_attempt, write_pane
from goodgain.pipeline.run.stream.panes import Pane, find_dated_window
from goodgain.pipeline.run.stream.publication import Publish, next_move
from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.times import millis_of

_MOST_BYTES = 32 * 2**20  # a shard with more waiting rows is written before its timer
_MILLIS = 1_000  # of a second


@dataclass(eq=False, repr=False)
class WritePanes(beam.PTransform):
    """`PCollection[T]` to `PCollection[str]`: writes each T's rows to one or more datasets.

    Returns the paths of files, relative to the output folder, until they are published. Elements
    with equal keys are written by one worker, in any order.

    Attributes:
      time_of: the time in ms whose window an element belongs to; None = its timestamp.
      now: the engine's clock.
      attempt: returns new digits for the name of a file.
    """

    target: StreamTarget
    rows: SortedRows
    time_of: Callable[[Any], int] | None = None
    now: Callable[[], Timestamp] = Timestamp.now
    attempt: Callable[[], str] = draw_attempt

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[str]:
        """Apply the transform."""
        written: beam.PCollection[str] = (
            elements
            | "ToShard"
            >> beam.ParDo(_ToShard(self.target, self.rows.key_of, self.time_of)).with_output_types(
                tuple[str, Waiting]
            )
            | "WritePane"
            >> beam.ParDo(
                _WritePane(self.target, self.rows, self.now, self.attempt)
            ).with_output_types(str)
        )
        if not self.target.at_once:
            _ = written | "Publish" >> beam.ParDo(Publish(self.target.folder))
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
    time_of: Callable[[Any], int] | None

    def process(
        self, element: Any, timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[tuple[str, Waiting]]:
        key = self.key_of(element)
        millis = millis_of(timestamp) if self.time_of is None else self.time_of(element)
        window = find_dated_window(millis, self.target.window)
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
    UNPUBLISHED = BagStateSpec("unpublished", StrUtf8Coder())
    FLUSH = TimerSpec("flush", TimeDomain.REAL_TIME)
    # At the end of the stream, rows are written without waiting for the clock.
    END = TimerSpec("end", TimeDomain.WATERMARK)

    target: StreamTarget
    rows: SortedRows
    now: Callable[[], Timestamp]
    attempt: Callable[[], str]

    def setup(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(self.rows.element_type)

    def process(
        self,
        keyed: tuple[str, Waiting],
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
        unpublished: Any = beam.DoFn.StateParam(UNPUBLISHED),
        flush: Any = beam.DoFn.TimerParam(FLUSH),
        end: Any = beam.DoFn.TimerParam(END),
    ) -> Iterator[str]:
        shard, element = keyed
        so_far = progress.read() or _Progress()
        if not so_far.size:
            flush.set(self._next_flush())
            end.set(GlobalWindow().max_timestamp())
        waiting.add(element)
        so_far = _Progress(so_far.pane, so_far.size + len(element.element))
        progress.write(so_far)
        if so_far.size > _MOST_BYTES:
            yield from self._write_all(shard, waiting, progress, unpublished)

    @on_timer(FLUSH)
    def on_flush(
        self,
        shard: str = beam.DoFn.KeyParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
        unpublished: Any = beam.DoFn.StateParam(UNPUBLISHED),
        flush: Any = beam.DoFn.TimerParam(FLUSH),
    ) -> Iterator[str]:
        yield from self._publish(unpublished, flush)
        yield from self._write_all(shard, waiting, progress, unpublished, flush)

    @on_timer(END)
    def on_end(
        self,
        shard: str = beam.DoFn.KeyParam,
        waiting: Any = beam.DoFn.StateParam(WAITING),
        progress: Any = beam.DoFn.StateParam(PROGRESS),
        unpublished: Any = beam.DoFn.StateParam(UNPUBLISHED),
        flush: Any = beam.DoFn.TimerParam(FLUSH),
    ) -> Iterator[str]:
        if self.target.at_once:
            flush.clear()
        yield from self._write_all(shard, waiting, progress, unpublished, flush)

    def _next_flush(self) -> Timestamp:
        return self.now() + self.target.flush / _MILLIS

    def _publish(self, unpublished: Any, flush: Any) -> Iterator[str]:
        """Return the paths of files that are not published yet, and forget the others."""
        if self.target.at_once:
            return
        paths = list(unpublished.read())
        left = [path for path in paths if next_move(self.target.folder, path) is not None]
        if len(left) < len(paths):
            unpublished.clear()
            for path in left:
                unpublished.add(path)
        if left:
            flush.set(self._next_flush())
        yield from left

    def _write_all(
        self, shard: str, waiting: Any, progress: Any, unpublished: Any, flush: Any = None
    ) -> Iterator[str]:
        elements = sorted(waiting.read())
        if not elements:
            return
        so_far = progress.read() or _Progress()
        for (undated, window), group in groupby(
            elements, lambda element: (element.undated, element.window)
        ):
            pane = Pane(
                None if undated else window,
                int(shard),
                self.target.shards,
                so_far.pane,
                self.attempt(),
            )
            for path in self._write_pane(pane, list(group)):
                if not self.target.at_once:
                    unpublished.add(path)
                yield path
        waiting.clear()
        progress.write(_Progress(so_far.pane + 1, 0))
        if flush is not None and not self.target.at_once:
            flush.set(self._next_flush())

    def _write_pane(self, pane: Pane, elements: Sequence[Waiting]) -> Iterator[str]:
        decoded = [self._decoder.decode(element.element) for element in elements]
        try:
            for dataset in self.rows.datasets:
                rows = [row for element in decoded for row in dataset.rows_of(element)]
                if rows:
                    path = write_pane(self.target, pane, dataset.dataset, rows)
                    if self.target.counter is not None:
                        self.target.counter.count_written(dataset.dataset.name, rows)
                    yield path
        except OSError as error:
            raise GoodGainError(
                f"The output folder {self.target.folder} cannot be written to ({reason_of(error)})."
            ) from error


_encoder = msgspec.msgpack.Encoder(order="sorted")
beam.coders.registry.register_coder(Waiting, StructCoder)
