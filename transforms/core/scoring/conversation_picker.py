"""Reads the records of few conversations out of files that hold many (for `goodgain explain`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

from msgspec import Struct

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.files.record_packer import PackedBlock
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.shard_reader import read_shard_into
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.packers import native_packer
from goodgain.transforms.core.scoring.packing import Packing


class OtherCall(Struct, frozen=True, gc=False):
    """A call of another conversation, of which only that is known."""

    conversation_id: str


ConversationRecord: TypeAlias = SearchCall | RejectedRecord | OtherCall


class ConversationPicker:
    """Reads files for some conversations; native code, if it is there, skips the others."""

    def __init__(self, wanted: Collection[str], rules: RuleTable, threads: int) -> None:
        self._packer = native_packer(Packing(rules, threads=threads), all_but=wanted)

    def of_shard(self, shard: FileShard, open_file: Open) -> Iterator[ConversationRecord]:
        """All calls of the conversations, all rejected rows, of other calls at least the ids."""
        for record in read_shard_into(self._packer, shard, open_file):
            if isinstance(record, PackedBlock):
                yield from (OtherCall(packed.conversation_id) for packed in record.packed)
            else:
                yield record
