"""Reads outcomes of conversations: a CSV, JSON Lines, Avro or Parquet table, a row for each.

A row has a `conversation_id` (or a `query_id`, as judges of benchmarks write it), and an outcome in
each other column: a number, or true or false for 1 and 0. Empty cells are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import isfinite
from typing import Any, ClassVar

from msgspec import Struct

from goodgain.transforms.core.files.side_table import JoinedRows, UnusableRowError
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.records.coercion import is_blank
from goodgain.transforms.core.records.rejection import payload_of_mapping
from goodgain.transforms.core.records.side_rows import RowKey, RowPlace, UnusedRow
from goodgain.transforms.core.remedy import Remedy

_CONVERSATION = "conversation_id"
_IDENTITIES = (_CONVERSATION, "query_id")  # the first that a row has counts
_WORDS = {"true": 1.0, "false": 0.0}
NO_RECORD = "No record has this conversation_id."
NO_RECORD_CAME = "No record with this conversation_id has come."
OPEN = "The conversation was still open when the stream was stopped."


class OutcomesOfRow(Struct, frozen=True, array_like=True):
    """The outcomes of one conversation, in a row of a table.

    Attributes:
      file: number of its file, from 0.
      row: number of its line or row, from 1.
      conversation_id: whose outcomes these are.
      values: by name; at least one.

    Example:
      >>> import apache_beam as beam
      >>> from goodgain import Closing, OutcomesOfRow, ScoreStreamedPayloads, Scoring
      >>> judged = OutcomesOfRow(file=0, row=1, conversation_id="c", values={"correct": 1.0})
      >>> outcomes = beam.Pipeline() | beam.Create([judged])
      >>> score = ScoreStreamedPayloads(Scoring.default(), Closing(), outcomes=outcomes)
    """

    file: int
    row: int
    conversation_id: str
    values: dict[str, float]


class JoinedOutcomes(Struct, frozen=True):
    """The rows of one conversation, joined.

    Attributes:
      joined, repeated: number of rows that gave an outcome, and that said again what others said.
    """

    values: dict[str, float]
    joined: int
    repeated: int
    unused: list[UnusedRow]


class OutcomeTable(Struct, frozen=True):
    """Outcomes of conversations as a `SideTable`.

    Attributes:
      names: of the outcomes to read; None = every column.
    """

    name: ClassVar = "outcomes"
    row_type: ClassVar = OutcomesOfRow
    by_record: ClassVar = False

    names: tuple[str, ...] | None = None

    @property
    def columns(self) -> frozenset[str] | None:
        """See `SideTable`."""
        return None if self.names is None else frozenset((*_IDENTITIES, *self.names))

    def parse(self, file: int, number: int, row: Mapping[Any, Any]) -> OutcomesOfRow | None:
        """See `SideTable`; a row without a value says nothing."""
        conversation_id = self.conversation_of(row)
        if not isinstance(conversation_id, str) or not conversation_id:
            raise UnusableRowError("The row has no conversation_id.", _CONVERSATION)
        wanted = [name for name in row if name not in _IDENTITIES]
        wanted = [name for name in wanted if self.names is None or name in self.names]
        values = {name: _number(name, row[name]) for name in wanted if not is_blank(row[name])}
        return OutcomesOfRow(file, number, conversation_id, values) if values else None

    def conversation_of(self, row: Mapping[Any, Any]) -> Any:
        """See `SideTable`."""
        identity = next((row[name] for name in _IDENTITIES if not is_blank(row.get(name))), None)
        is_number = isinstance(identity, int) and not isinstance(identity, bool)
        return str(identity) if is_number else identity

    def key_of(self, row: OutcomesOfRow) -> RowKey:
        """See `SideTable`."""
        return _CONVERSATION, row.conversation_id

    def names_of(self, row: OutcomesOfRow) -> Iterable[str]:
        """See `SideTable`."""
        return row.values

    def keys_of(self, conversation_id: str, record_ids: Iterable[str]) -> Iterable[RowKey]:
        """See `SideTable`."""
        return [(_CONVERSATION, conversation_id)]

    def join(self, rows: Sequence[OutcomesOfRow], conversations: AbstractSet[str]) -> JoinedRows:
        """See `SideTable`."""
        joined = join_outcomes(rows, exists=bool(conversations))
        return JoinedRows(
            rows[0].conversation_id if joined.values else None,
            {"outcomes": joined.values},
            joined.unused,
            {
                "outcomes.joined": joined.joined,
                "outcomes.repeated": joined.repeated,
                "outcomes.rejected": len(joined.unused),
            },
        )


def join_outcomes(rows: Sequence[OutcomesOfRow], exists: bool) -> JoinedOutcomes:
    """Join the rows of one conversation; of two that contradict each other the first counts.

    Args:
      exists: whether a record has this conversation_id.
    """
    rows = sorted(rows, key=lambda row: (row.file, row.row))
    if not exists:
        return JoinedOutcomes({}, 0, 0, mark_unused(rows, NO_RECORD))
    values: dict[str, float] = {}
    first: dict[str, OutcomesOfRow] = {}
    joined = repeated = 0
    unused = []
    for row in rows:
        other = [name for name, value in row.values.items() if values.get(name, value) != value]
        if other:
            reason = f"An earlier row gives the conversation another {other[0]}, which counts:"
            unused.append(_unused_row(row, reason, first[other[0]]))
            continue
        new = row.values.keys() - values.keys()
        joined, repeated = joined + bool(new), repeated + (not new)
        values |= row.values
        first |= dict.fromkeys(new, row)
    return JoinedOutcomes(values, joined, repeated, unused)


def mark_unused(rows: Iterable[OutcomesOfRow], reason: str) -> list[UnusedRow]:
    """Rows of which none is used, for one reason."""
    return [_unused_row(row, reason) for row in rows]


def _unused_row(row: OutcomesOfRow, reason: str, other: OutcomesOfRow | None = None) -> UnusedRow:
    return UnusedRow(
        RowPlace(row.file, row.row),
        reason,
        payload_of_mapping({_CONVERSATION: row.conversation_id, **row.values}),
        row.conversation_id,
        None if other is None else RowPlace(other.file, other.row),
    )


def _number(name: str, value: Any) -> float:
    if not fits_column(name):
        raise UnusableRowError(
            f"{name!r} cannot be the name of an outcome: use letters, digits and single _.", name
        )
    try:
        number = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
        number = float(value) if number is None else number
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise UnusableRowError(
            f"{name} must be a number, or true or false; name the columns with outcomes ("
            + Remedy("outcome")
            + ") if others are none.",
            name,
        )
    return number
