"""A row of a table, whatever the table's format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, AnyStr

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError

LONGEST_ROW = 16 * 2**20


class BrokenTableError(GoodGainError):
    """A table that cannot be read to its end; the message is not a sentence."""


class TableRow(Struct, frozen=True):
    """A row.

    Attributes:
      number: number of its (first) line in a text, else of the row in the shard; from 1.
      values: by column; None if a line is not JSON.
      written: its original text, if it differs from `values`.
      problem: why its values may be in the wrong columns, like "more cells than ...".
      at: a number that increases through the file, in whichever shard; None in a text, where the
        number of the line does.
      inside: the place within the file in words; "" in a text.
    """

    number: int
    values: Any
    written: bytes | None = None
    problem: str | None = None
    at: int | None = None
    inside: str = ""


def limited_lines(file: IO[AnyStr], longest: int = LONGEST_ROW) -> Iterator[AnyStr]:
    """The lines of a file, each of at most `longest` bytes or characters.

    Raises:
      BrokenTableError: a line is longer.
    """
    while line := file.readline(longest + 1):
        if len(line) > longest:
            raise row_too_long(longest)
        yield line


def row_too_long(longest: int = LONGEST_ROW) -> BrokenTableError:
    """The error about a row that is longer than it may be."""
    return BrokenTableError(f"the row is longer than {longest:,} bytes")
