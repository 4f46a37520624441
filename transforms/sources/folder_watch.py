"""Watches a folder: decides whether to read a file, move the watermark, or wait."""

from __future__ import annotations

import logging
import os
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.reading import read_shard
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejected import WHOLE_FILE, RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.records.untimed import untimed
from goodgain.transforms.core.streaming.journal import (
    DEFAULT_PORTION_BYTES,
    Changed,
    Entry,
    FileReading,
    Move,
    Take,
)
from goodgain.transforms.core.streaming.watermark import (
    WatermarkRule,
    WatermarkState,
    after_records,
    after_silence,
)
from goodgain.transforms.read import PlanShards, open_plain
from goodgain.transforms.sources.journal_file import JournalFile
from goodgain.transforms.sources.listing import FolderFile, list_folder

_LOGGER = logging.getLogger(__name__)
_SHARD_BYTES = 16 * 1024 * 1024
_LEAST = {"horizon_ms": 0, "settle_ms": 0, "shard_bytes": 1, "portion_bytes": 1}
# Pause between listings, relative to the time of one; 20,000 files take 0.2 s.
_LEAST_PAUSE = 10


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
      by_name: whether files that were found together are taken in order of name, rather than of
        last change.
      adaptation: how to convert records to trace records; None if they need no conversion.
      bounds: memory limits for reading.

    Raises:
      UsageError: a number is out of its range, or the folder is not a local path.
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
      entries: length of the journal.
      oldest: records of these entries with earlier times, in ms, are skipped; None = skip none.
    """

    entries: int
    oldest: int | None


class FolderWatch:
    """Iterates over the journal: existing entries, and new ones for changes in the folder.

    The watermark moves only after all files of one listing have been read, since these may be in
    any order; in a backlog, after each portion.

    Attributes:
      source: which folder to watch, and how.
    """

    def __init__(self, source: FolderSource, now_ms: Callable[[], int]) -> None:
        """Load the journal.

        Args:
          source: which folder to watch, and how.
          now_ms: this machine's clock, in milliseconds since the epoch.

        Raises:
          JournalError: the journal is damaged.
          OSError: it cannot be read.
        """
        self.source = source
        self._now_ms = now_ms
        self._file = JournalFile(source.journal)
        self._heard_ms = now_ms()
        self._round: deque[FolderFile] = deque()
        # A killed process leaves a round unfinished; the next listing completes it.
        self._has_looked = False
        self._next_look_ms = 0
        self._tallies: dict[int, _Tally] = {}
        self._plans: dict[int, list[FileShard]] = {}
        self._complaint = ""

    @property
    def watermark_state(self) -> WatermarkState:
        """The watermark after the last entry."""
        return self._file.journal.watermark_state

    def resumption(self) -> Resumption:
        """The state of the folder for a stream that begins now."""
        watermark = self.watermark_state.watermark
        oldest = None if watermark is None else watermark - self.source.horizon_ms
        return Resumption(len(self._file.journal.entries), oldest)

    def entry(self, position: int) -> Entry | None:
        """The entry at a position; at the end, a new one, or None if there is nothing to do.

        While the folder is missing or the journal cannot be written, the source waits: it logs this
        once, and neither takes files nor moves the watermark.
        """
        if not self._file.is_current:
            self._file.load()
            self._round.clear()
            self._has_looked = False
        entries = self._file.journal.entries
        try:
            # Also checked before replayed files, since the folder may be unmounted.
            os.scandir(self.source.folder).close()
            entry = entries[position] if position < len(entries) else self._next()
        except OSError as error:
            self._heard_ms = self._now_ms()  # an outage does not count as silence
            self._complain(f"The folder {self.source.folder} cannot be listed: {error}.")
            return None
        if position < len(entries):
            return entry
        if entry is None:
            self._complaint = ""
            return None
        try:
            self._file.append(entry)
        except OSError as error:
            self._complain(f"The journal in {self.source.journal} cannot be written: {error}.")
            return None
        self._complaint = ""
        self._note(entry)
        return entry

    def is_silent_at(self, position: int) -> bool:
        """Whether the position is right after a last entry that is a period of silence."""
        journal = self._file.journal
        return journal.watermark_state.silent > 0 and position >= len(journal.entries)

    def parts(self, position: int, resumption: Resumption) -> int:
        """The number of steps of the entry at a position.

        A file has one step per shard, or none if it need not be read again.
        """
        entry = self._file.journal.entries[position]
        if not isinstance(entry, Take):
            return 1
        matters = self._file.journal.matters(position, self.oldest(position, resumption))
        return len(self._shards(position)) if matters else 0

    def oldest(self, position: int, resumption: Resumption) -> int | None:
        """The time, in ms, from which records of an entry are emitted; None = all."""
        is_known = position in self._file.journal.readings
        return resumption.oldest if is_known and position < resumption.entries else None

    def clock(self, position: int) -> int | None:
        """When the file of an entry was taken, by this machine's clock in ms; else None."""
        entry = self._file.journal.entries[position]
        return entry.clock if isinstance(entry, Take) else None

    def records(self, position: int, part: int) -> Iterator[SearchCall | RejectedRecord]:
        """The output of one step: the records of a shard, or the row for a file that changed.

        A call without a timestamp is rejected.
        """
        entry = self._file.journal.entries[position]
        if isinstance(entry, Changed):
            yield changed_file(entry, self._path(entry.name))
        elif isinstance(entry, Take):
            if part == 0:
                self._tallies[position] = _Tally()
            tally = self._tallies.get(position, _Tally())
            yield from tally.counted(_timed(self._shards(position)[part]), part)

    def _shards(self, position: int) -> list[FileShard]:
        if position not in self._plans:
            take = self._file.journal.entries[position]
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
        if not self._round and not (journal.unmoved and self._has_looked):
            began_ms = self._now_ms()
            if began_ms < self._next_look_ms:
                return None
            listing = list_folder(
                self.source.folder, journal.sizes, self.source.settle_ms, began_ms
            )
            ended_ms = self._now_ms()
            self._next_look_ms = ended_ms + _LEAST_PAUSE * (ended_ms - began_ms)
            for file in listing.changed:
                return Changed(file.name, journal.sizes[file.name], file.size)
            self._has_looked = True
            found = listing.new
            self._round.extend(
                sorted(found, key=attrgetter("name")) if self.source.by_name else found
            )
        while self._round and not os.path.exists(self._path(self._round[0].name)):
            self._round.popleft()
        if self._round and journal.unmoved_bytes < self.source.portion_bytes:
            return Take(self._round[0].name, self._round[0].size, self._now_ms())
        if journal.unmoved:
            return self._account(journal.unmoved)
        if self._now_ms() - self._heard_ms < self.source.rule.idle_ms:
            return None
        return Move(after_silence(journal.watermark_state, self.source.rule))

    def _account(self, positions: Sequence[int]) -> Move:
        tallies = [self._tally(position) for position in positions]
        times = [time for tally in tallies for time in tally.times]
        state, ahead = after_records(self.watermark_state, times, self._now_ms(), self.source.rule)
        readings = zip(positions, tallies, strict=True)
        return Move(state, tuple(tally.reading(position) for position, tally in readings), ahead)

    def _tally(self, position: int) -> _Tally:
        shards = len(self._shards(position))
        tally = self._tallies.get(position, _Tally())
        if tally.shards != shards:  # an earlier process read part of the file
            tally = _Tally()
            for part in range(shards):
                for _ in tally.counted(_timed(self._shards(position)[part]), part):
                    pass
        return tally

    def _note(self, entry: Entry) -> None:
        if isinstance(entry, Take):
            self._round.popleft()
        if isinstance(entry, Move):
            self._tallies.clear()
        if isinstance(entry, Move) and entry.watermark_state.silent:
            self._heard_ms += self.source.rule.idle_ms
        else:
            self._heard_ms = self._now_ms()

    def _complain(self, complaint: str) -> None:
        if complaint != self._complaint:
            _LOGGER.warning("%s Waiting until it can.", complaint)
            self._complaint = complaint


