"""Joins judgments with conversations in one process, by dictionaries instead of groupings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput
from msgspec import Struct

from goodgain.pipeline.run.plan.joined_judgments import Join
from goodgain.pipeline.run.plan.judgments import judgments_in
from goodgain.transforms.coders import StructCoder, apply_typed
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import LabelRequest, QrelsProblem
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import KEYED
from goodgain.transforms.gather import Pair
from goodgain.transforms.qrels import Labelling

_PROBLEMS = "problems"
_COUNTS = "counts"
_EVERYTHING = b""
_NO_REQUEST = b""  # so that judgments are read and counted also if there are no records


class _Requested(Struct, frozen=True, array_like=True):
    """Of an encoded `LabelRequest`, only whose it is."""

    conversation_id: str


_requests = StructCoder(LabelRequest)
_decode_requested = msgspec.msgpack.Decoder(_Requested).decode


@dataclass(eq=False, repr=False)
class JoinQrelsInMemory(beam.PTransform):
    """`PCollection[LabelRequest]` to `Labelling`, as `ReadQrels` and `JoinQrels` give.

    For an engine that keeps all data in one process, where it costs a fraction of the groupings:
    one call of a DoFn holds all judgments, and the encoded requests.

    Attributes:
      files: the files of judgments.
      max_held_bytes: memory limit; None = none.
      label_map: the gains of labels on another scale; None = labels are gains.
      exclusions: judgments of these documents do not count; None = all count.
    """

    files: Sequence[InputFile]
    max_held_bytes: int | None = None
    label_map: LabelMap | None = None
    exclusions: Exclusions | None = None

    def expand(self, requests: beam.PCollection[LabelRequest]) -> Labelling:
        """Apply the transform."""
        nothing = requests.pipeline | "NoRequest" >> beam.Create([(_EVERYTHING, _NO_REQUEST)])
        together = (
            requests | "Encode" >> beam.Map(_encode).with_output_types(Pair),
            nothing | "Nothing" >> beam.Map(_pass_on).with_output_types(Pair),
        )
        budget = MemoryBudget(self.max_held_bytes)
        join = _JoinAll(self.files, budget, self.label_map, self.exclusions)
        types = {"payloads": KEYED, _PROBLEMS: QrelsProblem, _COUNTS: Any}
        grouped = together | "AtLeastNothing" >> beam.Flatten() | "Together" >> beam.GroupByKey()
        return Labelling(*apply_typed(grouped, "Join", join, **types))


def _encode(request: LabelRequest) -> Pair:
    return _EVERYTHING, _requests.encode(request)


def _pass_on(pair: Pair) -> Pair:
    return pair


@dataclass(eq=False, repr=False)
class _JoinAll(beam.DoFn):
    """All encoded requests to payloads with labels, problems and counts."""

    files: Sequence[InputFile]
    budget: MemoryBudget
    label_map: LabelMap | None
    exclusions: Exclusions | None

    def process(
        self, grouped: tuple[bytes, Iterable[bytes]]
    ) -> Iterator[tuple[str, bytes] | TaggedOutput]:
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
