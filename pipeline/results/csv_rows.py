"""Rows of a dataset as CSV, for people with a spreadsheet; no value is an empty cell."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

from goodgain.pipeline.results.dataset_format import iso_of_millis
from goodgain.pipeline.results.datasets import Dataset, Kind
from goodgain.transforms.core.means.slices import slice_key

Row = Mapping[str, Any]
_FORMULA = ("=", "+", "-", "@")


class CsvWriter:
    """Writes rows to a file one by one."""

    def __init__(self, dataset: Dataset, file: BinaryIO) -> None:
        """Write the header.

        Args:
          file: where to write; it stays open.
        """
        self._columns = [(column.name, _CELLS.get(column.kind)) for column in dataset.columns]
        self._writer = csv.writer(_Utf8(file), lineterminator="\n")
        self._writer.writerow(name for name, _ in self._columns)

    def write(self, row: Row) -> None:
        """Write a row, given by column name."""
        self._writer.writerow(
            row[name] if cell is None or row[name] is None else cell(row[name])
            for name, cell in self._columns
        )


def write_csv(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    """Write rows of a dataset to a file, which stays open."""
    writer = CsvWriter(dataset, file)
    for row in rows:
        writer.write(row)


class _Utf8:
    """A file for text over one for bytes, which stays open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode())


def _quote_formula(text: str) -> str:
    """The text, with a quote if a spreadsheet would calculate it."""
    return f"'{text}" if text.startswith(_FORMULA) else text


_CELLS: Mapping[Kind, Callable[[Any], str | None]] = {
    "text": _quote_formula,
    "map": slice_key,
    "time": iso_of_millis,
}
