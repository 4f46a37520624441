"""Lists the files of a watched folder that are ready to be read, and reads them (SPEC 2, 7)."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from goodgain.transforms.core.files.record_packer import (
    PackedBlock,
    RecordOrPacked,
    RecordPacker,
)
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.shard_reader import read_shard_into
from goodgain.transforms.core.records.rejected import WHOLE_FILE, RejectedRecord, without_timestamp
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.streaming.journal import Changed, FileReading
from goodgain.transforms.filesystems import open_plain

_HIDDEN = (".", "_")
_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")


class FolderFile(Struct, frozen=True, order=True):
    """A complete file in the folder.

    Attributes:
      modified_ms: time of the last change, in milliseconds since the epoch.
    """

    modified_ms: int
    name: str
    size: int


class Listing(Struct, frozen=True):
    """The complete files of a folder that are new or have changed.

    Attributes:
      new: files not yet taken, in order of last change, then name.
      changed: files whose size has changed since they were taken, by name.
    """

    new: tuple[FolderFile, ...]
    changed: tuple[FolderFile, ...]


def list_folder(folder: str, taken: Mapping[str, int], settle_ms: int, now_ms: int) -> Listing:
    """List the complete files directly in a folder, at the time `now_ms`.

    A file is incomplete if its name says so (see `is_complete_name`), or if it was written to in
    the last `settle_ms`.

    Args:
      taken: sizes of the files taken before, by name.

    Raises:
      OSError: the folder does not exist or cannot be listed.
    """
    new, changed = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not is_complete_name(entry.name):
                continue
            file = _file(entry)
            # A file with a time in the future is not held back.
            if file is None or 0 <= now_ms - file.modified_ms < settle_ms:
                continue
            if file.name not in taken:
                new.append(file)
            elif taken[file.name] != file.size:
                changed.append(file)
    return Listing(tuple(sorted(new)), tuple(sorted(changed, key=lambda file: file.name)))


def is_complete_name(name: str) -> bool:
    """Whether a file with this name is complete: no leading `.` or `_`, no suffix like `.tmp`."""
    return not name.startswith(_HIDDEN) and not name.lower().endswith(_UNFINISHED)


def _file(entry: os.DirEntry[str]) -> FolderFile | None:
    try:
        if not entry.is_file():
            return None
        status = entry.stat()
    except OSError:
        return None  # deleted since the folder was listed, or a broken link
    return FolderFile(status.st_mtime_ns // 1_000_000, entry.name, status.st_size)


class FileTally:
    """Counts of the records of one file.

    Attributes:
      times: event times in milliseconds, in file order.
      shards: number of shards that were read completely, from the first on.
    """

    def __init__(self) -> None:
        self.times = array("q")
        self.rejected = 0
        self.shards = 0

    def counted(self, records: Iterable[RecordOrPacked], shard: int) -> Iterator[RecordOrPacked]:
        """The records of a shard, counted as they pass."""
        for record in records:
            if isinstance(record, RejectedRecord):
                self.rejected += record.records
            elif isinstance(record, PackedBlock):
                self.times.extend(record.timestamps)
            elif record.timestamp is not None:
                self.times.append(record.timestamp)
            yield record
        self.shards += shard == self.shards

    def reading(self, position: int) -> FileReading:
        """The counts, for the file at a position of the journal."""
        return FileReading(
            position,
            len(self.times) + self.rejected,
            self.rejected,
            min(self.times, default=None),
            max(self.times, default=None),
        )


def changed_row(changed: Changed, path: str) -> RejectedRecord:
    """The row for a file that changed after it was taken."""
    return RejectedRecord(
        path,
        WHOLE_FILE,
        f"The file had {changed.taken} bytes when it was taken, but now has {changed.size}; only "
        "the former are read. Put new records into a file with another name.",
    )


def timed_records(shard: FileShard, packer: RecordPacker | None = None) -> Iterator[RecordOrPacked]:
    """The records of a shard; a call without a timestamp is rejected.

    Args:
      packer: its output, `PackedBlock`s, replaces the records that it can pack.
    """
    number = 0
    for record in read_shard_into(packer, shard, open_plain):
        number += len(record.timestamps) if isinstance(record, PackedBlock) else 1
        if isinstance(record, SearchCall) and record.timestamp is None:
            position = f"record {number}" + (f" after byte {shard.start}" if shard.start else "")
            yield without_timestamp(record, shard.path, position)
        else:
            yield record
