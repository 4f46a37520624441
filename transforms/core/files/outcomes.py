"""Reads outcomes of conversations: a CSV, JSON Lines or Parquet table, one row per conversation.

A row has a `conversation_id` (or a `query_id`, as judges of benchmarks write it), and an outcome in
each other column: a number, or true or false for 1 and 0. Empty cells are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.labels import LabelFile
from goodgain.transforms.core.files.shard import Open
from goodgain.transforms.core.files.tables import BrokenTableError, TableRow, table_rows
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.records.rejected import (
    RejectedRecord,
    payload_of_bytes,
    payload_of_mapping,
)
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


class UnusedOutcomes(Struct, frozen=True, array_like=True):
    """A row that was not used.

    Attributes:
      reason: why, in one sentence, to be followed by the place of `other` if there is one.
    """

    row: OutcomesOfRow
    reason: str
    other: OutcomesOfRow | None = None


class JoinedOutcomes(Struct, frozen=True):
    """The rows of one conversation, joined.

    Attributes:
      joined, repeated: number of rows that gave an outcome, and that said again what others said.
    """

    values: dict[str, float]
    joined: int
    repeated: int
    unused: list[UnusedOutcomes]


OutcomeRow = OutcomesOfRow | RejectedRecord | None


class _OutcomeRowError(GoodGainError):
    """A row that cannot be used; the message is a sentence."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


def read_outcomes(
    file: LabelFile, open_file: Open, names: Collection[str] | None = None
) -> Iterator[OutcomeRow]:
    """Every row of a file in order: outcomes, a rejected row, or None if it has no outcome.

    Args:
      names: of the outcomes to read; None = every column.
    """
    number = 0
    columns = None if names is None else frozenset((*_IDENTITIES, *names))
    try:
        for row in table_rows(file.table, open_file, columns):
            number = row.number
            yield _outcomes_or_rejected(file, row, names)
    except (OSError, BrokenTableError) as error:
        reason = f"The file cannot be read from here on ({error})."
        yield RejectedRecord(file.table.path, file.table.position(number + 1), reason)


def outcomes_of_rows(
    rows: Iterable[Any], file: LabelFile, names: Collection[str] | None = None
) -> Iterator[OutcomeRow]:
    """Like `read_outcomes`, for rows in memory; rejected rows have `file` as their source."""
    for number, row in enumerate(rows, start=1):
        yield _outcomes_or_rejected(file, TableRow(number, row), names)


def counted_outcomes(rows: Iterable[OutcomeRow], budget: MemoryBudget) -> Iterator[OutcomeRow]:
    """The rows of a file; `budget` counts them, and raises beyond its limit."""
    for row in rows:
        if isinstance(row, RejectedRecord):
            budget.count_read(row.conversation_id, row.reason, row.payload)
        elif row is not None:
            budget.count_label(row.conversation_id, *row.values)
        yield row


def join_outcomes(rows: Sequence[OutcomesOfRow], exists: bool) -> JoinedOutcomes:
    """Join the rows of one conversation; of two that contradict each other the first counts.

    Args:
      exists: whether a record has this conversation_id.
    """
    rows = sorted(rows, key=lambda one: (one.file, one.row))
    if not exists:
        return JoinedOutcomes({}, 0, 0, unused_rows(rows, NO_RECORD))
    values: dict[str, float] = {}
    first: dict[str, OutcomesOfRow] = {}
    joined = repeated = 0
    unused = []
    for row in rows:
        other = [name for name, value in row.values.items() if values.get(name, value) != value]
        if other:
            reason = f"An earlier row gives the conversation another {other[0]}, which counts:"
            unused.append(UnusedOutcomes(row, reason, first[other[0]]))
            continue
        new = row.values.keys() - values.keys()
        joined, repeated = joined + bool(new), repeated + (not new)
        values |= row.values
        first |= dict.fromkeys(new, row)
    return JoinedOutcomes(values, joined, repeated, unused)


def unused_rows(rows: Iterable[OutcomesOfRow], reason: str) -> list[UnusedOutcomes]:
    """Rows of which none is used, for one reason."""
    return [UnusedOutcomes(row, reason) for row in rows]


def unused_record(unused: UnusedOutcomes, files: Sequence[LabelFile]) -> RejectedRecord:
    """The row of `rejected_outcomes` for outcomes that were not used."""
    row, other = unused.row, unused.other
    table, reason = files[row.file].table, unused.reason
    if other is not None:
        of_other = files[other.file].table
        reason += f" {of_other.path}, {of_other.position(other.row)}."
    return RejectedRecord(
        table.path,
        table.position(row.row),
        reason,
        conversation_id=row.conversation_id,
        payload=payload_of_mapping({_CONVERSATION: row.conversation_id, **row.values}),
    )


def _outcomes_or_rejected(
    file: LabelFile, row: TableRow, names: Collection[str] | None
) -> OutcomeRow:
    values = row.values
    try:
        if row.problem is not None:
            raise _OutcomeRowError(f"The row has {row.problem}.")
        return _outcomes(file.number, row.number, values, names)
    except _OutcomeRowError as error:
        identity = _identity(values) if isinstance(values, Mapping) else None
        return RejectedRecord(
            file.table.path,
            file.table.position(row.number),
            str(error),
            error.field,
            identity if isinstance(identity, str) else None,
            payload_of_mapping(values) if row.written is None else payload_of_bytes(row.written),
        )


def _outcomes(
    file: int, number: int, row: Any, names: Collection[str] | None
) -> OutcomesOfRow | None:
    if not isinstance(row, Mapping):
        raise _OutcomeRowError("The row is not an object with named fields.")
    identity = _identity(row)
    if not isinstance(identity, str) or not identity:
        raise _OutcomeRowError("The row has no conversation_id.", _CONVERSATION)
    wanted = [name for name in row if name not in _IDENTITIES]
    wanted = [name for name in wanted if names is None or name in names]
    values = {name: _number(name, row[name]) for name in wanted if not _is_blank(row[name])}
    return OutcomesOfRow(file, number, identity, values) if values else None


def _identity(row: Mapping[str, Any]) -> Any:
    identity = next((row[name] for name in _IDENTITIES if not _is_blank(row.get(name))), None)
    is_number = isinstance(identity, int) and not isinstance(identity, bool)
    return str(identity) if is_number else identity


def _is_blank(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _number(name: str, value: Any) -> float:
    if not fits_column(name):
        raise _OutcomeRowError(
            f"{name!r} cannot be the name of an outcome: use letters, digits and single _.", name
        )
    try:
        number = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
        number = float(value) if number is None else number
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not isfinite(number):
        raise _OutcomeRowError(
            f"{name} must be a number, or true or false; name the columns with outcomes "
            f"({Remedy('outcome')}) if others are none.",
            name,
        )
    return number
