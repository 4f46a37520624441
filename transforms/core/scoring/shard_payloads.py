"""Reads one shard of a file into payloads: the work before the shuffle, without Beam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from goodgain.transforms.core.files.record_packer import PackedBlock, RecordOrPacked
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.shard_reader import read_shard_into
from goodgain.transforms.core.records.rejection import RejectedRecord, first_rejected
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packing import Packed, Packer

_UNTIMED = 0  # batch orders by the timestamps in records


def payloads_of_shard(
    shard: FileShard, open_file: Open, packer: Packer | NativePacker
) -> Iterator[Packed | RejectedRecord]:
    """The payloads of a shard, one or more per conversation, and a row for each rejected record.

    If there are many bad records, only the first ones have rows of their own (see the shard's
    bounds). A rejected record with a conversation also flags that conversation's payload. Bad
    content never raises. Each usable record is counted by exactly one `Packed.calls`.

    Args:
      packer: must be empty, and is emptied again.
    """
    native = packer if isinstance(packer, NativePacker) else None
    found = payloads_of(read_shard_into(native, shard, open_file), packer)
    return first_rejected(found, shard.bounds.max_rejected_rows)


def payloads_of(
    records: Iterable[RecordOrPacked], packer: Packer | NativePacker
) -> Iterator[Packed | RejectedRecord]:
    """Like `payloads_of_shard`, but from records."""
    for record in records:
        if isinstance(record, PackedBlock):
            yield from record.packed
            continue
        if isinstance(record, RejectedRecord):
            yield record
        yield from packer.add(record, _UNTIMED)
    yield from packer.rest()