class _Tally:
    """Counts of the records of one file.

    Attributes:
      times: event times in milliseconds, in file order.
      rejected: number of rejected records.
      shards: number of shards that were read completely, from the first on.
    """

    def __init__(self) -> None:
        self.times = array("q")
        self.rejected = 0
        self.shards = 0

    def counted(
        self, records: Iterable[SearchCall | RejectedRecord], shard: int
    ) -> Iterator[SearchCall | RejectedRecord]:
        for record in records:
            if isinstance(record, RejectedRecord):
                self.rejected += record.records
            elif record.timestamp is not None:
                self.times.append(record.timestamp)
            yield record
        self.shards += shard == self.shards

    def reading(self, position: int) -> FileReading:
        return FileReading(
            position,
            len(self.times) + self.rejected,
            self.rejected,
            min(self.times, default=None),
            max(self.times, default=None),
        )


def changed_file(changed: Changed, path: str) -> RejectedRecord:
    """The row for a file that changed after it was taken."""
    return RejectedRecord(
        path,
        WHOLE_FILE,
        f"The file had {changed.taken} bytes when it was taken, but now has {changed.size}; only "
        "the former are read. Put new records into a file with another name.",
    )


def _timed(shard: FileShard) -> Iterator[SearchCall | RejectedRecord]:
    for number, record in enumerate(read_shard(shard, open_plain), start=1):
        if isinstance(record, SearchCall) and record.timestamp is None:
            place = f"record {number}" + (f" after byte {shard.start}" if shard.start else "")
            yield untimed(record, shard.path, place)
        else:
            yield record
