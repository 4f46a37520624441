"""Columns that say how to make their cells, so that every table and page of a subject has them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.document.model import Cell, TableBlock, TableColumn, table

_Row = TypeVar("_Row")


class CellColumn(Struct, Generic[_Row], frozen=True):
    """A column of a table, and its cell in a row."""

    column: TableColumn
    cell: Callable[[_Row], Cell | str]

    @property
    def fixed(self) -> CellColumn[_Row]:
        """The column whose numbers stay, whichever slice a page's reader chooses."""
        return CellColumn(replace(self.column, part=""), self.cell)


def numbers(
    heading: str,
    part: str,
    cell: Callable[[_Row], Cell | str],
    long: str = "",
    wide: bool = False,
    whole: bool = False,
) -> CellColumn[_Row]:
    """A column of numbers.

    Args:
      part, long, wide, whole: as in `TableColumn`.
    """
    column = TableColumn(heading, right=True, whole=whole, wide=wide, long=long, part=part)
    return CellColumn(column, cell)


def table_of(
    columns: Sequence[CellColumn[_Row]], rows: Iterable[_Row], caption: str = ""
) -> TableBlock:
    """A table with these columns."""
    return table(
        [column.column for column in columns],
        [[column.cell(row) for column in columns] for row in rows],
        caption,
    )


def texts_of(columns: Iterable[CellColumn[_Row]], row: _Row) -> dict[str, str]:
    """The texts of a row by the part that their column names."""
    return {column.column.part: _text(column.cell(row)) for column in columns if column.column.part}


def _text(cell: Cell | str) -> str:
    return cell if isinstance(cell, str) else cell.text
