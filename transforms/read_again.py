"""Read some conversations a second time, with everything that the first time left behind."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import apache_beam as beam

from transforms.core.files.reading import read_shard
from transforms.core.files.shard import FileShard
from transforms.core.files.wanted import only
from transforms.read import Traces, also_rejected, open_plain, traces_of


class ReadConversations(beam.PTransform):
    """`PCollection[FileShard]` to `Traces` of the conversations whose ids are given.

    Opens no file when there are none.

    Attributes:
      conversation_ids: PCollection[str], small enough for a worker's memory.
    """

    def __init__(self, conversation_ids: beam.PCollection[str]) -> None:
        super().__init__()
        self.conversation_ids = conversation_ids

    def expand(self, shards: beam.PCollection[FileShard]) -> Traces:
        """Apply the transform."""
        wanted = beam.pvalue.AsDict(self.conversation_ids | beam.Map(_with_nothing))
        return traces_of(shards, beam.ParDo(_ReadShardOf(), wanted))


class OnlyConversations(beam.PTransform):
    """`PCollection[tuple[str, T]]` to the same of the conversations whose ids are given.

    Attributes:
      conversation_ids: PCollection[str], small enough for a worker's memory.
    """

    def __init__(self, conversation_ids: beam.PCollection[str]) -> None:
        super().__init__()
        self.conversation_ids = conversation_ids

    def expand(self, keyed: beam.PCollection[Any]) -> beam.PCollection[Any]:
        """Apply the transform."""
        only = keyed | "Only" >> beam.Filter(
            _is_wanted, beam.pvalue.AsDict(self.conversation_ids | beam.Map(_with_nothing))
        )
        only.element_type = keyed.element_type
        return only


def _is_wanted(keyed: tuple[str, Any], wanted: Collection[str]) -> bool:
    return keyed[0] in wanted


def _with_nothing(conversation_id: str) -> tuple[str, None]:
    return conversation_id, None


class _ReadShardOf(beam.DoFn):
    def process(self, shard: FileShard, wanted: Collection[str]) -> Iterable[Any]:
        if not wanted:
            return ()
        records = read_shard(shard, open_plain, only(wanted))
        return also_rejected(record for record in records if record.conversation_id in wanted)
