"""Watches a folder for trace files: an unbounded source (SPEC 2, 3, 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.io.restriction_trackers import OffsetRange, OffsetRestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.utils.timestamp import MIN_TIMESTAMP, Duration

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.record_packer import RecordOrPacked
from goodgain.transforms.core.streaming.journal import JournalHead, Move
from goodgain.transforms.sources.folder_watch import (
    FolderSource,
    FolderWatch,
    OldestNeeded,
    Resumption,
)
from goodgain.transforms.sources.streamed import (
    StreamedTraces,
    StreamPacker,
    stamped,
    streamed_traces,
)
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of

# A position of the source: an entry of the journal and a part of it, like a shard of a file.
_PARTS = 1 << 20
_END = 1 << 62


@dataclass(eq=False, repr=False)
class WatchFolder(beam.PTransform):
    """PBegin to `StreamedTraces`: the records of every file that appears in a folder, as payloads.

    A file is read once, in any format of traces, as soon as it is complete: its name does not begin
    with `.` or `_` and has no temporary suffix, and it no longer changes. The watermark follows the
    records (see `WatermarkRule`). A record's timestamp is its event time, but at least the
    watermark and at most the time when its file was found. A journal records
    the files and the watermark, so that a restart continues where the last one ended: records that
    can still change outputs are read again, in the same order and with the same timestamps.

    Attributes:
      source: which folder to watch, and how.
      rules: the compiled rules for duplicates, like `Scoring.default().rules`.
      ends_when_silent: whether to stop after the first period of silence.
      end: decides when the source stops, and receives its last watermark.
      needed: what a restart reads again, so that the journal can be compacted; None = what
        `source.horizon_ms` says.

    Example:
      >>> import apache_beam as beam
      >>> from goodgain import FolderSource, Scoring, WatchFolder, WatermarkRule
      >>> source = FolderSource("incoming", "journal", rule=WatermarkRule(idle_ms=60_000))
      >>> traces = beam.Pipeline() | WatchFolder(source, Scoring.default().rules)
      >>> traces._fields
      ('payloads', 'rejected', 'read')
    """

    source: FolderSource
    rules: RuleTable
    ends_when_silent: bool = False
    end: StreamEnd = WITH_ENGINE
    needed: OldestNeeded | None = None

    def expand(self, begin: beam.pvalue.PBegin) -> StreamedTraces:
        """Apply the transform."""
        resumed = (
            begin
            | "Source" >> beam.Create([self.source])
            | "Resume" >> beam.Map(_resumed).with_output_types(tuple[FolderSource, Resumption])
        )
        read = ReadFolder(self.rules, self.ends_when_silent, self.end, needed=self.needed)
        return streamed_traces(resumed, read)


def _resumed(source: FolderSource) -> tuple[FolderSource, Resumption]:
    """The source, and the state of its journal when the stream begins.

    This is a separate step so that an engine that restores a stream keeps the state of the first
    start.
    """
    return source, FolderWatch(source, _now_ms).resumption()


class _Positions(RestrictionProvider):
    """All positions of a journal, which can grow without limit."""

    def initial_restriction(self, element: Any) -> OffsetRange:
        return OffsetRange(0, _END)

    def create_tracker(self, restriction: OffsetRange) -> OffsetRestrictionTracker:
        return OffsetRestrictionTracker(restriction)

    def restriction_size(self, element: Any, restriction: OffsetRange) -> int:
        # The size of an unbounded range does not measure the work left.
        return 1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(eq=False, repr=False)
class ReadFolder(beam.DoFn):
    """Reads the files of a folder by its journal, and appends to the journal.

    Each shard of a file and each move of the watermark is a step, after which the engine commits.
    So bundles stay small, and on a restart the watermark moves between the same records.

    Attributes:
      now_ms: this machine's clock, in milliseconds since the epoch.
    """

    POSITIONS = beam.DoFn.RestrictionParam(_Positions())
    WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())

    rules: RuleTable
    ends_when_silent: bool
    end: StreamEnd = WITH_ENGINE
    now_ms: Callable[[], int] = _now_ms
    needed: OldestNeeded | None = None

    def setup(self) -> None:
        """Set up the worker."""
        self._packer = StreamPacker(self.rules)
        self._watch: FolderWatch | None = None

    @beam.DoFn.unbounded_per_element()
    def process(
        self,
        element: tuple[FolderSource, Resumption],
        tracker: Any = POSITIONS,
        watermark: Any = WATERMARK,
    ) -> Iterator[Any]:
        """Take one step, and resume for the next."""
        source, resumption = element
        if self._watch is None or self._watch.source != source:
            self._watch = FolderWatch(source, self.now_ms, self.needed)
        watch = self._watch
        at, part = divmod(tracker.current_restriction().start, _PARTS)
        start = watch.start(at, resumption)
        at, part = start, part if start == at else 0
        has_moved = False
        while True:
            is_over = at > resumption.entries and watch.is_silent_at(at)
            if self.end.is_stop_requested() or (self.ends_when_silent and is_over):
                reached = watermark.current_watermark() or MIN_TIMESTAMP
                self.end.begin_draining(millis_of(reached))
                tracker.try_claim(_END - 1)
                return
            entry = watch.entry(at)
            if entry is None:
                tracker.defer_remainder(Duration(source.poll_seconds))
                return
            if part >= watch.parts(at, resumption):
                at, part = at + 1, 0
                continue
            if isinstance(entry, Move | JournalHead):
                if not tracker.try_claim(at * _PARTS):
                    return
                _move(watermark, entry)
                has_moved = True
                part = 1
                continue
            if not has_moved and tracker.try_claim(at * _PARTS + part):
                yield from self._packer.add(
                    _records_of_step(watch, at, part, resumption, watermark, self._packer)
                )
                yield from self._packer.rest()
            # The engine sees the watermark when the step ends, so records and a move are separate
            # steps.
            tracker.defer_remainder()
            return


def _records_of_step(
    watch: FolderWatch,
    at: int,
    part: int,
    resumption: Resumption,
    watermark: Any,
    packer: StreamPacker,
) -> Iterator[tuple[RecordOrPacked, int]]:
    """The records of one step with timestamps; after a restart, only those still needed.

    Records before the first watermark are all read again, if their file is needed.
    """
    clock, oldest = watch.clock(at), watch.oldest(at, resumption)
    earliest = watermark.current_watermark()
    least = None if earliest is None else millis_of(earliest)
    if oldest is None or least is None:
        return stamped(watch.records(at, part, packer.record_packer(least, clock)), least, clock)
    # Not only files but also records are skipped. So the end of a conversation that began before
    # `oldest` is always read again, which identifies its written rows.
    records = stamped(watch.records(at, part), least, clock)
    return (one for one in records if one[1] >= oldest)


def _move(watermark: Any, move: Move | JournalHead) -> None:
    if move.watermark_state.watermark is not None:
        moved = timestamp_of(move.watermark_state.watermark)
        watermark.set_watermark(max(moved, watermark.current_watermark() or moved))
