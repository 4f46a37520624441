"""The leaves of the columns in a Parquet row group: what their pages claim, and their values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, BinaryIO

import pyarrow.parquet as pq
from msgspec import Struct

from goodgain.transforms.core.files.parquet_footer import RowGroup
from goodgain.transforms.core.files.parquet_pages import MostLevels, Pages, pages_of

ROWS_AT_ONCE = 128
_LARGEST_NUMBER = 12


class Leaf(Struct):
    """One column chunk of a leaf.

    Attributes:
      path: path of the column, with dots.
      levels: nesting levels of lists and maps around it.
      list: the innermost of these (`Chunk.list`).
      size: bytes of each value; None if they differ.
      codec: the number of the codec of its pages.
    """

    path: str
    levels: int
    list: int | None
    size: int | None
    packed: int
    codec: int
    pages: Pages

    @property
    def longest_value(self) -> int:
        """Most bytes of its longest value, if a dictionary stores it once for many."""
        return self.pages.dictionary if self.size is None else self.size


class OpenParquet:
    """A Parquet file, plain and opened by pyarrow.

    Attributes:
      parquet: the file as it is decoded.
    """

    def __init__(self, file: BinaryIO) -> None:
        """Open a seekable file; pyarrow raises all kinds of errors on broken bytes."""
        self.file = file
        self.parquet = _open(file)

    @cached_property
    def with_dictionaries(self) -> Any:
        """The file with strings left in their dictionaries, which takes a few bytes per value."""
        # With the footer as read, since reading it again costs the more, the more row groups there
        # are; and once, since each file that pyarrow opens costs more than a small row group.
        texts = list(_paths_of_texts(self.parquet))
        return _open(self.file, read_dictionary=texts, metadata=self.parquet.metadata)


def leaves_of(opened: OpenParquet, described: RowGroup, columns: set[str]) -> Iterator[Leaf]:
    """The leaves of some columns in a row group."""
    for index, chunk in enumerate(described.chunks):
        column = opened.parquet.schema.column(index)
        path = _path_of(column)
        if path is None or path.split(".", 1)[0] not in columns:
            continue
        levels = MostLevels(column.max_repetition_level, column.max_definition_level)
        yield Leaf(
            path,
            levels.repetition,
            chunk.list,
            _size(column.physical_type, column.length),
            chunk.size,
            chunk.codec,
            pages_of(opened.file, chunk, levels),
        )


def _path_of(column: Any) -> str | None:
    """The path of a leaf; None if the footer is damaged: none of our columns has such a name."""
    try:
        path: str = column.path
    except UnicodeDecodeError:
        return None
    return path


def _paths_of_texts(parquet: Any) -> Iterator[str]:
    for index in range(len(parquet.schema)):
        column = parquet.schema.column(index)
        path = _path_of(column)
        if path is not None and _size(column.physical_type, column.length) is None:
            yield path


def _size(kind: str, length: int) -> int | None:
    if kind == "BYTE_ARRAY":
        return None
    return length if kind == "FIXED_LEN_BYTE_ARRAY" else _LARGEST_NUMBER


def arrays_of(opened: OpenParquet, group: int, leaf: Leaf) -> Iterator[Any]:
    """Read one leaf, with strings left in their dictionary.

    The levels around it become lists and structs of one field.
    """
    parquet = opened.parquet if leaf.pages.incremental else opened.with_dictionaries
    for batch in parquet.iter_batches(
        batch_size=ROWS_AT_ONCE, row_groups=[group], columns=[leaf.path], use_threads=False
    ):
        yield batch.column(0)


def _open(file: BinaryIO, **options: Any) -> Any:
    """Open a Parquet file by pyarrow, which then verifies checksums of pages."""
    return pq.ParquetFile(file, page_checksum_verification=True, **options)
