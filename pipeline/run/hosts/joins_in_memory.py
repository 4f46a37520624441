"""Joins what stands beside the traces with conversations in one process.

For an engine that keeps all data in one process, where dictionaries cost a fraction of groupings:
one call of a DoFn holds all judgments or rows, and what all conversations ask of them, encoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput
from msgspec import Struct

from goodgain.pipeline.run.plan.given_tables import GivenTable, read_table
from goodgain.pipeline.run.plan.joined_judgments import Join
from goodgain.pipeline.run.plan.judgments import judgments_in
from goodgain.transforms.coders import StructCoder, apply_to_outputs
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload, record_ids
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.gather import Pair
from goodgain.transforms.qrels import Labelling

_PROBLEMS = "problems"
_COUNTS = "counts"
_REJECTED = "rejected"
_EVERYTHING = b""
_NOTHING = b""  # so that judgments and rows are read and counted also if there are no records


class _Requested(Struct, frozen=True, array_like=True):
    """Of an encoded `LabelRequest`, only whose it is."""

    conversation_id: str


_requests = StructCoder(LabelRequest)
_decode_requested = msgspec.msgpack.Decoder(_Requested).decode
_encode = msgspec.msgpack.Encoder().encode
_decode_record_ids = msgspec.msgpack.Decoder(tuple[str, list[str]]).decode


@dataclass(eq=False, repr=False)
class JoinQrelsInMemory(beam.PTransform):
    """`PCollection[LabelRequest]` to `Labelling`, as `ReadQrels` and `JoinQrels` give.

    Attributes:
      files: the files of judgments.
      max_held_bytes: memory limit; None = none.
      label_map: the gains of labels on another scale, like `2=1`; none = labels are gains.
      exclusions: judgments of these documents do not count; None = all count.
    """

    files: Sequence[InputFile]
    max_held_bytes: int | None = None
    label_map: tuple[str, ...] = ()
    exclusions: Exclusions | None = None

    def expand(self, requests: beam.PCollection[LabelRequest]) -> Labelling:
        """Apply the transform."""
        budget = MemoryBudget(self.max_held_bytes, on_engine=True)
        join = _JoinJudgments(self.files, budget, self.label_map, self.exclusions)
        together = requests | "Together" >> _GatherAll(_encode_request)
        return apply_to_outputs(together, "Join", join, Labelling)


class JoinedInMemory(NamedTuple):
    """The outputs of `JoinTableInMemory`.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), for `ScorePayloads`
        together with the payloads that were joined.
      rejected: PCollection[RejectedRecord], rows that cannot be used, or belong to no conversation.
      counts: PCollection[dict[str, int]], by dotted name.
    """

    payloads: beam.PCollection[Keyed]
    rejected: beam.PCollection[RejectedRecord]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class JoinTableInMemory(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, payloads, to `JoinedInMemory`.

    Gives what `ReadSideTable` and `JoinSideTable` give.

    Attributes:
      max_held_bytes: memory limit; None = none.
    """

    given: GivenTable[Any]
    max_held_bytes: int | None = None

    def expand(self, payloads: beam.PCollection[Keyed]) -> JoinedInMemory:
        """Apply the transform."""
        encode = _encode_record_ids if self.given.table.by_record else _encode_conversation
        join = _JoinRows(self.given, MemoryBudget(self.max_held_bytes, on_engine=True))
        together = payloads | "Together" >> _GatherAll(encode)
        return apply_to_outputs(together, "Join", join, JoinedInMemory)


@dataclass(eq=False, repr=False)
class _GatherAll(beam.PTransform):
    """Any PCollection to all of its elements, encoded, under one key; also if there are none."""

    encode: Callable[[Any], bytes]

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        nothing = elements.pipeline | "Nothing" >> beam.Create([_NOTHING])
        together = (
            elements | "Encode" >> beam.Map(_key, self.encode).with_output_types(Pair),
            nothing | "Key" >> beam.Map(_key).with_output_types(Pair),
        )
        return together | "AtLeastNothing" >> beam.Flatten() | "GroupByKey" >> beam.GroupByKey()


def _key(element: Any, encode: Callable[[Any], bytes] = bytes) -> Pair:
    return _EVERYTHING, encode(element)


def _encode_request(request: LabelRequest) -> bytes:
    return _requests.encode(request)


def _encode_record_ids(keyed: Keyed) -> bytes:
    conversation_id, packed = keyed
    return _encode((conversation_id, list(record_ids([packed]))))


def _encode_conversation(keyed: Keyed) -> bytes:
    return _encode((keyed[0], ()))


@dataclass(eq=False, repr=False)
class _JoinJudgments(beam.DoFn):
    """All encoded requests to payloads with labels, problems and counts."""

    files: Sequence[InputFile]
    budget: MemoryBudget
    label_map: tuple[str, ...]
    exclusions: Exclusions | None

    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Keyed | TaggedOutput]:
        _, requests = grouped
        judged, problems = judgments_in(
            self.files, open_plain, self.budget, label_map=self.label_map
        )
        for problem in problems:
            yield TaggedOutput(_PROBLEMS, problem)
        if problems:
            return
        join = Join(judged, self.exclusions)
        by_conversation: dict[str, list[bytes]] = {}
        for encoded in filter(None, requests):
            conversation_id = _decode_requested(encoded).conversation_id
            by_conversation.setdefault(conversation_id, []).append(encoded)
        for conversation_id, several in by_conversation.items():
            external = join.labels(list(map(_requests.decode, several)))
            if external.pools:  # else its topic has no judgments
                yield conversation_id, payload((), external=external)
        yield TaggedOutput(_COUNTS, {name: n for name, n in join.counts().items() if n})


@dataclass(eq=False, repr=False)
class _JoinRows(beam.DoFn):
    """The encoded record_ids of all payloads to payloads with rows, rejected rows and counts."""

    given: GivenTable[Any]
    budget: MemoryBudget

    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Keyed | TaggedOutput]:
        conversations: dict[str, list[str]] = {}
        for conversation_id, found in map(_decode_record_ids, filter(None, grouped[1])):
            conversations.setdefault(conversation_id, []).extend(found)
        joined = read_table(self.given, open_plain, self.budget).join(conversations)
        yield from joined.payloads
        for row in joined.rejected:
            yield TaggedOutput(_REJECTED, row)
        yield TaggedOutput(_COUNTS, joined.counts)
