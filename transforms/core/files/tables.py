"""Reads users' tables: CSV, JSON Lines or Parquet, row by row with their positions.

The content determines the format, not the name.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import suppress
from enum import StrEnum
from itertools import chain
from typing import IO, Any, AnyStr, BinaryIO

import msgspec
from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError, UsageError, problem_of
from goodgain.transforms.core.files.bounds import FIXED_BOUNDS
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    open_decompressed,
)
from goodgain.transforms.core.files.shard import Open

_HEAD = 64 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_OTHER_BEGINNINGS = (b"[", b"PK\x03\x04", b"\xff\xfe", b"\xfe\xff")
DELIMITERS = (",", "\t", ";", "|")
_ROWS_AT_ONCE = 4096
_LONGEST_ROW = 16 * 2**20
_LONGEST_HEADER = 2**20  # every row repeats its names in memory
_TOO_LONG = "the row is longer than {:,} bytes"
_decode_json = msgspec.json.Decoder().decode


class TableFormat(StrEnum):
    """The formats of a table."""

    CSV = "csv"
    JSONL = "jsonl"
    PARQUET = "parquet"


class TableFile(Struct, frozen=True):
    """A file that holds a table."""

    path: str
    format: TableFormat
    compression: Compression = Compression.NONE

    def position(self, row: int) -> str:
        """The position of a row, for people."""
        return f"{'row' if self.format is TableFormat.PARQUET else 'line'} {row}"


class BrokenTableError(GoodGainError):
    """A table that cannot be read to its end; the message is not a sentence."""


class TableRow(Struct, frozen=True):
    """A row.

    Attributes:
      number: number of its (first) line in a text, else of the row; from 1.
      values: by column; None if a line is not JSON.
      written: its original text, if it differs from `values`.
      problem: why its values may be in the wrong columns, like "more cells than ...".
    """

    number: int
    values: Any
    written: bytes | None = None
    problem: str | None = None


def recognise_table(path: str, open_file: Open) -> TableFile:
    """Detect a table's format from its beginning.

    Raises:
      UsageError: it is not a table, or cannot be read.
    """
    try:
        with open_file(path) as file:
            compression = compression_of(file.read(_HEAD))
            file.seek(0)
            head = (
                open_decompressed_file(file, compression).read(_HEAD).removeprefix(_BYTE_ORDER_MARK)
            )
    except (OSError, DamagedStreamError) as error:
        raise UsageError(f"{path} cannot be read: {problem_of(error)}.") from None
    text = head.lstrip()
    if not text:
        raise UsageError(f"{path} is empty.")
    is_parquet = head[:4] == b"PAR1"
    if is_parquet and compression is not Compression.NONE:
        raise UsageError(f"{path} is Parquet, compressed as a whole; decompress it first.")
    if not is_parquet and (text.startswith(_OTHER_BEGINNINGS) or b"\0" in head):
        raise UsageError(
            f"{path} is not CSV in UTF-8, JSON Lines or Parquet; save it as one of these."
        )
    if is_parquet:
        return TableFile(path, TableFormat.PARQUET)
    is_json = text.startswith(b"{")
    return TableFile(path, TableFormat.JSONL if is_json else TableFormat.CSV, compression)


def table_rows(
    table: TableFile, open_file: Open, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """The rows of a table in order.

    Args:
      columns: names of the columns to read; None = all.

    Raises:
      BrokenTableError: the file is truncated or damaged.
      OSError: it cannot be opened.
    """
    try:
        with open_file(table.path) as file:
            yield from _ROWS[table.format](file, table, columns)
    except DamagedStreamError as error:
        raise BrokenTableError(str(error)) from None


def open_decompressed_file(file: BinaryIO, compression: Compression) -> BinaryIO:
    """The content of a file, which stays open."""
    is_plain = compression is Compression.NONE
    return file if is_plain else open_decompressed(file, compression, closes=False)


def _lines(file: IO[AnyStr], longest: int) -> Iterator[AnyStr]:
    """The lines of a file, each of at most `longest` bytes or characters."""
    while line := file.readline(longest + 1):
        if len(line) > longest:
            raise BrokenTableError(_TOO_LONG.format(longest))
        yield line


def csv_rows(
    file: BinaryIO,
    columns: Set[str] | None = None,
    is_complete: bool = False,
    errors: str = "backslashreplace",
) -> Iterator[TableRow]:
    """The rows of a CSV table, whose first line that is not blank names its columns.

    Args:
      columns: as for `table_rows`; a row without a cell for one of them has a problem.
      is_complete: whether a row without a cell for any column has a problem.
      errors: how to decode bytes that are not UTF-8; by default they stay visible.

    Raises:
      BrokenTableError: a row is too long, its quotation marks are wrong, or a column is named
        twice.
    """
    text = io.TextIOWrapper(file, "utf-8-sig", errors=errors, newline="")
    try:
        yield from _rows_of_text(text, columns, is_complete)
    finally:
        with suppress(ValueError):  # the file is closed
            text.detach()  # which would close the file otherwise


def _rows_of_text(text: IO[str], columns: Set[str] | None, is_complete: bool) -> Iterator[TableRow]:
    number, header = 1, ""
    for number, header in enumerate(_lines(text, _LONGEST_HEADER), 1):  # noqa: B007
        if header.strip():
            break
    before, length = number - 1, 0

    def lines() -> Iterator[str]:
        """Limits the length of a row that spans several lines."""
        nonlocal length
        for line in _lines(text, _LONGEST_ROW):
            length += len(line)
            if length > _LONGEST_ROW:
                raise BrokenTableError(_TOO_LONG.format(_LONGEST_ROW))
            yield line

    csv.field_size_limit(_LONGEST_ROW)
    delimiter = max(DELIMITERS, key=header.count)
    # Strict: an open quotation mark would take all that follows into its cell.
    reader = csv.reader(chain([header], lines()), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
        if twice is not None:
            raise BrokenTableError(f"the header names the column {twice} twice")
        left_out = set() if columns is None else set(names) - columns
        number = before + reader.line_num + 1
        for values in reader:
            length = 0
            if any(values):
                # Values may have moved into a wrong column.
                problem = None
                if any(values[len(names) :]):
                    problem = "more cells than the header has names"
                elif len(values) < len(names) and (
                    is_complete
                    or (columns is not None and not columns.isdisjoint(names[len(values) :]))
                ):
                    problem = "fewer cells than the header has names"
                row = dict(zip(names, values, strict=False))
                if left_out:
                    row = {name: cell for name, cell in row.items() if name not in left_out}
                yield TableRow(number, row, problem=problem)
            number = before + reader.line_num + 1
    except csv.Error as error:
        raise BrokenTableError(
            f"{error} in the row of line {number}; check its quotation marks"
        ) from None


def _csv_rows(file: BinaryIO, table: TableFile, columns: Set[str] | None) -> Iterator[TableRow]:
    return csv_rows(open_decompressed_file(file, table.compression), columns)


def _json_rows(file: BinaryIO, table: TableFile, columns: Set[str] | None) -> Iterator[TableRow]:
    lines = _lines(open_decompressed_file(file, table.compression), _LONGEST_ROW)
    for number, line in enumerate(lines, start=1):
        if number == 1:
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line.strip():
            continue
        try:
            values = _decode_json(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            values = None
        yield TableRow(number, values, line)


def _parquet_rows(file: BinaryIO, table: TableFile, columns: Set[str] | None) -> Iterator[TableRow]:
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.arrow_values import rows_of_batch
    from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups

    number = 0
    try:
        parquet = ParquetRowGroups(file)
        wanted = [name for name in parquet.names if columns is None or name in columns]
        for group in range(parquet.count):
            for batch in parquet.batches(group, wanted, FIXED_BOUNDS, _ROWS_AT_ONCE):
                for values in rows_of_batch(batch, "backslashreplace"):  # as in CSV
                    number += 1
                    yield TableRow(number, values)
    except Exception as error:  # pyarrow raises all kinds of errors for a broken file
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the file system, not from pyarrow
        reason = str(error).partition("\n")[0]
        raise BrokenTableError(reason) from None


_ROWS = {
    TableFormat.CSV: _csv_rows,
    TableFormat.JSONL: _json_rows,
    TableFormat.PARQUET: _parquet_rows,
}
