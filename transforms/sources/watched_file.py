"""Reads a file of a watched folder, and counts its records for the journal."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

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
