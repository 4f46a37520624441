"""Reads the row groups of a Parquet file in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow.parquet as pq

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.conversation_filter import ConversationFilter
from goodgain.transforms.core.files.parquet_bounds import ROWS_AT_ONCE, rows_at_once, rows_in
from goodgain.transforms.core.files.parquet_headers import read_footer
from goodgain.transforms.core.files.shard import FileShard


class ParquetRowGroups:
    """An open Parquet file.

    pyarrow raises all kinds of errors on broken bytes, and so do the methods here.

    Attributes:
      count: number of its row groups.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Read the footer of a seekable file."""
        self._file = file
        self._footer = read_footer(file)
        self._parquet = pq.ParquetFile(file)
        self.names: list[str] = self._parquet.schema_arrow.names
        self.count = len(self._footer)

    def begins_in(self, shard: FileShard) -> Iterator[int]:
        """The row groups that begin in a shard; those with a bad offset belong to the first."""
        for group, chunks in enumerate(self._footer):
            begin = chunks[0].begin if chunks else 0
            if shard.start <= begin < shard.end or (shard.start == 0 and begin < 0):
                yield group

    def batches(
        self, group: int, columns: Sequence[str], bounds: ReadBounds, most_rows: int = ROWS_AT_ONCE
    ) -> Iterator[Any]:
        """The rows of a row group as pyarrow's RecordBatches, none larger than `most_rows`.

        Raises:
          RowGroupTooLargeError: a row may take too much memory.
        """
        chunks = self._footer[group]
        rows = rows_at_once(self._file, self._parquet, group, chunks, columns, bounds, most_rows)
        yield from self._parquet.iter_batches(
            rows, row_groups=[group], columns=columns, use_threads=False
        )

    def may_match(self, group: int, wanted: ConversationFilter) -> bool:
        """Whether a row group may have records of wanted conversations."""
        try:
            column = self._parquet.read_row_group(group, columns=["conversation_id"]).column(0)
            ids = column.to_pylist()
        except Exception:  # reading will report it
            return True
        return not all(isinstance(one, str) for one in ids) or not wanted.ids.isdisjoint(ids)

    def rows_in(self, group: int) -> int:
        """The number of rows of a row group, at most that which its pages can have."""
        claimed: int = self._parquet.metadata.row_group(group).num_rows
        return min(claimed, rows_in(self._file, self._parquet, self._footer[group]))
