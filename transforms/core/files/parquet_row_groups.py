"""Reads the row groups of a Parquet file in batches of so many rows that memory is bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.parquet_footer import read_footer
from goodgain.transforms.core.files.parquet_leaves import ROWS_AT_ONCE, OpenParquet
from goodgain.transforms.core.files.parquet_pages import DamagedPagesError
from goodgain.transforms.core.files.parquet_row_sizes import rows_at_once, rows_in
from goodgain.transforms.core.files.shard import FileShard


class ParquetRowGroups:
    """An open Parquet file.

    pyarrow raises all kinds of errors on broken bytes, and so do the methods here.

    Attributes:
      count: number of its row groups.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read the footer of a seekable file."""
        self._footer = read_footer(file)
        self._opened = OpenParquet(file)
        self.names: list[str] = self._opened.parquet.schema_arrow.names
        self.count = len(self._footer)

    def begins_in(self, shard: FileShard) -> Iterator[int]:
        """The row groups that begin in a shard; those with a bad offset belong to the first."""
        for group, described in enumerate(self._footer):
            begin = described.chunks[0].begin if described.chunks else 0
            if shard.start <= begin < shard.end or (shard.start == 0 and begin < 0):
                yield group

    def batches(
        self, group: int, columns: Sequence[str], bounds: ReadBounds, most_rows: int = ROWS_AT_ONCE
    ) -> Iterator[Any]:
        """The rows of a row group as pyarrow's RecordBatches, none larger than `most_rows`.

        Raises:
          DamagedPagesError: its columns do not have the values that they should.
          RowGroupTooLargeError: a row may take too much memory.
        """
        described = self._footer[group]
        if described.is_empty:
            return
        rows = rows_at_once(self._opened, group, described, columns, bounds, most_rows)
        left = described.rows
        for batch in self._opened.parquet.iter_batches(
            rows, row_groups=[group], columns=columns, use_threads=False
        ):
            left -= batch.num_rows
            yield batch
        if left:
            raise DamagedPagesError(f"{left:,} of its {described.rows:,} rows are missing")

    def rows_in(self, group: int) -> int:
        """The number of rows of a row group, at most that which its pages can have."""
        described = self._footer[group]
        return min(described.rows, rows_in(self._opened, described))
