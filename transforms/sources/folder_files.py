"""Lists the files of a watched folder that are ready to be read, and reads them (SPEC 2, 7)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from msgspec import Struct

from goodgain.transforms.core.files.record_packer import (
    PackedBlock,
    RecordOrPacked,
    RecordPacker,
)
from goodgain.transforms.core.files.shard import FileShard, InputFile
from goodgain.transforms.core.files.shard_reader import read_shard_into
from goodgain.transforms.core.records.rejection import (
    WHOLE_FILE,
    RejectedRecord,
    reject_without_timestamp,
)
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.streaming.folder_progress import name_digest
from goodgain.transforms.file_listing import LocalFile, files_in, is_visible
from goodgain.transforms.filesystems import open_plain

_UNFINISHED = (".tmp", ".temp", ".part", ".partial", ".inprogress", ".crdownload", ".swp", "~")


class Listing(Struct, frozen=True):
    """The complete files of a folder.

    Attributes:
      new: files not yet taken, in order of last change, then name.
      changed: files whose size has changed since they were taken, by name.
      known: digests of the names of the files taken before, of those that are still there.
    """

    new: tuple[LocalFile, ...]
    changed: tuple[LocalFile, ...]
    known: frozenset[int]


def list_folder(
    folder: str, sizes: Mapping[int, int], settle_ms: int, now_ms: int, since_ms: int | None = None
) -> Listing:
    """List the complete files directly in a folder, at the time `now_ms`.

    A file is incomplete if its name says so (see `is_complete_name`), or if it was written to in
    the last `settle_ms`.

    Args:
      sizes: sizes of the files taken before, by `name_digest`.
      since_ms: files that were last changed earlier are left out.

    Raises:
      OSError: the folder does not exist or cannot be listed.
    """
    new, changed, known = [], [], set()
    for file in files_in(folder, is_complete_name):
        digest = name_digest(file.name)
        if digest in sizes:
            known.add(digest)
        # A file with a time in the future is not held back.
        if not file.is_regular or 0 <= now_ms - file.modified_ms < settle_ms:
            continue
        if digest not in sizes:
            if since_ms is None or file.modified_ms >= since_ms:
                new.append(file)
        elif sizes[digest] != file.size:
            changed.append(file)
    return Listing(
        tuple(sorted(new, key=attrgetter("modified_ms", "name"))),
        tuple(sorted(changed, key=attrgetter("name"))),
        frozenset(known),
    )


def is_complete_name(name: str) -> bool:
    """Whether a file with this name is complete: no leading `.` or `_`, no suffix like `.tmp`."""
    return is_visible(name) and not name.lower().endswith(_UNFINISHED)


def complete_files(folder: str) -> list[InputFile]:
    """The complete files that are in a folder now, by name.

    Raises:
      OSError: the folder does not exist or cannot be listed.
    """
    found = (file for file in files_in(folder, is_complete_name) if file.is_regular)
    return [
        InputFile(os.path.join(folder, file.name), file.size)
        for file in sorted(found, key=attrgetter("name"))
    ]


def reject_changed_file(file: LocalFile, taken: int, path: str) -> RejectedRecord:
    """The row for a file that changed after it was taken with a size of `taken` bytes."""
    return RejectedRecord(
        path,
        WHOLE_FILE,
        f"The file had {taken} bytes when it was taken, but now has {file.size}; only the former "
        "are read. Put new records into a file with another name.",
    )


def read_timed(shard: FileShard, packer: RecordPacker | None = None) -> Iterator[RecordOrPacked]:
    """The records of a shard; a call without a timestamp is rejected.

    Args:
      packer: its output, `PackedBlock`s, replaces the records that it can pack.
    """
    number = 0
    for record in read_shard_into(packer, shard, open_plain):
        number += len(record.timestamps) if isinstance(record, PackedBlock) else 1
        if isinstance(record, SearchCall) and record.timestamp is None:
            position = f"record {number}" + (f" after byte {shard.start}" if shard.start else "")
            yield reject_without_timestamp(record, shard.path, position)
        else:
            yield record


def collect_times(records: Iterable[RecordOrPacked], times: list[int]) -> Iterator[RecordOrPacked]:
    """The same records; adds the event times of the usable ones to `times` as they pass."""
    for record in records:
        if isinstance(record, PackedBlock):
            times.extend(record.timestamps)
        elif isinstance(record, SearchCall) and record.timestamp is not None:
            times.append(record.timestamp)
        yield record
