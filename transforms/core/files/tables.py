"""Reads users' tables, row by row with their positions: any format of `INPUT_FORMATS` with rows.

The content determines the format, not the name.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Set
from io import SEEK_END
from typing import BinaryIO

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError, problem_of
from goodgain.transforms.core.files.bounds import FIXED_BOUNDS
from goodgain.transforms.core.files.compression import (
    Compression,
    DamagedStreamError,
    compression_of,
    open_content,
)
from goodgain.transforms.core.files.input_formats import CSV, INPUT_FORMATS
from goodgain.transforms.core.files.shard import FileShard, Open
from goodgain.transforms.core.files.shard_plan import other_format
from goodgain.transforms.core.files.table_row import BrokenTableError, TableRow

_HEAD = 64 * 1024


class TableFile(Struct, frozen=True):
    """A file that holds a table.

    Attributes:
      format: a key of `INPUT_FORMATS`.
    """

    path: str
    format: str
    compression: Compression = Compression.NONE

    def position(self, row: int) -> str:
        """The position of a row, for people."""
        return f"{'row' if INPUT_FORMATS[self.format].is_binary else 'line'} {row}"


def recognise_table(path: str, open_file: Open) -> TableFile:
    """Detect a table's format from its beginning; a text that is no JSON is CSV.

    Raises:
      UsageError: it is not a table, or cannot be read.
    """
    try:
        with open_file(path) as file:
            compression = compression_of(file.read(_HEAD))
            file.seek(0)
            head = open_content(file, compression).read(_HEAD).removeprefix(BOM_UTF8)
    except (OSError, DamagedStreamError) as error:
        raise UsageError(f"{path} cannot be read: {problem_of(error)}.") from None
    if not head.strip():
        raise UsageError(f"{path} is empty.")
    name = next((name for name, known in INPUT_FORMATS.items() if known.begins(head)), CSV)
    found = INPUT_FORMATS[name]
    if found.is_binary and compression is not Compression.NONE:
        raise UsageError(
            f"{path} is {name.capitalize()}, compressed as a whole; decompress it first."
        )
    if found.rows is None or (not found.is_binary and (other_format(head) or b"\0" in head)):
        raise UsageError(
            f"{path} is not CSV in UTF-8, JSON Lines, Avro or Parquet; save it as one of these."
        )
    return TableFile(path, name, compression)


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
    with open_file(table.path) as file:
        size = file.seek(0, SEEK_END)
        shard = FileShard(table.path, table.format, table.compression, 0, size, bounds=FIXED_BOUNDS)
        yield from rows_of_shard(file, shard, columns)


def rows_of_shard(
    file: BinaryIO, shard: FileShard, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """The rows of a shard in order, of a format that has rows.

    Args:
      file: seekable, and not decompressed.
      columns: names of the columns to read; None = all.

    Raises:
      BrokenTableError: the file is truncated or damaged.
    """
    read = INPUT_FORMATS[shard.format].rows
    if read is None:
        raise ValueError(f"a file in the format {shard.format} has no rows")
    try:
        yield from read(file, shard, columns)
    except DamagedStreamError as error:
        raise BrokenTableError(str(error)) from None
