"""What a format of datasets has: how rows are written to a file, and read back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any, BinaryIO, Protocol, TypeAlias

import pyarrow as pa
from msgspec import Struct

from goodgain.pipeline.results.datasets import Dataset
from goodgain.transforms.core.records.epoch import moment_of_millis

Row = dict[str, Any]
WriteRows: TypeAlias = Callable[[Dataset, Iterable[Row], BinaryIO], None]
CONVERSATION_ID = "conversation_id"
# Columns of times, in formats whose files do not say which these are.
TIMES = ("first_timestamp", "last_timestamp", "timestamp", "window_start", "window_end")


class ReadRows(Protocol):
    """Reads the rows of a file, or only those of some conversations.

    The latter without decoding the other rows, as far as the format permits.
    """

    def __call__(
        self, file: BinaryIO, conversation_ids: Collection[str] | None = None, /
    ) -> Iterator[Row]:
        """The rows."""


class DatasetFormat(Struct, frozen=True):
    """How to write rows of a dataset to a file, and read them back.

    Rows are dicts by column name; times are milliseconds since 1970 UTC.

    Attributes:
      write_tables: writes rows in Arrow's tables; None if the format has to be given rows.
    """

    suffix: str
    write: WriteRows
    read: ReadRows
    write_tables: Callable[[Dataset, Iterable[pa.Table], BinaryIO], None] | None = None


def rows_of(conversation_ids: Collection[str] | None, rows: Iterable[Row]) -> Iterable[Row]:
    """The rows of some conversations; None = of all."""
    if conversation_ids is None:
        return rows
    return (row for row in rows if row[CONVERSATION_ID] in conversation_ids)


def iso_of_millis(millis: int | None) -> str | None:
    """A time as formats without a type for it have it: ISO 8601 in UTC; None for none."""
    return None if millis is None else moment_of_millis(millis).isoformat(timespec="milliseconds")
