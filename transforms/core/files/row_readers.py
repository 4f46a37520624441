"""Reads the rows of a shard with their places, one function for each format.

Texts are read whole, from their beginning; of an Avro or Parquet file only the blocks or row groups
that begin in the shard. Bytes that are not UTF-8 stay visible, as `\\xff`.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Set
from itertools import count
from typing import Any, BinaryIO

import msgspec

from goodgain.transforms.core.files.avro_reader import decode_blocks
from goodgain.transforms.core.files.compression import open_content
from goodgain.transforms.core.files.csv_table import csv_rows
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.table_row import BrokenTableError, TableRow, limited_lines
from goodgain.transforms.core.records.rejection import WHOLE_FILE, RejectedRecord

_ROWS_AT_ONCE = 4096
_decode_json = msgspec.json.Decoder().decode


def rows_of_csv(
    file: BinaryIO, shard: FileShard, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """The rows below the header.

    Args:
      columns: names of the columns to read; None = all.

    Raises:
      BrokenTableError: the file is damaged, or a row is too long.
    """
    file.seek(0)
    return csv_rows(open_content(file, shard.compression), columns)


def rows_of_json_lines(
    file: BinaryIO, shard: FileShard, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """A row for each line that is not blank; see `rows_of_csv`."""
    file.seek(0)
    lines = limited_lines(open_content(file, shard.compression))
    for number, line in enumerate(lines, start=1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        if not line.strip():
            continue
        try:
            values = _decode_json(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            values = None
        yield TableRow(number, values, line)


def rows_of_avro(
    file: BinaryIO, shard: FileShard, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """The records of the blocks, with all their fields; see `rows_of_csv`."""
    numbers = count(1)
    for block in decode_blocks(file, shard):
        if isinstance(block, RejectedRecord):
            place = "" if block.position == WHOLE_FILE else f"{block.position}: "
            raise BrokenTableError(f"{place}{block.reason.rstrip('.')}")
        for index, values in enumerate(block.records):
            shown = _show_bytes(values) if block.escaped else values
            place = block.position(index)
            yield TableRow(next(numbers), shown, at=block.offset, inside=place)


def _show_bytes(row: Any) -> Any:
    """A row with readable texts, where lone surrogates stand for bytes that are not UTF-8."""
    if not isinstance(row, dict):
        return row
    return {
        name: value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if isinstance(value, str)
        else value
        for name, value in row.items()
    }


def rows_of_parquet(
    file: BinaryIO, shard: FileShard, columns: Set[str] | None = None
) -> Iterator[TableRow]:
    """The rows of the row groups; see `rows_of_csv`."""
    # pyarrow is slow to import.
    from goodgain.transforms.core.files.arrow_values import rows_of_batch
    from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups

    numbers = count(1)
    try:
        parquet = ParquetRowGroups(file)
        wanted = [name for name in parquet.names if columns is None or name in columns]
        for group in parquet.begins_in(shard):
            at, row = shard.start + group, 0
            for batch in parquet.batches(group, wanted, shard.bounds, _ROWS_AT_ONCE):
                several, escaped = rows_of_batch(batch)
                for values in map(_show_bytes, several) if escaped else several:
                    place = f"row group {group}, row {row}"
                    yield TableRow(next(numbers), values, at=at, inside=place)
                    row += 1
    except Exception as error:  # pyarrow raises all kinds of errors for a broken file
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the file system, not from pyarrow
        raise BrokenTableError(str(error).partition("\n")[0]) from None
