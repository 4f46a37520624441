"""Tables beside the traces, whose rows are joined with conversations: labels, and outcomes.

A `SideTable` says what a row means, by which keys it finds its conversation, and what becomes of
the rows that share a key. Reading, rejecting and counting are the same for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.shard import Open
from goodgain.transforms.core.files.table_row import BrokenTableError, TableRow
from goodgain.transforms.core.files.tables import TableFile, table_rows
from goodgain.transforms.core.memory_budget import MemoryBudget, rows_of
from goodgain.transforms.core.records.rejection import (
    RejectedRecord,
    payload_of_bytes,
    payload_of_mapping,
)
from goodgain.transforms.core.records.side_rows import RowKey, UnusedRow

Row = TypeVar("Row")


class SideFile(Struct, frozen=True):
    """A file that holds a table beside the traces.

    Attributes:
      number: its index among the files of the table, from 0.
    """

    table: TableFile
    size: int
    number: int


class UnusableRowError(GoodGainError):
    """A row that cannot be used; the message is a sentence."""

    def __init__(self, reason: str, field: str | None = None) -> None:
        super().__init__(reason)
        self.field = field


class JoinedRows(Struct, frozen=True):
    """What became of rows that share a key.

    Attributes:
      conversation_id: whose rows they are; None if none of them is used.
      content: what they add to a payload of the conversation, by name of an argument of `payload`.
      counts: by dotted name.
    """

    conversation_id: str | None
    content: dict[str, Any]
    unused: list[UnusedRow]
    counts: dict[str, int]


class SideTable(Protocol[Row]):
    """One kind of table beside the traces; frozen, since it travels to workers."""

    @property
    def name(self) -> str:
        """What the rows hold, as in options, counts and messages: `labels`."""

    @property
    def row_type(self) -> type[Row]:
        """The Struct of a usable row."""

    @property
    def columns(self) -> frozenset[str] | None:
        """The columns to read; None = every one."""

    @property
    def by_record(self) -> bool:
        """Whether rows may name a record, and not its conversation."""

    def parse(self, file: int, number: int, row: Mapping[Any, Any]) -> Row | None:
        """A usable row; None if it says nothing.

        Args:
          file: number of the file, from 0.
          number: number of the line or row, from 1.

        Raises:
          UnusableRowError: it cannot be used.
        """

    def conversation_of(self, row: Mapping[Any, Any]) -> Any:
        """What a row of the file has for its conversation_id, if anything."""

    def key_of(self, row: Row) -> RowKey:
        """The key by which a row finds its conversation."""

    def names_of(self, row: Row) -> Iterable[str]:
        """The names of the values that a row gives, if it gives values by name."""

    def keys_of(self, conversation_id: str, record_ids: Iterable[str]) -> Iterable[RowKey]:
        """The keys that rows of a conversation may have.

        Args:
          record_ids: those of its records.
        """

    def join(self, rows: Sequence[Row], conversations: AbstractSet[str]) -> JoinedRows:
        """Join the rows that share a key.

        Args:
          rows: at least one, in any order.
          conversations: those that have the key.
        """


def read_rows(
    file: SideFile, open_file: Open, table: SideTable[Row]
) -> Iterator[Row | RejectedRecord | None]:
    """Every row of a file in order: a usable one, a rejected one, or None if it says nothing."""
    number = 0
    try:
        for row in table_rows(file.table, open_file, table.columns):
            number = row.number
            found = _parse_or_reject(file, row, table)
            yield found
    except (OSError, BrokenTableError) as error:
        reason = f"The file cannot be read from here on ({error})."
        yield RejectedRecord(file.table.path, file.table.position(number + 1), reason)


def rows_in_memory(
    rows: Iterable[Any], file: SideFile, table: SideTable[Row]
) -> Iterator[Row | RejectedRecord | None]:
    """Like `read_rows`, for rows in memory; rejected rows have `file` as their source."""
    for number, row in enumerate(rows, start=1):
        found = _parse_or_reject(file, TableRow(number, row), table)
        yield found


def count_rows(
    rows: Iterable[Row | RejectedRecord | None], table: SideTable[Row], budget: MemoryBudget
) -> Iterator[Row | RejectedRecord | None]:
    """The rows of a table; `budget` counts them, and raises beyond its limit."""
    what = rows_of(table.name)
    for row in rows:
        if isinstance(row, RejectedRecord):
            budget.count_read(row.conversation_id, row.reason, row.payload, what=what)
        elif row is not None:
            budget.count_label(*table.key_of(row), *table.names_of(row), what=what)
        yield row


class SideCounts:
    """How many rows of a table were read, say nothing and were rejected.

    Attributes:
      by_name: by dotted name, like `labels.read`.
    """

    def __init__(self, table: SideTable[Any]) -> None:
        self._read, self._empty, self._rejected = (
            f"{table.name}.{fate}" for fate in ("read", "empty", "rejected")
        )
        self.by_name = dict.fromkeys((self._read, self._empty, self._rejected), 0)

    def add(self, row: object) -> None:
        """Count one row of `read_rows`."""
        self.by_name[self._read] += 1
        if row is None:
            self.by_name[self._empty] += 1
        elif isinstance(row, RejectedRecord):
            self.by_name[self._rejected] += 1


def reject_row(unused: UnusedRow, files: Sequence[SideFile]) -> RejectedRecord:
    """The row of `rejected_labels` or `rejected_outcomes` for a row that was not used."""
    table, reason = files[unused.place.file].table, unused.reason
    if unused.other is not None:
        of_other = files[unused.other.file].table
        reason += f" {of_other.path}, {of_other.position(unused.other.row)}{unused.ending}"
    return RejectedRecord(
        table.path,
        table.position(unused.place.row),
        reason,
        conversation_id=unused.conversation_id,
        payload=unused.payload,
    )


def _parse_or_reject(
    file: SideFile, row: TableRow, table: SideTable[Row]
) -> Row | RejectedRecord | None:
    values = row.values
    try:
        if row.problem is not None:
            raise UnusableRowError(f"The row has {row.problem}.")
        if not isinstance(values, Mapping):
            raise UnusableRowError("The row is not an object with named fields.")
        return table.parse(file.number, row.number, values)
    except UnusableRowError as error:
        conversation_id = table.conversation_of(values) if isinstance(values, Mapping) else None
        return RejectedRecord(
            file.table.path,
            file.table.position(row.number),
            error.message,
            error.field,
            conversation_id if isinstance(conversation_id, str) else None,
            payload_of_mapping(values) if row.written is None else payload_of_bytes(row.written),
        )
