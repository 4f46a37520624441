"""The journal of a source that watches a folder: its actions in order, for replay.

It has one JSON object per line; the line number, from 0, is the position of the source. An entry
takes a file, moves the watermark, or notes that a file has changed. After a restart the source
replays the files and the watermark in the same order, so that downstream results are the same.
Between two starts the journal is truncated: entries that no longer matter are summed up in its
head.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import msgspec
from msgspec import Struct, field

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.streaming.watermark import WatermarkState

# At 100 bytes per result this is 0.7 million results, which keep 0.3 GB open.
DEFAULT_PORTION_BYTES = 64 * 1024 * 1024


class JournalError(GoodGainError):
    """A journal that cannot be used."""


class Take(Struct, frozen=True, tag="take"):
    """A file is taken; appended before any of its records are emitted.

    Attributes:
      name: the file, relative to the folder, which may be moved.
      size: its size when taken; only these bytes are read, now and after a restart.
      clock: when it was taken, by this machine's clock in ms.
    """

    name: str
    size: int
    clock: int


class FileReading(Struct, frozen=True, array_like=True):
    """The contents of a file that was taken.

    Attributes:
      position: position of its `Take` in the journal.
      records: number of records, including rejected ones.
      rejected: number of rejected records.
      least: smallest event time in milliseconds; None without a usable record.
      greatest: greatest event time.
    """

    position: int
    records: int
    rejected: int
    least: int | None
    greatest: int | None


class Move(Struct, frozen=True, tag="move"):
    """The watermark moves, after all files of one listing are read, or after silence.

    Attributes:
      watermark_state: state of the watermark.
      readings: contents of the files taken since the last move.
      ahead: number of their records that were too far ahead to move the watermark.
    """

    watermark_state: WatermarkState = field(name="reach")  # its name in existing journals
    readings: tuple[FileReading, ...] = ()
    ahead: int = 0


class Changed(Struct, frozen=True, tag="changed"):
    """A file changed its size after it was taken; added bytes are not read.

    Attributes:
      name: the file, relative to the folder.
      taken: its size when it was taken, or at the last `Changed`.
      size: its size now.
    """

    name: str
    taken: int
    size: int


class SourceTotals(Struct, frozen=True):
    """What a source has read so far, restarts included.

    Attributes:
      files: number of files taken.
      records: number of records in the files read so far, including rejected ones.
      rejected: number of rejected records.
      ahead: number of records too far ahead to move the watermark.
      changed: number of changes to files after they were taken.
      watermark: in milliseconds; nothing older is expected; None if there is none yet.
    """

    files: int = 0
    records: int = 0
    rejected: int = 0
    ahead: int = 0
    changed: int = 0
    watermark: int | None = None

    def without(self, part: SourceTotals) -> SourceTotals:
        """The sums without a part."""
        return SourceTotals(
            self.files - part.files,
            self.records - part.records,
            self.rejected - part.rejected,
            self.ahead - part.ahead,
            self.changed - part.changed,
        )


class JournalHead(Struct, frozen=True, tag="head"):
    """The head of a truncated journal: a summary of the removed entries.

    Attributes:
      watermark_state: state of the watermark before the next entry.
      totals: the sums over the removed entries.
      sizes: last known size of each file taken, by name.
    """

    watermark_state: WatermarkState
    totals: SourceTotals
    sizes: dict[str, int]


Entry = Take | Move | Changed | JournalHead


class Journal:
    """All entries, and the state derived from them.

    Attributes:
      entries: the entries in order.
      sizes: the last known size of each file taken, by name.
      readings: contents of files read, by the position of their `Take`.
      unmoved: positions of the files taken since the last move that covers files.
      unmoved_bytes: total size of these files.
      watermark_state: state of the watermark.
    """

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.sizes: dict[str, int] = {}
        self.readings: dict[int, FileReading] = {}
        self.unmoved: list[int] = []
        self.unmoved_bytes = 0
        self.watermark_state = WatermarkState()
        self._gone = SourceTotals()
        self._ahead = 0
        self._watermarks: dict[int, int | None] = {}

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        if isinstance(entry, Take):
            self.unmoved.append(len(self.entries))
            self.unmoved_bytes += entry.size
            self.sizes[entry.name] = entry.size
        elif isinstance(entry, Changed):
            self.sizes[entry.name] = entry.size
        elif isinstance(entry, JournalHead):
            self.watermark_state = entry.watermark_state
            self.sizes.update(entry.sizes)
            self._gone = entry.totals
        else:
            self.watermark_state = entry.watermark_state
            self._ahead += entry.ahead
            for reading in entry.readings:
                self.readings[reading.position] = reading
                self._watermarks[reading.position] = entry.watermark_state.watermark
            if entry.readings:
                self.unmoved = [at for at in self.unmoved if at not in self.readings]
                self.unmoved_bytes = sum(_size(self.entries[at]) for at in self.unmoved)
        self.entries.append(entry)

    def totals(self) -> SourceTotals:
        """The sums over all entries."""
        return SourceTotals(
            files=self._gone.files + sum(isinstance(entry, Take) for entry in self.entries),
            records=self._gone.records + sum(one.records for one in self.readings.values()),
            rejected=self._gone.rejected + sum(one.rejected for one in self.readings.values()),
            ahead=self._gone.ahead + self._ahead,
            changed=self._gone.changed + sum(isinstance(one, Changed) for one in self.entries),
            watermark=self.watermark_state.watermark,
        )

    def matters(self, position: int, oldest: int | None) -> bool:
        """Whether a `Take` can have records that were emitted with times from `oldest` on, in ms.

        If its contents are unknown, it can. Emitted times are at most the time when the file was
        taken, and at least the watermark at that time, which is bounded by the next watermark.
        """
        take = self.entries[position]
        reading = self.readings.get(position)
        if oldest is None or reading is None or not isinstance(take, Take):
            return True
        greatest = None if reading.greatest is None else min(reading.greatest, take.clock)
        times = [time for time in (greatest, self._watermarks[position]) if time is not None]
        return not times or max(times) >= oldest


def _size(entry: Entry) -> int:
    return entry.size if isinstance(entry, Take) else 0


def cut(journal: Journal, oldest: int, present: Collection[str]) -> list[Entry]:
    """The entries of a shorter journal that is equivalent for all later starts.

    It leaves out files that need not be read again, and all but the last of consecutive watermark
    moves.

    Args:
      journal: the whole journal.
      oldest: records emitted with earlier times, in ms, no longer matter.
      present: names of the files in the folder. Other files are forgotten, unless none of the files
        taken is present, as when another folder is mounted there.
    """
    kept: list[Entry] = []
    places: dict[int, int] = {}  # new positions of files; the shorter journal begins with its head
    names: set[str] = set()
    before = WatermarkState()  # at the last move removed so far
    move: Move | None = None  # the last move, if nothing has followed it
    watermark: int | None = None
    for position, entry in enumerate(journal.entries):
        if isinstance(entry, JournalHead):
            before = entry.watermark_state
            watermark = before.watermark
        elif isinstance(entry, Move):
            if move is not None and move.readings:
                kept.append(move)
            move = _with_places(entry, places)
            watermark = entry.watermark_state.watermark
        elif _matters(journal, position, oldest, watermark, names):
            if move is not None and kept:
                kept.append(move)
            elif move is not None:
                before = move.watermark_state
            move = None
            names.add(entry.name)
            kept.append(entry)
            places[position] = len(kept)
    if move is not None and kept:
        kept.append(move)
    elif move is not None:
        before = move.watermark_state
    sizes = {name: size for name, size in journal.sizes.items() if name in present}
    rest = Journal()
    for one in (JournalHead(before, SourceTotals(), {}), *kept):
        rest.add(one)
    gone = journal.totals().without(rest.totals())
    return [JournalHead(before, gone, sizes or journal.sizes), *kept]


def _matters(
    journal: Journal, position: int, oldest: int, watermark: int | None, names: set[str]
) -> bool:
    """Whether a file, or the note that it has changed, may be emitted again."""
    entry = journal.entries[position]
    if isinstance(entry, Changed):
        return entry.name in names or watermark is None or watermark >= oldest
    return journal.matters(position, oldest)


def _with_places(move: Move, places: Mapping[int, int]) -> Move:
    readings = [
        FileReading(places[one.position], one.records, one.rejected, one.least, one.greatest)
        for one in move.readings
        if one.position in places
    ]
    return Move(move.watermark_state, tuple(readings), move.ahead)


def decode_journal(data: bytes, path: str) -> tuple[Journal, int]:
    """Parse a journal; returns it, and the number of bytes in complete lines.

    An incomplete last line, as after a crash, is ignored.

    Args:
      data: the content of the file.
      path: its name, for messages.

    Raises:
      JournalError: a whole line cannot be read.
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
