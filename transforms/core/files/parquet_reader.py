"""Reads search calls from Parquet (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from goodgain.transforms.core.errors import message_of
from goodgain.transforms.core.files.arrow_values import python_values
from goodgain.transforms.core.files.compression import Compression
from goodgain.transforms.core.files.decoded_records import calls_of_records
from goodgain.transforms.core.files.native_columns import native_columns
from goodgain.transforms.core.files.parquet_pages import DamagedPagesError
from goodgain.transforms.core.files.parquet_row_groups import ParquetRowGroups
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.records.likely_fields import CALL_FIELDS
from goodgain.transforms.core.records.rejection import WHOLE_FILE, RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall

_FIRST_ROWS = 100  # at a time


def read_parquet(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    """The records of the row groups that begin in a shard, in file order (see `read_shard_into`).

    Columns that SPEC 2 does not name are not read. The lost rows of a damaged row group become one
    rejected row, and so does a file with an unusable footer, from its first shard.
    """
    try:
        parquet = ParquetRowGroups(file)
        groups = list(parquet.begins_in(shard))
        known = CALL_FIELDS | (shard.adaptation.sources if shard.adaptation else set())
        columns = [name for name in parquet.names if name in known]
    except Exception as error:  # pyarrow raises all kinds of errors on a broken footer
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the filesystem, not pyarrow
        if shard.start == 0:
            reason = f"The footer of the Parquet file is damaged ({error})."
            yield RejectedRecord(shard.path, WHOLE_FILE, reason, at_least=True)
        return
    for group in groups:
        yield from _read_group(parquet, group, columns, shard, packer)


def read_first_of_parquet(file: BinaryIO, shard: FileShard) -> Iterator[Any]:
    """The decoded rows from the beginning of a file; of a compressed file none.

    The footer is at the end, so the whole file would have to be decompressed.
    """
    if shard.compression is not Compression.NONE:
        return
    try:
        parquet = ParquetRowGroups(file)
        for group in range(parquet.count):
            for batch in parquet.batches(group, parquet.names, shard.bounds, _FIRST_ROWS):
                yield from python_values(batch.to_struct_array(), escape=True)
    except Exception as error:  # pyarrow raises all kinds of errors on broken bytes
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the filesystem, not pyarrow


def _read_group(
    parquet: ParquetRowGroups,
    group: int,
    columns: list[str],
    shard: FileShard,
    packer: RecordPacker | None,
) -> Iterator[RecordOrPacked]:
    batches = parquet.batches(group, columns, shard.bounds)
    done = 0
    while True:
        try:
            batch = next(batches, None)
            rows = None if batch is None else _drop_empty_columns(batch).to_struct_array()
        except Exception as error:  # pyarrow raises all kinds of errors on broken pages
            reason = f"The row group cannot be read from row {done} on (" + message_of(error) + ")."
            position = f"row group {group}, row {done}"
            records = max(1, parquet.rows_in(group) - done)
            at_least = isinstance(error, DamagedPagesError)
            yield RejectedRecord(shard.path, position, reason, records=records, at_least=at_least)
            return
        if rows is None:
            return
        yield from _records_of(rows, shard, group, done, packer)
        done += len(rows)


def _records_of(
    rows: Any, shard: FileShard, group: int, first: int, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    columns = None if packer is None else native_columns(rows)
    prepared = None
    if packer is not None and columns is not None:
        prepared = packer.prepare_rows(columns, len(rows), shard.adaptation)
    if packer is None or prepared is None:
        yield from _calls_of(rows, shard, group, first)
        return
    begin = in_python = 0
    while begin < len(rows):
        block, stop = packer.pack_rows(prepared, begin, shard.bounds.max_record_results)
        if block is not None:
            yield block
        if stop is None:
            return
        # What native code cannot read in one row, it usually cannot read in the next either, and
        # Python reads rows faster together, so leave it twice as many each time.
        in_python = 2 * in_python if stop == begin and in_python else 1
        yield from _calls_of(rows.slice(stop, in_python), shard, group, first + stop)
        begin = stop + in_python


def _calls_of(
    rows: Any, shard: FileShard, group: int, first: int
) -> Iterator[SearchCall | RejectedRecord]:
    def position(index: int) -> str:
        return f"row group {group}, row {first + index}"

    try:
        records, escaped = _values_of(rows)
    except Exception as error:  # pyarrow raises all kinds of errors for values that Python lacks
        half = len(rows) // 2
        if half:
            yield from _calls_of(rows.slice(0, half), shard, group, first)
            yield from _calls_of(rows.slice(half), shard, group, first + half)
        else:
            yield RejectedRecord(shard.path, position(0), f"The row cannot be read ({error}).")
        return
    yield from calls_of_records(records, shard, position, escaped)


def _values_of(rows: Any) -> tuple[list[Any], bool]:
    """The rows as dicts, and whether bytes that are not UTF-8 became lone surrogates."""
    try:
        return python_values(rows), False
    except UnicodeDecodeError:
        return python_values(rows, escape=True), True


def _drop_empty_columns(batch: Any) -> Any:
    """Drop columns with only nulls, which is faster and means the same."""
    empty = [name for name in batch.schema.names if batch.column(name).null_count == batch.num_rows]
    return batch.drop_columns(empty) if empty else batch
