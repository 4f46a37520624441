"""Reads outcomes of conversations from files, and joins them with their records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import StructCoder, typed_outputs
from goodgain.transforms.core.files.labels import LabelFile
from goodgain.transforms.core.files.outcomes import (
    OutcomesOfRow,
    UnusedOutcomes,
    counted_outcomes,
    join_outcomes,
    read_outcomes,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import KEYED, Keyed
from goodgain.transforms.gather import Pair, flatten_pairs
from goodgain.transforms.read import REJECTED

_COUNTS, _UNUSED = "counts", "unused"
# The first byte of a value is its kind, since one GroupByKey joins several kinds.
_REQUEST, _OUTCOMES = b"a", b"o"

# A row in a stream of payloads begins with the length of a frame that has no content.
_NO_FRAME = bytes(4)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(OutcomesOfRow).decode


class OutcomesRead(NamedTuple):
    """The outputs of reading files of outcomes.

    Attributes:
      rejected: PCollection[RejectedRecord], unusable rows.
      counts: PCollection[dict[str, int]], `outcomes.read`, `outcomes.empty`, `outcomes.rejected`.
    """

    outcomes: beam.PCollection[OutcomesOfRow]
    rejected: beam.PCollection[RejectedRecord]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class ReadOutcomes(beam.PTransform):
    """PBegin to `OutcomesRead`. A file is read by one worker, row by row.

    Attributes:
      names: of the outcomes to read; None = every column.
      max_held_bytes: see `ReadPayloads`.
    """

    files: Sequence[LabelFile]
    names: Collection[str] | None = None
    max_held_bytes: int | None = None

    def expand(self, begin: beam.pvalue.PBegin) -> OutcomesRead:
        """Apply the transform."""
        files = begin | "Files" >> beam.Create(self.files, reshuffle=True)
        read = _ReadOutcomeFile(self.names, MemoryBudget(self.max_held_bytes))
        types = {"outcomes": OutcomesOfRow, REJECTED: RejectedRecord, _COUNTS: Any}
        return OutcomesRead(*typed_outputs(files, "ReadFile", read, **types))


@dataclass(eq=False, repr=False)
class _ReadOutcomeFile(beam.DoFn):
    names: Collection[str] | None
    budget: MemoryBudget

    def process(self, file: LabelFile) -> Iterator[OutcomesOfRow | TaggedOutput]:
        counts = dict.fromkeys(("outcomes.read", "outcomes.empty", "outcomes.rejected"), 0)
        rows = read_outcomes(file, open_plain, self.names)
        for found in counted_outcomes(rows, self.budget):
            counts["outcomes.read"] += 1
            if found is None:
                counts["outcomes.empty"] += 1
            elif isinstance(found, RejectedRecord):
                counts["outcomes.rejected"] += 1
                yield TaggedOutput(REJECTED, found)
            else:
                yield found
        yield TaggedOutput(_COUNTS, counts)


class OutcomePayloads(NamedTuple):
    """The outputs of joining payloads and outcomes.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), outcomes of existing
        conversations; for `ScorePayloads`, together with the payloads that were joined.
      unused: PCollection[UnusedOutcomes].
      counts: PCollection[dict[str, int]], `outcomes.joined`, `outcomes.repeated` and
        `outcomes.rejected`.
    """

    payloads: beam.PCollection[Keyed]
    unused: beam.PCollection[UnusedOutcomes]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class JoinOutcomes(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, payloads of `ReadPayloads`, to `OutcomePayloads`.

    Works in the global window, on bounded input.
    """

    outcomes: beam.PCollection[OutcomesOfRow]

    def expand(self, payloads: beam.PCollection[Keyed]) -> OutcomePayloads:
        """Apply the transform."""
        requests = payloads | "Request" >> beam.Map(_request)
        outcomes = self.outcomes | "Key" >> beam.Map(_key_and_outcomes)
        grouped = flatten_pairs("Sides", requests, outcomes) | "GroupByKey" >> beam.GroupByKey()
        types = {"payloads": KEYED, _UNUSED: UnusedOutcomes, _COUNTS: Any}
        return OutcomePayloads(*typed_outputs(grouped, "Join", _JoinOutcomesOfOne(), **types))


def keyed_row(row: OutcomesOfRow) -> Keyed:
    """A row among payloads, by conversation."""
    return row.conversation_id, _NO_FRAME + _encode(row)


def is_row(packed: bytes) -> bool:
    """Whether this is a row of `keyed_row`, and not a payload."""
    return packed.startswith(_NO_FRAME)


def row_in(packed: bytes) -> OutcomesOfRow:
    """The row of `keyed_row`."""
    return _decode(memoryview(packed)[len(_NO_FRAME) :])


def _request(keyed: Keyed) -> Pair:
    return keyed[0].encode(), _REQUEST


def _key_and_outcomes(row: OutcomesOfRow) -> Pair:
    return row.conversation_id.encode(), _OUTCOMES + _encode(row)


class _JoinOutcomesOfOne(beam.DoFn):
    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Any]:
        key, together = grouped
        values = list(together)
        rows = [_decode(value[1:]) for value in values if value[:1] == _OUTCOMES]
        if not rows:
            return
        joined = join_outcomes(rows, exists=_REQUEST in values)
        if joined.values:
            yield key.decode(), payload((), outcomes=joined.values)
        for one in joined.unused:
            yield TaggedOutput(_UNUSED, one)
        yield TaggedOutput(
            _COUNTS,
            {
                "outcomes.joined": joined.joined,
                "outcomes.repeated": joined.repeated,
                "outcomes.rejected": len(joined.unused),
            },
        )


beam.coders.registry.register_coder(OutcomesOfRow, StructCoder)
beam.coders.registry.register_coder(UnusedOutcomes, StructCoder)
