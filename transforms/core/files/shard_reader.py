"""Reads search calls and rejected rows from one shard of a file (SPEC 2, 3)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

from msgspec.structs import replace

from goodgain.transforms.core.errors import problem_of
from goodgain.transforms.core.files.compression import Compression, DamagedStreamError, decompress
from goodgain.transforms.core.files.input_formats import INPUT_FORMATS
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.records.rejection import WHOLE_FILE, RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall

Records = Iterator[SearchCall | RejectedRecord]

_HELD_IN_MEMORY = 16 * 1024 * 1024


def read_shard(shard: FileShard, open_file: Open) -> Records:
    """The records of a shard, each once, in file order.

    Bad content never raises: records that cannot be used become rejected rows, and a file that
    cannot be read (gone, no permission) becomes one row with the position `file`.

    Args:
      shard: from `plan_shards`.
    """
    return cast(Records, read_shard_into(None, shard, open_file))


def read_shard_into(
    packer: RecordPacker | None,
    shard: FileShard,
    open_file: Open,
) -> Iterator[RecordOrPacked]:
    """Like `read_shard`, but the output of the packer replaces the records that it can pack.

    Without a packer, all records are yielded.
    """
    if shard.problem is not None:
        yield RejectedRecord(shard.path, WHOLE_FILE, shard.problem, at_least=True)
        return
    if packer is not None and not packer.can_read(shard.adaptation, shard.bounds):
        packer = None
    try:
        with open_file(shard.path) as file:
            yield from _records_of(file, shard, packer)
            yield from _report_missing_part(file, shard)
    except OSError as error:
        yield reject_unreadable(shard.path, error)


def reject_unreadable(path: str, error: OSError) -> RejectedRecord:
    """The row for a file that cannot be opened or read."""
    reason = f"The file cannot be read: {problem_of(error)}."
    return RejectedRecord(path, WHOLE_FILE, reason, at_least=True)


def _report_missing_part(file: BinaryIO, shard: FileShard) -> Records:
    """A row for the missing part of a file that ends before the shard does."""
    size = file.seek(0, 2)
    if size < shard.end:
        reason = (
            f"The file became shorter while it was read: it ends at byte {size:,}, but had "
            f"{shard.end:,} bytes or more before. Run again when nothing writes to it."
        )
        position = f"byte {max(size, shard.start)}"
        yield RejectedRecord(shard.path, position, reason, at_least=True)


def _records_of(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    format_ = INPUT_FORMATS[shard.format]
    if format_.seeks and shard.compression is not Compression.NONE:
        return _read_spooled(file, shard, packer)
    return format_.read(file, shard, packer)


def _read_spooled(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    """Some formats need to seek, so a compressed file is copied to a temporary one."""
    problem = None
    with tempfile.SpooledTemporaryFile(max_size=_HELD_IN_MEMORY) as spool:
        try:
            for piece in decompress(file, shard.compression):
                spool.write(piece)
        except DamagedStreamError as error:
            problem = error
        whole = replace(shard, compression=Compression.NONE, start=0, end=spool.tell())
        yield from _records_of(cast(BinaryIO, spool), whole, packer)
    if problem is not None:
        reason = f"The file could be read only in part: {problem}."
        yield RejectedRecord(shard.path, WHOLE_FILE, reason, at_least=True)
