"""Watches a folder for trace files: an unbounded source (SPEC 2, 3, 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.io.iobase import RestrictionProgress, RestrictionTracker
from apache_beam.io.watermark_estimators import ManualWatermarkEstimator
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.core import RestrictionProvider
from apache_beam.utils.timestamp import MIN_TIMESTAMP, Duration
from msgspec.structs import replace

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.streaming.folder_progress import FolderProgress
from goodgain.transforms.sources.folder_files import collect_times
from goodgain.transforms.sources.folder_source import FolderSource
from goodgain.transforms.sources.folder_watch import (
    FolderWatch,
    MoveWatermark,
    ReadPart,
    ReportChange,
)
from goodgain.transforms.sources.stream_packing import (
    READ,
    ReadRecords,
    StreamedTraces,
    StreamPacker,
    split_outputs,
    stamp_records,
)
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of


@dataclass(eq=False, repr=False)
class WatchFolder(beam.PTransform):
    """PBegin to `StreamedTraces`: the records of every file that appears in a folder, as payloads.

    A file is read once, in any format of traces, as soon as it is complete: its name does not begin
    with `.` or `_` and has no temporary suffix, and it no longer changes. The watermark follows the
    records (see `WatermarkRule`). A record's timestamp is its event time, but at least the
    watermark and at most the time when its file was found. What has been read is part of the
    engine's state: an engine that restores a checkpoint goes on from there.

    Attributes:
      source: which folder to watch, and how.
      packing: how records are packed into payloads.
      ends_when_silent: whether to stop after the first period of silence.
      end: decides when the source stops, and receives its last watermark.

    Example:
      >>> import apache_beam as beam
      >>> from goodgain import FolderSource, Packing, Scoring, WatchFolder, WatermarkRule
      >>> source = FolderSource("incoming", rule=WatermarkRule(idle_ms=60_000))
      >>> traces = beam.Pipeline() | WatchFolder(source, Packing.of(Scoring.default()))
      >>> traces._fields
      ('payloads', 'rejected', 'read')
    """

    source: FolderSource
    packing: Packing
    ends_when_silent: bool = False
    end: StreamEnd = WITH_ENGINE

    def expand(self, begin: beam.pvalue.PBegin) -> StreamedTraces:
        """Apply the transform."""
        sources = begin | "Source" >> beam.Create([self.source])
        return split_outputs(sources, ReadFolder(self.packing, self.ends_when_silent, self.end))


class FolderTracker(RestrictionTracker):
    """Tracks the progress of one call of `ReadFolder`, which takes one step.

    A step is claimed by None before its first output, and by the progress after it at its end.
    Between the two it cannot be split, for its rest cannot be told.
    """

    def __init__(self, progress: FolderProgress) -> None:
        self._progress = progress
        self._in_step = self._is_split = False

    def current_restriction(self) -> FolderProgress:
        """The progress after the last step."""
        return self._progress

    def current_progress(self) -> RestrictionProgress:
        """Beam's measure of the work left, which is unknown."""
        return RestrictionProgress(fraction=0.0)

    def try_claim(self, position: FolderProgress | None) -> bool:
        """Begin a step (None), or end it; False if an engine has taken over the rest."""
        if self._is_split:
            return False
        self._in_step = position is None
        self._progress = self._progress if position is None else position
        return True

    def try_split(
        self, fraction_of_remainder: float
    ) -> tuple[FolderProgress, FolderProgress] | None:
        """Leave the rest for another call."""
        if self._in_step or self._is_split or self._progress.is_over or fraction_of_remainder:
            return None
        self._is_split = True
        return replace(self._progress, is_over=True), self._progress

    def check_done(self) -> bool:
        """Whether nothing is left for this call.

        Raises:
          ValueError: something is.
        """
        if not self._is_split and not self._progress.is_over:
            raise ValueError("A step of the source of a folder has not been ended.")
        return True

    def is_bounded(self) -> bool:
        """False: files appear as long as the stream runs."""
        return False


