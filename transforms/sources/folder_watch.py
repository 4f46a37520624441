"""Watches a folder: decides whether to read a file, move the watermark, or wait."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.streaming.journal import (
    DEFAULT_PORTION_BYTES,
    Changed,
    Entry,
    JournalError,
    Move,
    Take,
)
from goodgain.transforms.core.streaming.watermark import (
    WatermarkRule,
    WatermarkState,
    after_records,
    after_silence,
)
from goodgain.transforms.read import PlanShards
from goodgain.transforms.sources.folder_files import (
    FileTally,
    FolderFile,
    changed_row,
    list_folder,
    timed_records,
)
from goodgain.transforms.sources.journal_file import JournalFile

_LOGGER = logging.getLogger(__name__)
_SHARD_BYTES = 16 * 1024 * 1024
_LEAST = {"horizon_ms": 0, "settle_ms": 0, "shard_bytes": 1, "portion_bytes": 1, "keep_ms": 0}
WEEK_MS = 604_800_000
# A shorter journal is not compacted: 1 MiB has about 2,400 files taken one at a time, and takes
# 10 ms to compact.
_LEAST_COMPACTED = 1024 * 1024
# Pause between listings, relative to the time of one; 20,000 files take 0.2 s.
_LEAST_PAUSE = 10

# From the watermark to the time from which a restart reads records again, both in ms of event time;
# None if that is unknown.
OldestNeeded = Callable[[int], int | None]


class FolderSource(Struct, frozen=True):
    """Which folder to watch, and how.

    Attributes:
      folder: the local folder in which files appear.
      journal: the local folder of the journal; each stream needs its own.
      rule: how records move the watermark.
      horizon_ms: after a restart, records are emitted again whose times are at most this far before
        the watermark: the greatest age of a conversation, plus the gap, the allowed lateness and a
        window of the means.
      poll_seconds: seconds between two listings of the folder.
      settle_ms: how long a file must be unchanged before it is taken.
      shard_bytes: how much of a file is read in one step.
      portion_bytes: after this many bytes of files, the watermark moves before more files are
        taken. This, and the size of one file, bound what a backlog keeps open.
      by_name: whether the files of one listing are taken in order of name, not of last change.
      adaptation: how to convert records to trace records; None if they need no conversion.
      bounds: memory limits for reading.
      keep_ms: how old a checkpoint can be, by this machine's clock, and still be restored by an
        engine: the journal keeps all files taken since.

    Raises:
      UsageError: a number is out of its range, or the folder is not a local path.

    Example: see `WatchFolder`.
    """

    folder: str
    journal: str
    rule: WatermarkRule = WatermarkRule()
    horizon_ms: int = 180_000_000
    poll_seconds: float = 1.0
    settle_ms: int = 1_000
    shard_bytes: int = _SHARD_BYTES
    portion_bytes: int = DEFAULT_PORTION_BYTES
    by_name: bool = False
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS
    keep_ms: int = WEEK_MS

    def __post_init__(self) -> None:
        """Check the fields."""
        if "://" in self.folder:
            raise UsageError(
                f"The folder to watch must be on this machine, not {self.folder!r}; mount it, or "
                "stream from Kafka or Pub/Sub."
            )
        if not self.poll_seconds > 0:
            raise UsageError(f"poll_seconds must be above 0, got {self.poll_seconds}.")
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, got {getattr(self, name)}.")


class Resumption(Struct, frozen=True):
    """The point from which a stream resumed; fixed while the engine keeps its state.

    Attributes:
      entries: position after the last entry of the journal.
      oldest: records of these entries with earlier times, in ms, are skipped; None = skip none.
      first: position of the first entry.
    """

    entries: int
    oldest: int | None
    first: int = 0


class FolderWatch:
    """Iterates over the journal: existing entries, and new ones for changes in the folder.

    The watermark moves only after all files of one listing have been read, since these may be in
    any order; in a backlog, after each portion.

    Whenever the journal has doubled, the entries that are no longer needed are removed.
    """

    def __init__(
        self, source: FolderSource, now_ms: Callable[[], int], needed: OldestNeeded | None = None
    ) -> None:
        """Load the journal.

        Args:
          needed: what a restart reads again; None = what `source.horizon_ms` says.

        Raises:
          JournalError: the journal is damaged.
          OSError: it cannot be read.
        """
        self.source = source
        self._now_ms = now_ms
        self._needed = needed or self._oldest_in_horizon
        self._file = JournalFile(source.journal)
        self._compact_above = _LEAST_COMPACTED
        self._start_position: int | None = None  # where the engine has begun or continued
        self._loaded_ms = self._active_ms = now_ms()
        self._listed: deque[FolderFile] = deque()
        # A killed process leaves a listing unfinished; the next one completes it.
        self._has_listed = False
        self._next_listing_ms = 0
        self._tallies: dict[int, FileTally] = {}
        self._plans: dict[int, list[FileShard]] = {}
        self._last_warning = ""

    @property
    def watermark_state(self) -> WatermarkState:
        """The watermark after the last entry."""
        return self._file.journal.watermark_state

    def resumption(self) -> Resumption:
        """The state of the folder for a stream that begins now."""
        journal = self._file.journal
        watermark = journal.watermark_state.watermark
        oldest = None if watermark is None else self._oldest_in_horizon(watermark)
        return Resumption(journal.end, oldest, journal.first)

    def start(self, position: int, resumption: Resumption) -> int:
        """Where a step begins: at its position, or at the first entry of a compacted journal.

        Raises:
          JournalError: files from this position on are no longer in the journal, or it is damaged.
        """
        if not self._file.is_current:
            self._file.load()
            self._listed.clear()
            self._has_listed = False
        journal = self._file.journal
        if self._start_position is None:
            self._start_position = position
        if position < resumption.first:  # nothing has been read yet
            position = resumption.first
        if position >= journal.first:
            return position
        if position >= journal.safe:
            return journal.first
        raise JournalError(
            f"The journal in {self.source.journal} no longer has the files that the restored "
            "checkpoint or savepoint reads next; restore a later one, or start again with another "
            "output folder."
        )

    def entry(self, position: int) -> Entry | None:
        """The entry at a position; at the end, a new one, or None if there is nothing to do.

        While the folder is missing or the journal cannot be written, the source waits: it logs this
        once, and neither takes files nor moves the watermark.
        """
        journal = self._file.journal
        try:
            # Also checked before replayed files, since the folder may be unmounted.
            os.scandir(self.source.folder).close()
            entry = journal.at(position) if position < journal.end else self._next()
        except OSError as error:
            self._active_ms = self._now_ms()  # an outage does not count as silence
            self._warn_once(f"The folder {self.source.folder} cannot be listed: {error}.")
            return None
        if position < journal.end:
            return entry
        if entry is None:
            self._last_warning = ""
            return None
        try:
            self._file.append(entry)
        except OSError as error:
            self._warn_once(f"The journal in {self.source.journal} cannot be written: {error}.")
            return None
        self._last_warning = ""
        self._note_appended(entry)
        if isinstance(entry, Move) and self._file.length >= self._compact_above:
            self._compact()
        return entry

    def is_silent_at(self, position: int) -> bool:
        """Whether the position is right after a last entry that is a period of silence."""
        journal = self._file.journal
        return journal.watermark_state.silent > 0 and position >= journal.end

    def parts(self, position: int, resumption: Resumption) -> int:
        """The number of steps of the entry at a position.

        A file has one step per shard, or none if it need not be read again.
        """
        entry = self._file.journal.at(position)
        if not isinstance(entry, Take):
            return 1
        is_needed = self._file.journal.is_needed(position, self.oldest(position, resumption))
        return len(self._shards(position)) if is_needed else 0

    def oldest(self, position: int, resumption: Resumption) -> int | None:
        """The time, in ms, from which records of an entry are emitted; None = all."""
        is_known = position in self._file.journal.readings
        return resumption.oldest if is_known and position < resumption.entries else None

    def clock(self, position: int) -> int | None:
        """When the file of an entry was taken, by this machine's clock in ms; else None."""
        entry = self._file.journal.at(position)
        return entry.clock if isinstance(entry, Take) else None

    def records(
        self, position: int, part: int, packer: RecordPacker | None = None
    ) -> Iterator[RecordOrPacked]:
        """The output of one step: the records of a shard, or the row for a file that changed.

        A call without a timestamp is rejected. The packer is as in `timed_records`.
        """
        entry = self._file.journal.at(position)
        if isinstance(entry, Changed):
            yield changed_row(entry, self._path(entry.name))
        elif isinstance(entry, Take):
            if part == 0:
                self._tallies[position] = FileTally()
            tally = self._tallies.get(position, FileTally())
            shard = self._shards(position)[part]
            yield from tally.counted(timed_records(shard, packer), part)

    def _shards(self, position: int) -> list[FileShard]:
        if position not in self._plans:
            take = self._file.journal.at(position)
            if not isinstance(take, Take):
                raise TypeError(f"Entry {position} takes no file.")
            file = InputFile(self._path(take.name), take.size)
            plan = PlanShards(
                self.source.shard_bytes, self.source.adaptation, bounds=self.source.bounds
            )
            self._plans = {position: list(plan.process(file))}
        return self._plans[position]

    def _path(self, name: str) -> str:
        return os.path.join(self.source.folder, name)

    def _next(self) -> Entry | None:
        journal = self._file.journal
        if not self._listed and not (journal.uncovered and self._has_listed):
            began_ms = self._now_ms()
            if began_ms < self._next_listing_ms:
                return None
            listing = list_folder(
                self.source.folder, journal.sizes, self.source.settle_ms, began_ms
            )
            ended_ms = self._now_ms()
            self._next_listing_ms = ended_ms + _LEAST_PAUSE * (ended_ms - began_ms)
            for file in listing.changed:
                return Changed(file.name, journal.sizes[file.name], file.size)
            self._has_listed = True
            files = listing.new
            self._listed.extend(
                sorted(files, key=attrgetter("name")) if self.source.by_name else files
            )
        while self._listed and not os.path.exists(self._path(self._listed[0].name)):
            self._listed.popleft()
        if self._listed and journal.uncovered_bytes < self.source.portion_bytes:
            return Take(self._listed[0].name, self._listed[0].size, self._now_ms())
        if journal.uncovered:
            return self._move_after(journal.uncovered)
        if self._now_ms() - self._active_ms < self.source.rule.idle_ms:
            return None
        return Move(after_silence(journal.watermark_state, self.source.rule))

    def _move_after(self, positions: Sequence[int]) -> Move:
        tallies = [self._tally(position) for position in positions]
        times = [time for tally in tallies for time in tally.times]
        state, ahead = after_records(self.watermark_state, times, self._now_ms(), self.source.rule)
        readings = zip(positions, tallies, strict=True)
        return Move(state, tuple(tally.reading(position) for position, tally in readings), ahead)

    def _tally(self, position: int) -> FileTally:
        shards = len(self._shards(position))
        tally = self._tallies.get(position, FileTally())
        if tally.shards != shards:  # an earlier process read part of the file
            tally = FileTally()
            for part in range(shards):
                for _ in tally.counted(timed_records(self._shards(position)[part]), part):
                    pass
        return tally

    def _note_appended(self, entry: Entry) -> None:
        if isinstance(entry, Take):
            self._listed.popleft()
        if isinstance(entry, Move):
            self._tallies.clear()
        if isinstance(entry, Move) and entry.watermark_state.silent:
            self._active_ms += self.source.rule.idle_ms
        else:
            self._active_ms = self._now_ms()

    def _compact(self) -> None:
        watermark = self.watermark_state.watermark
        try:
            oldest = None if watermark is None else self._needed(watermark)
            if oldest is not None:
                self._file.compact(self.source.folder, oldest, self._restorable())
        except OSError as error:
            # Not urgent: it is tried again when the journal has doubled.
            _LOGGER.warning(
                "The journal in %s cannot be compacted: %s.", self.source.journal, error
            )
        self._compact_above = max(2 * self._file.length, _LEAST_COMPACTED)

    def _restorable(self) -> int:
        """The least position from which an engine may continue after restoring a checkpoint."""
        since = self._now_ms() - self.source.keep_ms
        journal = self._file.journal
        # In the beginning, the engine may restore the same checkpoint again.
        start = self._start_position if self._loaded_ms > since else None
        return min(journal.first_after(since), journal.end if start is None else start)

    def _oldest_in_horizon(self, watermark: int) -> int:
        return watermark - self.source.horizon_ms

    def _warn_once(self, warning: str) -> None:
        if warning != self._last_warning:
            _LOGGER.warning("%s Waiting until it can.", warning)
            self._last_warning = warning
