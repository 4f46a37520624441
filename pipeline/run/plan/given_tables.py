"""Finds tables beside the traces, checks them before a run, and joins them in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from goodgain.pipeline.inputs.storage import Storage
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.input_formats import PARQUET
from goodgain.transforms.core.files.shard import InputFile, Open
from goodgain.transforms.core.files.side_table import (
    SideCounts,
    SideFile,
    SideTable,
    count_rows,
    read_rows,
    reject_row,
    rows_in_memory,
)
from goodgain.transforms.core.files.tables import TableFile, recognise_table
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import RowKey, UnusedRow
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.payload import payload

_CHECKED_ROWS = 1_000  # rows of each file, enough to notice that none is usable
Row = TypeVar("Row")
RecordIds = Mapping[str, Iterable[str]]  # of the records of each conversation that was read


class JoinedTable(Struct, frozen=True):
    """Rows or judgments that were sent to their conversations.

    Attributes:
      payloads: (conversation_id, payload), to be scored together with those of the records.
      counts: how much was joined and how much was not, by dotted name.
      rejected: rows that cannot be used.
    """

    payloads: list[tuple[str, bytes]]
    counts: dict[str, int]
    rejected: list[RejectedRecord] = []


class JoinableTable(Protocol):
    """What is held in this process beside the traces: judgments, labels or outcomes."""

    def join(self, conversations: RecordIds, requests: Iterable[LabelRequest] = ()) -> JoinedTable:
        """Send it to the conversations that were read.

        Args:
          conversations: asked for record_ids at most once.
          requests: what the records ask of judgments.
        """


class GivenTable(Struct, Generic[Row], frozen=True):
    """A table beside the traces, and where it is.

    Attributes:
      files: none if there is no such table; one that stands for rows that the caller holds.
      seen: the names of values in its first rows, see `SideTable.names_of`.
    """

    table: SideTable[Row]
    files: tuple[SideFile, ...] = ()
    seen: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether there is such a table."""
        return bool(self.files)

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(file.size for file in self.files)


class RowsHere(Struct, Generic[Row], frozen=True):
    """All rows of a table, in this process.

    Attributes:
      found: usable and rejected rows, and None for those that say nothing.
    """

    given: GivenTable[Row]
    found: list[Row | RejectedRecord | None]

    def usable(self) -> Iterator[Row]:
        """The usable rows."""
        for row in self.found:
            if row is not None and not isinstance(row, RejectedRecord):
                yield row

    def join(self, conversations: RecordIds, _: Iterable[LabelRequest] = ()) -> JoinedTable:
        """See `JoinableTable`."""
        table = self.given.table
        by_key: dict[RowKey, list[Row]] = {}
        for row in self.usable():
            by_key.setdefault(table.key_of(row), []).append(row)
        having_key: dict[RowKey, set[str]] = {}
        for conversation_id, record_ids in conversations.items():
            for key in table.keys_of(conversation_id, record_ids):
                if key in by_key:
                    having_key.setdefault(key, set()).add(conversation_id)
        counts = SideCounts(table)
        for found in self.found:
            counts.add(found)
        sums = counts.by_name
        rejected = [row for row in self.found if isinstance(row, RejectedRecord)]
        sent: list[tuple[str, bytes]] = []
        for key, rows in by_key.items():
            joined = table.join(rows, having_key.get(key, set()))
            if joined.conversation_id is not None:
                sent.append((joined.conversation_id, payload((), **joined.content)))
            rejected += self.reject(joined.unused)
            sums |= {name: sums.get(name, 0) + count for name, count in joined.counts.items()}
        return JoinedTable(sent, sums, rejected)

    def reject(self, unused: Iterable[UnusedRow]) -> list[RejectedRecord]:
        """The rows of `rejected_labels` or `rejected_outcomes` for rows that are not used."""
        return [reject_row(row, self.given.files) for row in unused]


def rows_held(rows: Iterable[Any], table: SideTable[Row]) -> RowsHere[Row]:
    """The rows of a table that the caller holds."""
    file = SideFile(TableFile(table.name, PARQUET), 0, 0)
    parsed = rows_in_memory(rows, file, table)
    found = list(parsed)
    return RowsHere(GivenTable(table, (file,), _names_in(found, table)), found)


def read_table(given: GivenTable[Row], open_file: Open, budget: MemoryBudget) -> RowsHere[Row]:
    """Read all rows.

    Raises:
      GoodGainError: there are more than `budget` allows.
    """
    rows = (row for file in given.files for row in read_rows(file, open_file, given.table))
    counted = count_rows(rows, given.table, budget)
    return RowsHere(given, list(counted))


def find_table(pattern: str, table: SideTable[Row], storage: Storage) -> GivenTable[Row]:
    """The files of a table, each checked so that a wrong one is noticed before the run.

    Raises:
      UsageError: the pattern matches none, or one of them cannot be read or has no rows, or none of
        its first rows is usable.
    """
    option = Remedy(table.name)
    found = find_given_files(pattern, table.name, option, storage)
    files = tuple(
        SideFile(recognise_table(file.path, storage.open), file.size, number)
        for number, file in enumerate(found)
    )
    seen: frozenset[str] = frozenset()
    for file in files:
        rows = read_rows(file, storage.open, table)
        seen |= _names_in_first(file, islice(rows, _CHECKED_ROWS), table, option)
    return GivenTable(table, files, seen)


def find_given_files(
    pattern: str, what: str, option: Remedy, storage: Storage
) -> tuple[InputFile, ...]:
    """The files beside the traces that a path or pattern matches.

    Args:
      what: what they hold, like "judgments", for messages.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    try:
        return tuple(storage.find([pattern]))
    except UsageError as error:
        text = str(error).replace("Input", f"The file of {what}", 1)
        raise UsageError(f"{text.rstrip('.')} (" + option + ").") from None


def _names_in_first(
    file: SideFile,
    rows: Iterable[Row | RejectedRecord | None],
    table: SideTable[Row],
    option: Remedy,
) -> frozenset[str]:
    """The names in the first rows of a file, which may be large, so that none is kept.

    Raises:
      UsageError: there are no rows, or none is usable.
    """
    first_rejected: RejectedRecord | None = None
    seen: frozenset[str] = frozenset()
    read = usable = 0
    for row in rows:
        read += 1
        if isinstance(row, RejectedRecord):
            first_rejected = first_rejected or row
        else:
            usable += 1
            seen |= _names_in([row], table)
    if not read:
        raise UsageError(
            f"{file.table.path} has no rows ("
            + option
            + "); the first line of a table names its columns."
        )
    if not usable and first_rejected is not None:
        raise UsageError(
            f"{file.table.path} has no {table.name} ("
            + option
            + f"); {first_rejected.position}: "
            + first_rejected.phrase("reason")
        )
    return seen


def _names_in(rows: Iterable[Row | RejectedRecord | None], table: SideTable[Row]) -> frozenset[str]:
    return frozenset(
        name
        for row in rows
        if row is not None and not isinstance(row, RejectedRecord)
        for name in table.names_of(row)
    )