class _FolderProvider(RestrictionProvider):
    """Keeps the `FolderProgress` of each folder in the engine."""

    def initial_restriction(self, element: FolderSource) -> FolderProgress:
        return FolderProgress()

    def create_tracker(self, restriction: FolderProgress) -> FolderTracker:
        return FolderTracker(restriction)

    def restriction_coder(self) -> StructCoder:
        return StructCoder(FolderProgress, sort_keys=False)

    def restriction_size(self, element: FolderSource, restriction: FolderProgress) -> int:
        # Nobody knows what will appear in the folder.
        return 1


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(eq=False, repr=False)
class ReadFolder(beam.DoFn):
    """Reads the files of a folder.

    Each call takes a step, after which the engine commits: it reads some files or a shard of one,
    or moves the watermark. So bundles stay small. Records and a move of the watermark are separate
    steps, since the engine sees the watermark only when the step ends.

    Attributes:
      now_ms: this machine's clock, in milliseconds since the epoch.
    """

    PROGRESS = beam.DoFn.RestrictionParam(_FolderProvider())
    WATERMARK = beam.DoFn.WatermarkEstimatorParam(ManualWatermarkEstimator.default_provider())

    packing: Packing
    ends_when_silent: bool
    end: StreamEnd = WITH_ENGINE
    now_ms: Callable[[], int] = _now_ms

    def setup(self) -> None:
        """Set up the worker."""
        self._packer = StreamPacker(self.packing)
        self._watch: FolderWatch | None = None

    @beam.DoFn.unbounded_per_element()
    def process(
        self, source: FolderSource, tracker: Any = PROGRESS, watermark: Any = WATERMARK
    ) -> Iterator[Any]:
        """Take one step, and resume for the next."""
        if self._watch is None or self._watch.source != source:
            self._watch = FolderWatch(source, self.now_ms)
        if not tracker.try_claim(None):
            return
        progress = tracker.current_restriction()
        is_silent = progress.watermark_state.silent > 0
        if self.end.is_stop_requested() or (self.ends_when_silent and is_silent):
            reached = watermark.current_watermark() or MIN_TIMESTAMP
            self.end.begin_draining(millis_of(reached))
            tracker.try_claim(replace(progress, is_over=True))
            return
        step, progress = self._watch.next_step(progress)
        wait = None
        if step is None:
            wait = Duration(source.poll_seconds)
        elif isinstance(step, MoveWatermark):
            progress = step.progress
            moved_to = progress.watermark_state.watermark
            _move(watermark, moved_to)
            yield TaggedOutput(READ, ReadRecords(watermark=moved_to, ahead=step.ahead))
        else:
            progress = yield from self._read(self._watch, step, progress, watermark)
            yield from self._packer.rest()
            if isinstance(step, ReportChange):
                yield TaggedOutput(READ, ReadRecords(changed=1))
        tracker.try_claim(progress)
        tracker.defer_remainder(wait)

    def _read(
        self,
        watch: FolderWatch,
        step: ReadPart | ReportChange,
        progress: FolderProgress,
        watermark: Any,
    ) -> Generator[Any, None, FolderProgress]:
        """Read one shard, or several small files; returns the progress after them."""
        earliest = watermark.current_watermark()
        least = None if earliest is None else millis_of(earliest)
        read = 0
        while True:
            clock = step.file.clock if isinstance(step, ReadPart) else None
            times: list[int] = []
            records = watch.records(step, self._packer.record_packer(least, clock))
            yield from self._packer.add(stamp_records(collect_times(records, times), least, clock))
            progress = watch.after(step, times, progress)
            if isinstance(step, ReportChange):
                return progress
            read += step.shard.end - step.shard.start if step.shard else 0
            if read >= watch.source.shard_bytes or progress.file is not None:
                return progress
            following = watch.next_file(progress)
            if following is None:
                return progress
            step = following


def _move(watermark: Any, moved_to: int | None) -> None:
    if moved_to is not None:
        moved = timestamp_of(moved_to)
        watermark.set_watermark(max(moved, watermark.current_watermark() or moved))
