"""The output of every source of a stream: payloads of records at their times (SPEC 2, 3, 7)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.window import GlobalWindow
from apache_beam.utils.timestamp import MIN_TIMESTAMP
from apache_beam.utils.windowed_value import WindowedValue
from msgspec import Struct

from goodgain.transforms.coders import StructCoder, apply_to_outputs
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.files.record_packer import (
    PackedBlock,
    RecordOrPacked,
    RecordPacker,
)
from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import EARLIEST_MILLIS, LATEST_MILLIS, SearchCall
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packers import packer_for
from goodgain.transforms.core.scoring.packing import Packed, Packing
from goodgain.transforms.fingerprint import Keyed, add_timestamps
from goodgain.transforms.read import REJECTED
from goodgain.transforms.times import millis_of, timestamp_of

_LOGGER = logging.getLogger(__name__)
READ = "read"
_MOST_WAITING = 1_000
_MICROS = 1_000  # of a millisecond


class ReadRecords(Struct, frozen=True):
    """What a source did in one step.

    Attributes:
      records: number of records read, including rejected ones.
      conversation_ids: ids of the usable ones, with repetitions.
      changed: number of files found to have changed after they were taken.
      watermark: where the watermark moved, in ms; None if it did not.
      ahead: number of records that turned out to be too far ahead to move it.
    """

    records: int = 0
    conversation_ids: list[str] = []
    changed: int = 0
    watermark: int | None = None
    ahead: int = 0


beam.coders.registry.register_coder(ReadRecords, StructCoder)


class StreamedTraces(NamedTuple):
    """The outputs of a stream.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), for
        `ScoreStreamedPayloads`, at the time of the earliest record in it; rejected records flag
        their conversations in them.
      rejected: PCollection[RejectedRecord], records that cannot be used, at the times from
        `stamp_records`.
      read: PCollection[ReadRecords], counts of what was read.
    """

    payloads: beam.PCollection[Keyed]
    rejected: beam.PCollection[RejectedRecord]
    read: beam.PCollection[ReadRecords]


def split_outputs(pcollection: beam.PCollection[Any], read: beam.DoFn) -> StreamedTraces:
    """The `StreamedTraces` from a DoFn that emits the outputs of a `StreamPacker`."""
    return apply_to_outputs(pcollection, "ReadRecords", read, StreamedTraces)


@cache  # one line for each process of a worker, however many steps it sets up
def _log_reading() -> None:
    _LOGGER.info("goodgain reading: %s", active_path())


class StreamPacker:
    """Packs the records of a stream on reading, those of a conversation into one payload.

    Not thread-safe.
    """

    def __init__(self, packing: Packing) -> None:
        _log_reading()
        self._packer = packer_for(packing)
        self._records = 0
        self._ids: list[str] = []

    def record_packer(self, earliest: int | None, latest: int | None) -> RecordPacker | None:
        """Packs records into this from bytes until the next call, timed as by `stamp_records`.

        None if there is no native code.
        """
        if not isinstance(self._packer, NativePacker):
            return None
        self._packer.clip = (
            EARLIEST_MILLIS if earliest is None else earliest,
            LATEST_MILLIS if latest is None else latest,
        )
        return self._packer

    def add(self, records: Iterable[tuple[RecordOrPacked, int]]) -> Iterator[Any]:
        """Add records, each with its time in milliseconds; returns the oldest payloads if full."""
        for record, at in records:
            if isinstance(record, PackedBlock):
                yield from self._emit(record.packed)
                continue
            if isinstance(record, RejectedRecord):
                self._records += record.records
                row = WindowedValue(record, timestamp_of(at), (GlobalWindow(),))
                yield TaggedOutput(REJECTED, row)
            yield from self._emit(self._packer.add(record, at * _MICROS))

    def rest(self) -> Iterator[Any]:
        """The buffered payloads, and the counts since the last call."""
        latest = MIN_TIMESTAMP
        for packed in self._emit(self._packer.rest()):
            latest = max(latest, packed.timestamp)
            yield packed
        yield TaggedOutput(
            READ,
            WindowedValue(ReadRecords(self._records, self._ids), latest, (GlobalWindow(),)),
        )
        self._records, self._ids = 0, []

    def _emit(self, packed: Iterable[Packed]) -> Iterator[WindowedValue]:
        return add_timestamps(map(self._note, packed))

    def _note(self, packed: Packed) -> Packed:
        self._records += packed.calls
        if packed.calls:
            self._ids.append(packed.conversation_id)
        return packed


def stamp_records(
    records: Iterable[RecordOrPacked], earliest: int | None, latest: int | None
) -> Iterator[tuple[RecordOrPacked, int]]:
    """Records of one batch, each with its timestamp; all times in milliseconds.

    A call has its own timestamp, clipped to `earliest` and `latest`, so that a clock that is wrong
    by years neither ages its conversation nor keeps it open. A rejected record has the timestamp of
    the preceding call, else of the first call; without calls, `earliest`, else `latest`, else
    Beam's smallest timestamp. A block has that of its first call.

    Args:
      earliest: the watermark of the source; None if there is none yet.
      latest: time of arrival; None if unknown.
    """
    unknown = next((end for end in (earliest, latest) if end is not None), _LEAST)
    waiting: list[RejectedRecord] = []
    at: int | None = None
    for record in records:
        if not isinstance(record, RejectedRecord):
            first, last = _first_and_last(record)
            time, at = _clip(first, earliest, latest), _clip(last, earliest, latest)
        elif at is None and len(waiting) < _MOST_WAITING:
            waiting.append(record)
            continue
        else:
            time = unknown if at is None else at
        for waited in (*waiting, record):
            yield waited, time
        waiting.clear()
    for waited in waiting:
        yield waited, unknown if at is None else at


_LEAST = MIN_TIMESTAMP.micros // _MICROS


def _first_and_last(record: SearchCall | PackedBlock) -> tuple[int, int]:
    if isinstance(record, PackedBlock):
        return record.timestamps[0], record.timestamps[-1]
    if record.timestamp is None:
        raise ValueError(f"A call of {record.conversation_id} has no timestamp.")
    return record.timestamp, record.timestamp


def _clip(timestamp: int, earliest: int | None, latest: int | None) -> int:
    at = timestamp if latest is None else min(timestamp, latest)
    return at if earliest is None else max(at, earliest)


beam.coders.registry.register_coder(Message, StructCoder)


@dataclass(eq=False, repr=False)
class ParseMessages(beam.PTransform):
    """`PCollection[Message]` to `StreamedTraces`.

    The time of a call is the earlier of its own and its message's timestamp, that of a rejected
    record its message's.

    Attributes:
      packing: how records are packed into payloads.
      adaptation: renamed fields and the like; None if records are as in SPEC 2.
    """

    packing: Packing
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def expand(self, messages: beam.PCollection[Message]) -> StreamedTraces:
        """Apply the transform."""
        return split_outputs(messages, _ParseBundle(self.packing, self.adaptation, self.bounds))


@dataclass(eq=False, repr=False)
class _ParseBundle(beam.DoFn):
    """Parses messages; packs those of one conversation in a bundle into one payload."""

    packing: Packing
    adaptation: Adaptation | None
    bounds: ReadBounds

    def setup(self) -> None:
        self._packer = StreamPacker(self.packing)

    def process(self, message: Message, timestamp: Any = beam.DoFn.TimestampParam) -> Iterator[Any]:
        latest = millis_of(timestamp)
        packer = self._packer.record_packer(None, latest)
        record = parse_message(message, self.adaptation, self.bounds, packer)
        return self._packer.add(stamp_records([record], None, latest))

    def finish_bundle(self) -> Iterator[Any]:
        return self._packer.rest()
