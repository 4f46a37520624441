"""Reads search calls from Parquet (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow.parquet as pq
from msgspec.structs import fields

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.arrow_buffers import described
from goodgain.transforms.core.files.arrow_values import python_values
from goodgain.transforms.core.files.bounds import bounded, within
from goodgain.transforms.core.files.parquet_bounds import rows_at_once, rows_in
from goodgain.transforms.core.files.parquet_footer import Chunk, Footer, read_footer
from goodgain.transforms.core.files.record_taker import RecordTaker, TakenBlock
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.wanted import Wanted
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import (
    parse_escaped_mapping,
    parse_mapping,
    parse_mappings,
)
from goodgain.transforms.core.records.rejected import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_mapping,
    rejected_for,
)
from goodgain.transforms.core.records.search_call import SearchCall

_KNOWN_COLUMNS = {field.name for field in fields(SearchCall)}


def read_parquet(
    file: BinaryIO,
    shard: FileShard,
    wanted: Wanted | None = None,
    taker: RecordTaker | None = None,
) -> Iterator[SearchCall | RejectedRecord | TakenBlock]:
    """The records of the row groups that begin in a shard, in file order.

    Columns that SPEC 2 does not name are not read. The lost rows of a damaged row group become one
    rejected row, and so does a file with an unusable footer, from its first shard.

    Args:
      file: the Parquet file itself, uncompressed and seekable.
      shard: the byte range to read.
      wanted: skips row groups without any of these conversations.
      taker: native code that packs the rows it can; None = yield all records.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        footer = read_footer(file)
        parquet = pq.ParquetFile(file)
        groups = list(row_groups(footer, shard))
        wanted_columns = _KNOWN_COLUMNS
        if shard.adaptation is not None:
            wanted_columns = _KNOWN_COLUMNS | shard.adaptation.sources
        columns = [name for name in parquet.schema_arrow.names if name in wanted_columns]
    except Exception as error:  # pyarrow raises all kinds of errors on a broken footer
        if isinstance(error, OSError) and error.errno is not None:
            raise  # from the filesystem, not pyarrow
        if shard.start == 0:
            reason = f"The footer of the Parquet file is damaged ({error})."
            yield RejectedRecord(shard.path, WHOLE_FILE, reason)
        return
    for group in groups:
        # With an adaptation, the ids may be in another column.
        if wanted and shard.adaptation is None and not _may_hold(parquet, group, wanted):
            continue
        yield from _read_group(file, parquet, group, footer[group], columns, shard, taker)


def row_groups(footer: Footer, shard: FileShard) -> Iterator[int]:
    """The row groups that begin in the shard; those with a bad offset belong to the first."""
    for index, chunks in enumerate(footer):
        begin = chunks[0].begin if chunks else 0
        if shard.start <= begin < shard.end or (shard.start == 0 and begin < 0):
            yield index


def _may_hold(parquet: Any, group: int, wanted: Wanted) -> bool:
    try:
        ids = parquet.read_row_group(group, columns=["conversation_id"]).column(0).to_pylist()
    except Exception:  # pyarrow raises all kinds of errors on broken pages; reading will report it
        return True
    return not all(isinstance(one, str) for one in ids) or not wanted.ids.isdisjoint(ids)


def _read_group(
    file: BinaryIO,
    parquet: Any,
    group: int,
    chunks: list[Chunk],
    columns: list[str],
    shard: FileShard,
    taker: RecordTaker | None,
) -> Iterator[SearchCall | RejectedRecord | TakenBlock]:
    rows = parquet.metadata.row_group(group).num_rows
    done = 0
    try:
        at_once = rows_at_once(file, parquet, group, chunks, columns, shard.bounds)
        batches = parquet.iter_batches(
            batch_size=at_once, row_groups=[group], columns=columns, use_threads=False
        )
        for batch in batches:
            yield from _records_of(batch, shard, group, done, taker)
            done += batch.num_rows
    except Exception as error:  # pyarrow raises all kinds of errors on broken pages
        reason = f"The row group cannot be read from row {done} on ({error})."
        place = f"row group {group}, row {done}"
        records = max(1, min(rows, rows_in(file, parquet, chunks)) - done)
        yield RejectedRecord(shard.path, place, reason, records=records)


def _records_of(
    batch: Any, shard: FileShard, group: int, first: int, taker: RecordTaker | None
) -> Iterator[SearchCall | RejectedRecord | TakenBlock]:
    rows = _without_empty_columns(batch).to_struct_array()
    # Native code does not rename fields.
    columns = None if taker is None or shard.adaptation is not None else described(rows)
    prepared = None if taker is None or columns is None else taker.prepare_rows(columns, len(rows))
    if taker is None or prepared is None:
        yield from _calls_of(rows, shard, group, first)
        return
    begin = together = 0
    while begin < len(rows):
        packed, odd = taker.take_rows(prepared, begin, shard.bounds.record_results)
        if packed:
            yield TakenBlock(packed, [])
        if odd is None:
            return
        # An unusual column is so in every row, and Python reads many rows faster than single ones.
        together = 2 * together if odd == begin and together else 1
        yield from _calls_of(rows.slice(odd, together), shard, group, first + odd)
        begin = odd + together


def _calls_of(
    rows: Any, shard: FileShard, group: int, first: int
) -> Iterator[SearchCall | RejectedRecord]:
    parse = parse_mapping
    calls = None
    try:
        records = _adapted(python_values(rows), shard.adaptation)
        calls = parse_mappings(records)
    except UnicodeDecodeError:
        records = _adapted(python_values(rows, escape=True), shard.adaptation)
        parse = parse_escaped_mapping
    if calls is not None and within(calls, shard.bounds):
        yield from calls
        return
    for row, record in enumerate(records, start=first):
        try:
            yield bounded(parse(record), shard.bounds)
        except RecordError as error:
            place = f"row group {group}, row {row}"
            yield rejected_for(shard.path, place, error, payload_of_mapping(record))


def _adapted(records: list[Any], adaptation: Adaptation | None) -> list[Any]:
    return records if adaptation is None else list(map(adaptation.applied, records))


def _without_empty_columns(batch: Any) -> Any:
    """Drop columns with only nulls, which is faster and means the same."""
    empty = [name for name in batch.schema.names if batch.column(name).null_count == batch.num_rows]
    return batch.drop_columns(empty) if empty else batch
