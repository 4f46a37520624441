"""The journal of a source that watches a folder: what the source did, in order, for replay.

It has one JSON object per line. An entry takes a file, moves the watermark, or notes that a file
has changed. After a restart the source replays the files and the watermark in the same order, so
that downstream results are the same.

The position of an entry is the number of entries before it since the stream began. Engines keep
positions in their checkpoints, so these never change: when the journal is compacted, its first
entries are replaced by a head, which sums them up and has the position of the last of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.streaming.watermark import WatermarkState

# At 100 bytes per result this is 0.7 million results, which take 0.3 GB until they are scored.
DEFAULT_PORTION_BYTES = 64 * 1024 * 1024


class JournalError(GoodGainError):
    """A journal that cannot be used."""


class Take(Struct, frozen=True, tag="take"):
    """A file is taken; appended before any of its records are emitted.

    Attributes:
      name: the file, relative to the folder, so that the folder may be moved.
      size: its size when taken; only these bytes are read, now and after a restart.
      clock: when it was taken, by this machine's clock in ms.
    """

    name: str
    size: int
    clock: int


class FileReading(Struct, frozen=True, array_like=True):
    """What a file that was taken contains.

    Attributes:
      position: position of its `Take` in the journal.
      records: number of records, including rejected ones.
      least, greatest: smallest and greatest event time, in ms; None without a usable record.
    """

    position: int
    records: int
    rejected: int
    least: int | None
    greatest: int | None


class Move(Struct, frozen=True, tag="move"):
    """The watermark moves, after all files of one listing are read, or after silence.

    Attributes:
      readings: contents of the files that were read since the last move.
      ahead: number of their records that were too far ahead to move the watermark.
    """

    watermark_state: WatermarkState = field(name="reach")  # its name in existing journals
    readings: tuple[FileReading, ...] = ()
    ahead: int = 0


class Changed(Struct, frozen=True, tag="changed"):
    """The size of a file changed after it was taken; added bytes are not read.

    Attributes:
      name: the file, relative to the folder.
      taken: its size when it was taken, or at the last `Changed`.
    """

    name: str
    taken: int
    size: int


class SourceTotals(Struct, frozen=True):
    """What a source has read so far, restarts included.

    Attributes:
      records: number of records in the files read so far, including rejected ones.
      ahead: number of records too far ahead to move the watermark.
      changed: number of changes to files after they were taken.
      watermark: in ms, nothing older is expected; None if there is none yet.
    """

    files: int = 0
    records: int = 0
    rejected: int = 0
    ahead: int = 0
    changed: int = 0
    watermark: int | None = None

    def without(self, part: SourceTotals) -> SourceTotals:
        """The sums minus those of a part, without a watermark."""
        return SourceTotals(
            self.files - part.files,
            self.records - part.records,
            self.rejected - part.rejected,
            self.ahead - part.ahead,
            self.changed - part.changed,
        )


class JournalHead(Struct, frozen=True, tag="head"):
    """The head of a compacted journal: a summary of the removed entries.

    Attributes:
      sizes: last known size of each file taken, by name.
      position: position of the last entry removed.
      safe: a source that stood at this position or later had read all files that were removed.
    """

    watermark_state: WatermarkState
    totals: SourceTotals
    sizes: dict[str, int]
    position: int = 0
    safe: int = 0


Entry = Take | Move | Changed | JournalHead


class Journal:
    """All entries, and the state derived from them.

    Attributes:
      first: position of the first entry.
      safe: a source that goes on from this position or later misses no file.
      sizes: the last known size of each file taken, by name.
      readings: contents of files read, by the position of their `Take`.
      uncovered: positions of the files taken whose contents no `Move` has recorded yet.
      uncovered_bytes: total size of these files.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self.first = 0
        self.safe = 0
        self.entries: list[Entry] = []
        self.sizes: dict[str, int] = {}
        self.readings: dict[int, FileReading] = {}
        self.uncovered: list[int] = []
        self.uncovered_bytes = 0
        self.watermark_state = WatermarkState()
        self._removed = SourceTotals()
        self._ahead = 0
        self._watermarks: dict[int, int | None] = {}
        for entry in entries:
            self.add(entry)

    @property
    def end(self) -> int:
        """The position of the next entry."""
        return self.first + len(self.entries)

    def at(self, position: int) -> Entry:
        """The entry at a position from `first` to before `end`."""
        return self.entries[position - self.first]

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        if isinstance(entry, Take):
            self.uncovered.append(self.end)
            self.uncovered_bytes += entry.size
            self.sizes[entry.name] = entry.size
        elif isinstance(entry, Changed):
            self.sizes[entry.name] = entry.size
        elif isinstance(entry, JournalHead):
            self.first, self.safe = entry.position, entry.safe
            self.watermark_state = entry.watermark_state
            self.sizes.update(entry.sizes)
            self._removed = entry.totals
        else:
            self.watermark_state = entry.watermark_state
            self._ahead += entry.ahead
            for reading in entry.readings:
                self.readings[reading.position] = reading
                self._watermarks[reading.position] = entry.watermark_state.watermark
            if entry.readings:
                self.uncovered = [one for one in self.uncovered if one not in self.readings]
                takes = map(self.at, self.uncovered)
                self.uncovered_bytes = sum(one.size for one in takes if isinstance(one, Take))
        self.entries.append(entry)

    def first_after(self, clock: int) -> int:
        """The position of the first file taken after this time, in ms, or else the end."""
        for position, entry in enumerate(self.entries, start=self.first):
            if isinstance(entry, Take) and entry.clock > clock:
                return position
        return self.end

    def totals(self) -> SourceTotals:
        """The sums over all entries."""
        return SourceTotals(
            files=self._removed.files + sum(isinstance(entry, Take) for entry in self.entries),
            records=self._removed.records + sum(one.records for one in self.readings.values()),
            rejected=self._removed.rejected + sum(one.rejected for one in self.readings.values()),
            ahead=self._removed.ahead + self._ahead,
            changed=self._removed.changed + sum(isinstance(one, Changed) for one in self.entries),
            watermark=self.watermark_state.watermark,
        )

    def is_needed(self, position: int, oldest: int | None) -> bool:
        """Whether a `Take` is read again: its records may have times from `oldest` on, in ms.

        True if its contents are unknown. Records are emitted with times that are at most the time
        when the file was taken, and at least the watermark at that time, which is not after the
        next watermark.
        """
        take = self.at(position)
        reading = self.readings.get(position)
        if oldest is None or reading is None or not isinstance(take, Take):
            return True
        greatest = None if reading.greatest is None else min(reading.greatest, take.clock)
        times = [time for time in (greatest, self._watermarks[position]) if time is not None]
        return max(times, default=take.clock) >= oldest


