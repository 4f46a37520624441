"""Read some conversations a second time, with everything that the first time left behind."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import apache_beam as beam

from transforms.core.files.reading import read_shard
from transforms.core.files.shard import FileShard
from transforms.core.files.wanted import only
from transforms.core.records import SearchCall
from transforms.core.rejected import RejectedRecord
from transforms.read import REJECTED, Traces, open_plain


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
        outputs = shards | "ReadAgain" >> beam.ParDo(
            _ReadShardOf(), beam.pvalue.AsDict(self.conversation_ids | beam.Map(_with_nothing))
        ).with_outputs(REJECTED, main="calls")
        calls, rejected = outputs["calls"], outputs[REJECTED]
        calls.element_type = SearchCall
        rejected.element_type = RejectedRecord
        return Traces(calls, rejected, shards)


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
    def process(
        self, shard: FileShard, wanted: Collection[str]
    ) -> Iterator[SearchCall | beam.pvalue.TaggedOutput]:
        if not wanted:
            return
        for record in read_shard(shard, open_plain, only(wanted)):
            if record.conversation_id not in wanted:
                continue
            if isinstance(record, SearchCall):
                yield record
            else:
                yield beam.pvalue.TaggedOutput(REJECTED, record)
