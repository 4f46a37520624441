"""Reads the rows of tables in CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import suppress
from itertools import chain
from typing import IO, BinaryIO

from goodgain.transforms.core.files.table_row import (
    LONGEST_ROW,
    BrokenTableError,
    TableRow,
    limited_lines,
    row_too_long,
)

DELIMITERS = (",", "\t", ";", "|")
_LONGEST_HEADER = 2**20  # every row repeats its names in memory


def csv_rows(
    file: BinaryIO,
    columns: Set[str] | None = None,
    is_complete: bool = False,
    errors: str = "backslashreplace",
) -> Iterator[TableRow]:
    """The rows of a CSV table, whose first line that is not blank names its columns.

    Args:
      columns: names of the columns to read, None = all; a row without a cell for one of them has a
        problem.
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
    for number, header in enumerate(limited_lines(text, _LONGEST_HEADER), 1):  # noqa: B007
        if header.strip():
            break
    before, length = number - 1, 0

    def lines() -> Iterator[str]:
        """Limits the length of a row that spans several lines."""
        nonlocal length
        for line in limited_lines(text):
            length += len(line)
            if length > LONGEST_ROW:
                raise row_too_long()
            yield line

    csv.field_size_limit(LONGEST_ROW)
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