def compacted(
    journal: Journal, oldest: int, present: Collection[str], before: int | None = None
) -> Journal:
    """The same journal without the entries up to the first file that is still needed.

    The last entry removed is a move, so files that move the watermark together are kept together.

    Args:
      oldest: records emitted with earlier times, in ms, are no longer needed.
      present: names of the files in the folder. Other files are forgotten, unless none of the files
        taken is present, as when another folder is mounted there.
      before: files from this position on are needed too; None = only if their records are.
    """
    before = journal.end if before is None else before
    safe = journal.safe
    removed: JournalHead | None = None
    watermark: int | None = None
    for position, entry in enumerate(journal.entries, start=journal.first):
        if isinstance(entry, JournalHead):
            watermark = entry.watermark_state.watermark
        elif isinstance(entry, Move):
            watermark = entry.watermark_state.watermark
            removed = JournalHead(entry.watermark_state, SourceTotals(), {}, position, safe)
        elif position >= before or _is_needed(journal, position, oldest, watermark):
            break
        else:
            safe = position + 1
    if removed is None:
        return journal
    kept = journal.entries[removed.position + 1 - journal.first :]
    gone = journal.totals().without(Journal([removed, *kept]).totals())
    sizes = {name: size for name, size in journal.sizes.items() if name in present}
    head = replace(removed, totals=gone, sizes=sizes or journal.sizes)
    return Journal([head, *kept])


def _is_needed(journal: Journal, position: int, oldest: int, watermark: int | None) -> bool:
    """Whether a file, or the row that says that it has changed, may be emitted again."""
    if isinstance(journal.at(position), Changed):
        # The row has the time of the watermark; before the first one, the earliest of all.
        return watermark is not None and watermark >= oldest
    return journal.is_needed(position, oldest)


def decode_journal(data: bytes, path: str) -> tuple[Journal, int]:
    """Parse a journal; returns it, and the number of bytes in complete lines.

    An incomplete last line, as after a crash, is ignored.

    Raises:
      JournalError: a complete line cannot be read.
    """
    journal = Journal()
    whole = data.rfind(b"\n") + 1
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
        try:
            journal.add(_decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise JournalError(
                f"Line {number} of the journal {path} is damaged ({error}); restore it, or start "
                "again with another output folder."
            ) from None
    return journal, whole


def encoded(entry: Entry) -> bytes:
    """The line of an entry, including the line feed."""
    return _encoder.encode(entry) + b"\n"


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Entry)
