"""Reads tables beside the traces, like labels, and joins their rows with conversations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import StructCoder, apply_to_outputs, apply_typed
from goodgain.transforms.core.files.outcomes import OutcomesOfRow
from goodgain.transforms.core.files.side_table import (
    SideCounts,
    SideFile,
    SideTable,
    count_rows,
    read_rows,
    reject_row,
)
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.payload import payload, record_ids
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.gather import Pair, flatten_pairs
from goodgain.transforms.read import REJECTED

_COUNTS, _UNUSED = "counts", "unused"

# The first byte of a value is its kind, since one GroupByKey joins both.
_REQUEST, _ROW = b"a", b"r"

_encode = msgspec.msgpack.Encoder().encode


class SideTableRead(NamedTuple):
    """The outputs of reading a table beside the traces.

    Attributes:
      rows: the usable ones, of the table's `row_type`.
      rejected: PCollection[RejectedRecord], unusable rows.
      counts: PCollection[dict[str, int]], see `SideCounts`.
    """

    rows: beam.PCollection[Any]
    rejected: beam.PCollection[RejectedRecord]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class ReadSideTable(beam.PTransform):
    """PBegin to `SideTableRead`. A file is read by one worker, row by row.

    Attributes:
      max_held_bytes: see `ReadPayloads`.
    """

    table: SideTable[Any]
    files: Sequence[SideFile]
    max_held_bytes: int | None = None

    def expand(self, begin: beam.pvalue.PBegin) -> SideTableRead:
        """Apply the transform."""
        files = begin | "Files" >> beam.Create(self.files, reshuffle=True)
        read = ReadFile(self.table, MemoryBudget(self.max_held_bytes, on_engine=True))
        types = {"rows": self.table.row_type, REJECTED: RejectedRecord, _COUNTS: Any}
        return SideTableRead(*apply_typed(files, "ReadFile", read, **types))


@dataclass(eq=False, repr=False)
class ReadFile(beam.DoFn):
    """Reads the rows of one file, see `ReadSideTable`."""

    table: SideTable[Any]
    budget: MemoryBudget

    def process(self, file: SideFile) -> Iterator[Any]:
        """Read a file."""
        counts = SideCounts(self.table)
        rows = read_rows(file, open_plain, self.table)
        for row in count_rows(rows, self.table, self.budget):
            counts.add(row)
            if isinstance(row, RejectedRecord):
                yield TaggedOutput(REJECTED, row)
            elif row is not None:
                yield row
        yield TaggedOutput(_COUNTS, counts.by_name)


class SidePayloads(NamedTuple):
    """The outputs of joining payloads and a table beside the traces.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), rows of existing
        conversations; for `ScorePayloads`, together with the payloads that were joined.
      unused: PCollection[UnusedRow], other rows. Labels that match no result of their conversation
        are found when it is scored.
      counts: PCollection[dict[str, int]], by dotted name.
    """

    payloads: beam.PCollection[Keyed]
    unused: beam.PCollection[UnusedRow]
    counts: beam.PCollection[dict[str, int]]


@dataclass(eq=False, repr=False)
class JoinSideTable(beam.PTransform):
    """`PCollection[tuple[str, bytes]]`, payloads of `ReadPayloads`, to `SidePayloads`.

    Rows are joined by their keys, so they spread over workers, which hold those of one key at a
    time. Works in the global window, on bounded input.

    Attributes:
      rows: those of the table, as from `ReadSideTable`.
    """

    table: SideTable[Any]
    rows: beam.PCollection[Any]

    def expand(self, payloads: beam.PCollection[Keyed]) -> SidePayloads:
        """Apply the transform."""
        requests = payloads | "Request" >> beam.FlatMap(_requests, self.table)
        rows = self.rows | "Key" >> beam.Map(_key_and_row, self.table)
        grouped = flatten_pairs("Sides", requests, rows) | "GroupByKey" >> beam.GroupByKey()
        return apply_to_outputs(grouped, "Join", JoinKey(self.table), SidePayloads)


def _requests(keyed: Keyed, table: SideTable[Any]) -> Iterator[Pair]:
    conversation_id, packed = keyed
    request = _REQUEST + conversation_id.encode()
    for key in table.keys_of(conversation_id, record_ids([packed])):
        yield _encode(key), request


def _key_and_row(row: Any, table: SideTable[Any]) -> Pair:
    return _encode(table.key_of(row)), _ROW + _encode(row)


@dataclass(eq=False, repr=False)
class JoinKey(beam.DoFn):
    """Joins the rows and the conversations that share a key, see `JoinSideTable`."""

    table: SideTable[Any]

    def setup(self) -> None:
        """Set up the worker."""
        self._decode = msgspec.msgpack.Decoder(self.table.row_type).decode

    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Any]:
        """Join what was grouped."""
        rows, conversations = [], set()
        for value in grouped[1]:
            if value[:1] == _ROW:
                rows.append(self._decode(value[1:]))
            else:
                conversations.add(value[1:].decode())
        if not rows:
            return
        joined = self.table.join(rows, conversations)
        if joined.conversation_id is not None:
            yield joined.conversation_id, payload((), **joined.content)
        for unused in joined.unused:
            yield TaggedOutput(_UNUSED, unused)
        yield TaggedOutput(_COUNTS, joined.counts)


def to_rejected_rows(files: Sequence[SideFile]) -> beam.PTransform:
    """`PCollection[UnusedRow]` of these files to `PCollection[RejectedRecord]`."""
    return beam.Map(reject_row, files).with_output_types(RejectedRecord)


for _type in (ResultLabel, OutcomesOfRow, UnusedRow):
    beam.coders.registry.register_coder(_type, StructCoder)
