"""The file formats of outputs, each with one writer and one reader."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, BinaryIO, Protocol, TypeAlias

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from fastavro.write import Writer
from msgspec import Struct

from goodgain.pipeline.results.arrow_columns import ARROW_TYPES, arrow_column, python_values
from goodgain.pipeline.results.avro_rows import row_encoder
from goodgain.pipeline.results.csv_rows import write_csv
from goodgain.pipeline.results.datasets import AVRO_TYPES, Column, Dataset
from goodgain.pipeline.results.time_text import iso_of_millis, millis_of_time
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.metrics.groups import column_of, metric_of
from goodgain.transforms.core.ranking import column_name, metric_name

Row = dict[str, Any]
WriteRows: TypeAlias = Callable[[Dataset, Iterable[Row], BinaryIO], None]
ROWS_AT_ONCE = 10_000
_ROWS_CONVERTED_AT_ONCE = 1_000  # their objects take ten times the bytes of a table
_ROWS_READ_AT_ONCE = 1_000  # who wants only the first row, for its columns, pays for all of these
_ID = "conversation_id"
_NAMESPACE = "goodgain"
_TIMES = ("first_timestamp", "last_timestamp", "timestamp", "window_start", "window_end")
# A fixed sync marker, so that the same rows give the same bytes.
SYNC_MARKER = b"goodgain-outputs"


class ReadRows(Protocol):
    """Reads the rows of a file, or only those of some conversations.

    The latter without decoding the other rows, as far as the format permits.
    """

    def __call__(
        self, file: BinaryIO, conversation_ids: Collection[str] | None = None, /
    ) -> Iterator[Row]:
        """The rows."""


class DatasetFormat(Struct, frozen=True):
    """How to write rows of a dataset to a file, and read them back.

    Rows are dicts by column name; times are milliseconds since 1970 UTC.

    Attributes:
      write_tables: writes rows in Arrow's tables; None if the format has to be given rows.
    """

    suffix: str
    write: WriteRows
    read: ReadRows
    write_tables: Callable[[Dataset, Iterable[pa.Table], BinaryIO], None] | None = None


def avro_schema(dataset: Dataset) -> dict[str, Any]:
    """The Avro schema of a dataset.

    Avro forbids `@` and `.` in names: `ndcg@10` becomes `ndcg_at_10` (`ranking.column_name`), and
    `cost_i.usd` becomes `cost_i__usd`.
    """
    return {
        "type": "record",
        "name": dataset.name,
        "namespace": _NAMESPACE,
        "doc": dataset.doc,
        "fields": [_avro_field(column) for column in dataset.columns],
    }


def _avro_field(column: Column) -> dict[str, Any]:
    kind = AVRO_TYPES[column.kind]
    field = {"name": column_name(column_of(column.name)), "type": kind, "doc": column.doc}
    return {**field, "type": ["null", kind], "default": None} if column.nullable else field


def parse_schema(dataset: Dataset) -> dict[str, Any]:
    """The schema as parsed by fastavro, whose own order of keys differs in every process."""
    parsed: dict[str, Any] = fastavro.parse_schema(avro_schema(dataset))
    parsed["fields"] = [dict(sorted(field.items())) for field in parsed["fields"]]
    return parsed


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


def _write_avro(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    writer = Writer(file, parse_schema(dataset), codec="deflate", sync_marker=SYNC_MARKER)
    encode = row_encoder(dataset.columns)
    block = _AvroBlock()
    for row in rows:
        block.bytes_.write(encode(row))
        block.num_records += 1
        if block.bytes_.tell() >= writer.sync_interval:
            writer.write_block(block)
            block = _AvroBlock()
    if block.num_records:
        writer.write_block(block)


class _AvroBlock:
    """Encoded rows, in the interface that fastavro expects."""

    def __init__(self) -> None:
        self.bytes_ = io.BytesIO()
        self.num_records = 0


def _read_avro(file: BinaryIO, conversation_ids: Collection[str] | None = None, /) -> Iterator[Row]:
    reader = fastavro.block_reader(file)
    fields = [field["name"] for field in reader.writer_schema["fields"]]
    names = [(avro, metric_of(metric_name(avro))) for avro in fields]
    renamed = [(avro, name) for avro, name in names if avro != name]
    times = [name for name in _TIMES if name in fields]
    # Avro stores texts as UTF-8, so a block without those bytes has none of the rows.
    wanted = (
        None if conversation_ids is None else [identity.encode() for identity in conversation_ids]
    )
    for block in reader:
        if wanted is not None:
            content = block.bytes_.getvalue()
            if not any(identity in content for identity in wanted):
                continue
        for row in _of(conversation_ids, block):
            for avro, name in renamed:
                row[name] = row.pop(avro)
            for name in times:
                if row[name] is not None:
                    row[name] = millis_of_time(row[name])
            yield row


def _write_parquet(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    _write_parquet_tables(dataset, _row_groups(dataset, rows), file)


def _row_groups(dataset: Dataset, rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Tables of `ROWS_AT_ONCE` rows; few of these are held as Python's objects at a time."""
    remaining = iter(rows)
    batches = iter(lambda: list(islice(remaining, _ROWS_CONVERTED_AT_ONCE)), [])
    tables = (arrow_table(dataset, batch) for batch in batches)
    while group := list(islice(tables, ROWS_AT_ONCE // _ROWS_CONVERTED_AT_ONCE)):
        yield pa.concat_tables(group)


def _write_parquet_tables(dataset: Dataset, tables: Iterable[pa.Table], file: BinaryIO) -> None:
    with pq.ParquetWriter(file, arrow_schema(dataset), compression="zstd") as writer:
        for table in tables:
            writer.write_table(table)


def arrow_table(dataset: Dataset, rows: Sequence[Row]) -> pa.Table:
    """Rows of a dataset, as in its Parquet files."""
    if not rows:
        return arrow_schema(dataset).empty_table()
    in_order = itemgetter(*(column.name for column in dataset.columns))
    values = zip(*map(in_order, rows), strict=True)
    columns = [
        arrow_column(column.kind, of_column)
        for column, of_column in zip(dataset.columns, values, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=arrow_schema(dataset))


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
    wanted = [identity in conversation_ids for identity in python_values(batch.column(_ID))]
    for is_wanted, same in groupby(wanted):
        length = len(list(same))
        if is_wanted:
            yield batch.slice(start, length)
        start += length


def _write_jsonl(dataset: Dataset, rows: Iterable[Row], file: BinaryIO) -> None:
    names = [column.name for column in dataset.columns]
    times = [column.name for column in dataset.columns if column.kind == "time"]
    encode = msgspec.json.Encoder().encode
    for row in rows:
        row = {name: row[name] for name in names}
        if times:
            row = row | {name: iso_of_millis(row[name]) for name in times}
        file.write(encode(row) + b"\n")


def _read_jsonl(
    file: BinaryIO, conversation_ids: Collection[str] | None = None, /
) -> Iterator[Row]:
    for row in _of(conversation_ids, map(json.loads, file)):
        for name in _TIMES:
            if row.get(name) is not None:
                row[name] = millis_of_time(datetime.fromisoformat(row[name]))
        yield row


def _of(conversation_ids: Collection[str] | None, rows: Iterable[Row]) -> Iterable[Row]:
    if conversation_ids is None:
        return rows
    return (row for row in rows if row[_ID] in conversation_ids)


FORMATS: dict[Format, DatasetFormat] = {
    "avro": DatasetFormat(".avro", _write_avro, _read_avro),
    "parquet": DatasetFormat(".parquet", _write_parquet, _read_parquet, _write_parquet_tables),
    "jsonl": DatasetFormat(".jsonl", _write_jsonl, _read_jsonl),
}
# By suffix; CSV is for people, and is not read back.
_WRITERS: Mapping[str, WriteRows] = {
    **{file_format.suffix: file_format.write for file_format in FORMATS.values()},
    ".csv": write_csv,
}


def writer_of(path: str) -> WriteRows:
    """How to write rows in the format that the suffix of a path names.

    Raises:
      UsageError: it names none.
    """
    for suffix, write in _WRITERS.items():
        if path.endswith(suffix):
            return write
    *others, last = _WRITERS
    raise UsageError(f"{path} must end with {', '.join(others)} or {last}.")


def report_damage(rows: Iterable[Row], path: str) -> Iterator[Row]:
    """The rows from a reader of a file, with errors that name the file.

    Raises:
      UsageError: the file is damaged.
    """
    try:
        yield from rows
    except Exception as error:  # the libraries raise all kinds of errors on broken bytes
        problem = str(error).strip().splitlines() or [type(error).__name__]
        raise UsageError(
            f"{path} is damaged ({problem[0].rstrip('.')}): it was changed or cut since the run; "
            "run it again."
        ) from error
