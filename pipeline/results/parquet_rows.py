"""Datasets as Parquet, and their rows as Arrow's tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from goodgain.pipeline.results.arrow_columns import ARROW_TYPES, arrow_column, python_values
from goodgain.pipeline.results.dataset_format import CONVERSATION_ID, DatasetFormat, Row
from goodgain.pipeline.results.datasets import Dataset

Values = tuple[Any, ...]  # of a row
ROWS_AT_ONCE = 10_000
_ROWS_CONVERTED_AT_ONCE = 1_000  # their objects take ten times the bytes of a table
_ROWS_READ_AT_ONCE = 1_000  # who wants only the first row, for its columns, pays for all of these


def arrow_schema(dataset: Dataset) -> pa.Schema:
    """The Arrow schema of a dataset, as in its Parquet files."""
    return pa.schema(
        [
            pa.field(
                column.name,
                ARROW_TYPES[column.kind],
                nullable=column.nullable,
                metadata={"description": column.doc},
            )
            for column in dataset.columns
        ]
    )


def _write_parquet(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    _write_parquet_tables(dataset, arrow_tables(dataset, _in_order(dataset, rows)), file)


def arrow_tables(dataset: Dataset, rows: Iterable[Values]) -> Iterator[pa.Table]:
    """Tables of `ROWS_AT_ONCE` rows; few of these are held as Python's objects at a time.

    Args:
      rows: the values of each, in the order of the dataset's columns.
    """
    remaining = iter(rows)
    batches = iter(lambda: list(islice(remaining, _ROWS_CONVERTED_AT_ONCE)), [])
    tables = (_table(dataset, batch) for batch in batches)
    while group := list(islice(tables, ROWS_AT_ONCE // _ROWS_CONVERTED_AT_ONCE)):
        yield pa.concat_tables(group)


def arrow_table(dataset: Dataset, rows: Sequence[Row]) -> pa.Table:
    """Rows of a dataset, as in its Parquet files."""
    if not rows:
        return arrow_schema(dataset).empty_table()
    return _table(dataset, _in_order(dataset, rows))


def _in_order(dataset: Dataset, rows: Iterable[Row]) -> Iterator[Values]:
    return map(itemgetter(*(column.name for column in dataset.columns)), rows)


def _table(dataset: Dataset, rows: Iterable[Values]) -> pa.Table:
    """A table of at least one row."""
    columns = [
        arrow_column(column.kind, values)
        for column, values in zip(dataset.columns, zip(*rows, strict=True), strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=arrow_schema(dataset))


def _write_parquet_tables(dataset: Dataset, tables: Iterable[pa.Table], file: BinaryIO) -> None:
    with pq.ParquetWriter(file, arrow_schema(dataset), compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)


def _read_parquet(
    file: BinaryIO, conversation_ids: Collection[str] | None = None, /
) -> Iterator[Row]:
    for batch in pq.ParquetFile(file).iter_batches(_ROWS_READ_AT_ONCE):
        for some in [batch] if conversation_ids is None else _parts_of(conversation_ids, batch):
            names, columns = some.schema.names, map(python_values, some.columns)
            for values in zip(*columns, strict=True):
                yield dict(zip(names, values, strict=True))


def _parts_of(conversation_ids: Collection[str], batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The rows of some conversations, as views of the batch."""
    start = 0
    wanted = [
        identity in conversation_ids for identity in python_values(batch.column(CONVERSATION_ID))
    ]
    for is_wanted, same in groupby(wanted):
        length = len(list(same))
        if is_wanted:
            yield batch.slice(start, length)
        start += length


PARQUET_DATASETS = DatasetFormat(".parquet", _write_parquet, _read_parquet, _write_parquet_tables)
