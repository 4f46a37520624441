"""Reads the means of a run and the iterations of some conversations without decoding all rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any, BinaryIO

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct
from pyarrow import csv as arrow_csv

from goodgain.pipeline.results.datasets import ITERATIONS, MEANS
from goodgain.pipeline.results.folder import MEANS_CSV, check_rows, read_dataset
from goodgain.pipeline.results.formats import FORMATS, Format, Row, intact
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.slices import SliceKey, slice_key, slice_of
from goodgain.transforms.filesystems import exists, files_named, join, open_plain

_FROM_DATASET = "delete it to read the means from the dataset"
_BATCH = 4 * 2**20  # bytes of CSV to read at once
_LARGEST_BLOCK = 2**31 - 1  # bytes of rows to parse together
_CSV_TYPES = {"whole": pa.int64(), "number": pa.float64()}
_ID = "conversation_id"
_Read = Callable[[BinaryIO, Collection[str]], Iterator[Row]]


class MeansWanted(Struct, frozen=True):
    """Which rows of `means` to read.

    Attributes:
      slices: keys of slices; None = all slices.
      metrics: None = all metrics.
      at_end: only rows at N.
    """

    slices: frozenset[SliceKey] | None = None
    metrics: frozenset[str] | None = None
    at_end: bool = False

    def takes(self, row: Row) -> bool:
        """Whether to read a row."""
        return (
            (not self.at_end or row["i"] is None)
            and (self.metrics is None or row["metric"] in self.metrics)
            and (self.slices is None or slice_key(row["slice"]) in self.slices)
        )


ALL_MEANS = MeansWanted()


def read_means(folder: str, wanted: MeansWanted = ALL_MEANS) -> Iterator[Row]:
    """Rows of `means`, in order.

    They are read from `means.csv`, which is several times faster for many rows, or from the dataset
    if that file is missing.

    Raises:
      UsageError: `means.csv` is damaged, or its number of rows differs from the manifest.
    """
    path = join(folder, MEANS_CSV)
    if not exists(path):
        yield from filter(wanted.takes, read_dataset(folder, MEANS.name))
        return
    types = {column.name: _CSV_TYPES.get(column.kind, pa.string()) for column in MEANS.columns}
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types=types, null_values=[""], strings_can_be_null=True
    )
    rows_read = 0
    with open_plain(path) as file:
        names = file.readline().decode().rstrip("\n").split(",")
        read = arrow_csv.ReadOptions(
            use_threads=False, block_size=_LARGEST_BLOCK, column_names=names
        )
        for rows in _whole_rows(file):
            try:
                table = arrow_csv.read_csv(pa.BufferReader(rows), read, parse, convert)
            except pa.ArrowInvalid as error:
                raise UsageError(
                    f"{path} is damaged ({str(error).splitlines()[0]}); {_FROM_DATASET}."
                ) from None
            rows_read += table.num_rows
            for row in table.filter(_expression(wanted)).to_pylist():
                row["slice"] = slice_of(row["slice"])
                yield row
    check_rows(folder, MEANS.name, rows_read, path, _FROM_DATASET)


def _whole_rows(file: BinaryIO) -> Iterator[bytes]:
    """Whole rows of CSV, a few megabytes at a time; Arrow's own reader buffers half a gigabyte.

    A line feed within quotes does not end a row.
    """
    left = b""
    while piece := file.read(_BATCH):
        left += piece
        end = left.rfind(b"\n") + 1
        # After an odd number of quotes, a line feed is within quotes: go back to the line before.
        is_quoted = left.count(b'"', 0, end) % 2
        while is_quoted:
            earlier = left.rfind(b"\n", 0, end - 1) + 1
            is_quoted ^= left.count(b'"', earlier, end) % 2
            end = earlier
        if end:
            yield left[:end]
        left = left[end:]
    if left:
        yield left


def _expression(wanted: MeansWanted) -> pc.Expression:
    expression = pc.scalar(True)
    if wanted.at_end:
        expression &= pc.field("i").is_null()
    if wanted.metrics is not None:
        expression &= pc.field("metric").isin(pa.array(sorted(wanted.metrics), pa.string()))
    if wanted.slices is not None:
        expression &= pc.field("slice").isin(pa.array(sorted(wanted.slices), pa.string()))
    return expression


def read_iterations(folder: str, conversation_ids: Collection[str]) -> Iterator[Row]:
    """The rows of `iterations` of a few conversations, in any format."""
    if not conversation_ids:
        return
    for name, read in _READERS.items():
        for path in files_named(join(folder, ITERATIONS.name), "part-*" + FORMATS[name].suffix):
            with open_plain(path) as file:
                yield from intact(read(file, conversation_ids), path)


def _read_avro(file: BinaryIO, conversation_ids: Collection[str]) -> Iterator[Row]:
    # Avro stores strings as UTF-8, so a block without those bytes has none of the rows.
    wanted = [identity.encode() for identity in conversation_ids]
    for block in fastavro.block_reader(file):
        content = block.bytes_.getvalue()
        if any(identity in content for identity in wanted):
            yield from _only(conversation_ids, block)


def _read_parquet(file: BinaryIO, conversation_ids: Collection[str]) -> Iterator[Row]:
    wanted = pa.array(list(conversation_ids), pa.string())
    for batch in pq.ParquetFile(file).iter_batches():
        rows = batch.filter(pc.is_in(batch.column(_ID), value_set=wanted))
        yield from rows.to_pylist(maps_as_pydicts="strict")


def _read_jsonl(file: BinaryIO, conversation_ids: Collection[str]) -> Iterator[Row]:
    wanted = [msgspec.json.encode(identity) for identity in conversation_ids]
    for line in file:
        if any(identity in line for identity in wanted):
            yield from _only(conversation_ids, (json.loads(line),))


def _only(conversation_ids: Collection[str], rows: Any) -> Iterator[Row]:
    return (row for row in rows if row[_ID] in conversation_ids)


_READERS: dict[Format, _Read] = {"avro": _read_avro, "parquet": _read_parquet, "jsonl": _read_jsonl}
