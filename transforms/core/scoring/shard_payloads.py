"""Reads one shard of a file into payloads: the work before the shuffle, without Beam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from goodgain.transforms.core.files.conversation_filter import filter_for
from goodgain.transforms.core.files.record_packer import PackedBlock, RecordOrPacked
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.shard_reader import (
    Open,
    read_shard,
    read_shard_into,
)
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.rejected import RejectedRecord, first_rejected
from goodgain.transforms.core.records.search_call import SearchCall, canonical_encoding
from goodgain.transforms.core.scoring.delivery import tied
from goodgain.transforms.core.scoring.native_packing import NativePacker
from goodgain.transforms.core.scoring.packing import Packed, Packer
from goodgain.transforms.core.scoring.payload import payload, unpack

Ties = Mapping[str, frozenset[bytes]]

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
    return first_rejected(found, shard.bounds.rejected_rows)


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


def ties_of(conversation_id: str, packed: bytes) -> tuple[str, frozenset[bytes]]:
    """The digests of the records whose canonical encodings are needed to break ties."""
    calls = unpack([packed]).calls
    return conversation_id, frozenset(calls[at].record_digest for at in tied(calls))


def encodings_of_shard(
    shard: FileShard, open_file: Open, ties: Ties
) -> Iterator[tuple[str, bytes]]:
    """(conversation_id, payload) with the canonical encodings that the first pass did not keep.

    Args:
      ties: from `ties_of`, by conversation_id.
    """
    return encodings_of(read_shard(shard, open_file, filter_for(ties)), ties)


def encodings_of(
    records: Iterable[SearchCall | RejectedRecord], ties: Ties
) -> Iterator[tuple[str, bytes]]:
    """Like `encodings_of_shard`, but from records."""
    for record in records:
        if isinstance(record, SearchCall) and record.conversation_id in ties:
            digest = record_digest(record_encoding(record))
            if digest in ties[record.conversation_id]:
                encodings = {digest: canonical_encoding(record)}
                yield record.conversation_id, payload((), encodings=encodings)
