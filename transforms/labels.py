"""Reads labels of single results from files, and joins them with their records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import StructCoder, typed_outputs
from goodgain.transforms.core.files.labels import LabelFile, counted_labels, read_labels
from goodgain.transforms.core.judgments.result_labels import (
    RejectedLabel,
    ResultLabel,
    keys_of,
    place_labels,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload, record_ids
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import KEYED, Keyed
from goodgain.transforms.gather import Pair, flatten_pairs
from goodgain.transforms.read import REJECTED

_COUNTS = "counts"

# The first byte of a value is its kind, since one GroupByKey joins several kinds.
_REQUEST, _LABEL_OF_FILE = b"a", b"g"

_encode = msgspec.msgpack.Encoder().encode
_label = msgspec.msgpack.Decoder(ResultLabel).decode


class LabelsRead(NamedTuple):
    """The outputs of reading label files.

    Attributes:
      rejected: PCollection[RejectedRecord], unusable rows.
      counts: PCollection[dict[str, int]], `labels.read`, `labels.empty` and `labels.rejected`.
    """

    labels: beam.PCollection[ResultLabel]
    rejected: beam.PCollection[RejectedRecord]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class ReadLabels(beam.PTransform):
    """PBegin to `LabelsRead`. A file is read by one worker, row by row.

    Attributes:
      iteration_base: number of the first iteration of a turn, in labels and traces.
      max_held_bytes: see `ReadPayloads`.
    """

    files: Sequence[LabelFile]
    iteration_base: int = 1
    max_held_bytes: int | None = None

    def expand(self, begin: beam.pvalue.PBegin) -> LabelsRead:
        """Apply the transform."""
        files = begin | "Files" >> beam.Create(self.files, reshuffle=True)
        read = _ReadFile(self.iteration_base, MemoryBudget(self.max_held_bytes))
        types = {"labels": ResultLabel, REJECTED: RejectedRecord, _COUNTS: Any}
        return LabelsRead(*typed_outputs(files, "ReadFile", read, **types))


@dataclass(eq=False, repr=False)
class _ReadFile(beam.DoFn):
    iteration_base: int
    budget: MemoryBudget

    def process(self, file: LabelFile) -> Iterator[ResultLabel | TaggedOutput]:
        counts = dict.fromkeys(("labels.read", "labels.empty", "labels.rejected"), 0)
        labels = read_labels(file, open_plain, self.iteration_base)
        for found in counted_labels(labels, self.budget):
            counts["labels.read"] += 1
            if found is None:
                counts["labels.empty"] += 1
            elif isinstance(found, RejectedRecord):
                counts["labels.rejected"] += 1
                yield TaggedOutput(REJECTED, found)
            else:
                yield found
        yield TaggedOutput(_COUNTS, counts)


class LabelledPayloads(NamedTuple):
    """The outputs of joining payloads and labels.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), labels of existing
        conversations; for `ScorePayloads`, together with the payloads that were joined.
      rejected: PCollection[RejectedLabel], labels of other conversations. Labels that match no
        result of their conversation are rejected when it is scored.
    """

    payloads: beam.PCollection[Keyed]
    rejected: beam.PCollection[RejectedLabel]


@dataclass(eq=False, repr=False)
class JoinLabels(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, payloads of `ReadPayloads`, to `LabelledPayloads`.

    Labels are joined by conversation, record or span, so they spread over workers, which hold those
    of one conversation at a time. Works in the global window, on bounded input.
    """

    labels: beam.PCollection[ResultLabel]

    def expand(self, payloads: beam.PCollection[Keyed]) -> LabelledPayloads:
        """Apply the transform."""
        requests = payloads | "Request" >> beam.FlatMap(_requests)
        labels = self.labels | "Key" >> beam.Map(_key_and_label)
        grouped = flatten_pairs("Sides", requests, labels) | "GroupByKey" >> beam.GroupByKey()
        return LabelledPayloads(
            *typed_outputs(grouped, "Join", _Join(), payloads=KEYED, rejected=RejectedLabel)
        )


def _requests(keyed: Keyed) -> Iterator[Pair]:
    conversation_id, packed = keyed
    request = _REQUEST + conversation_id.encode()
    for key in keys_of(conversation_id, record_ids(packed)):
        yield _encode(key), request


def _key_and_label(label: ResultLabel) -> Pair:
    return _encode(label.key), _LABEL_OF_FILE + _encode(label)


class _Join(beam.DoFn):
    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Any]:
        _, values = grouped
        labels = [_label(value[1:]) for value in values if value[:1] == _LABEL_OF_FILE]
        if not labels:
            return
        conversations = {value[1:].decode() for value in values if value[:1] == _REQUEST}
        conversation_id, rejected = place_labels(labels, conversations)
        if conversation_id is not None:
            yield conversation_id, payload((), labels=labels)
        for one in rejected:
            yield TaggedOutput(REJECTED, one)


beam.coders.registry.register_coder(ResultLabel, StructCoder)
beam.coders.registry.register_coder(RejectedLabel, StructCoder)
