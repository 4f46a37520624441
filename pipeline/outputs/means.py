"""The dataset `means` and its rows as `means.csv`: written in one pass, read as far as wanted.

Each slice has some 440 rows, so that with thousands of slices they outnumber everything else that a
run writes. Many rows share an estimate or a slice, so each distinct part is encoded once.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, BinaryIO, cast

import apache_beam as beam
import fastavro
import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from msgspec import Struct
from msgspec.structs import asdict, astuple
from pyarrow import csv as arrow_csv

from goodgain.pipeline.outputs.avro_rows import row_encoder
from goodgain.pipeline.outputs.datasets import MEANS, Column
from goodgain.pipeline.outputs.folder import (
    MEANS_CSV,
    check_rows,
    make_folder,
    read_dataset,
    unfinished_folder,
)
from goodgain.pipeline.outputs.formats import (
    FORMATS,
    ROWS_AT_ONCE,
    SYNC_MARKER,
    Format,
    Row,
    arrow_schema,
    arrow_table,
    parsed_schema,
)
from goodgain.pipeline.outputs.sinks import Target, WrittenFile
from goodgain.pipeline.outputs.sort_keys import mean_of_key, slice_sort_key
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.rows import Estimate, MeanOf
from goodgain.transforms.core.means.slices import SliceKey, slice_key, slice_of
from goodgain.transforms.read import open_plain

_Means = Sequence[tuple[MeanOf, Estimate]]
_Encode = Callable[[Sequence[Column], Sequence[Any]], bytes]
_SLICE, _OF, _ESTIMATE = MEANS.columns[:1], MEANS.columns[1:4], MEANS.columns[4:]
_FROM_DATASET = "delete it, and the means are read from the dataset"
_MOST_KNOWN = 2**15  # encoded estimates that are kept
_BATCH = 4 * 2**20  # bytes of CSV that are read at once
_LARGEST_BLOCK = 2**31 - 1  # of rows that are parsed together
_CSV_TYPES = {"whole": pa.int64(), "number": pa.float64()}


class WriteMeans(beam.PTransform):
    """`PCollection[tuple[str, MeansAccumulator]]` to `PCollection[WrittenFile]`: `means`.

    `means.csv` is written as well. One worker does it, since both are one file in order.

    Attributes:
      target: where and how; its shards do not count.
      ranking_metrics: names, in the order of the values in the accumulators.
      interval: of metrics that are not 0 or 1 in each conversation.
    """

    def __init__(self, target: Target, ranking_metrics: Sequence[str], interval: Interval) -> None:
        super().__init__()
        self.target = target
        self.ranking_metrics = tuple(ranking_metrics)
        self.interval = interval

    def expand(
        self, sums: beam.PCollection[tuple[SliceKey, MeansAccumulator]]
    ) -> beam.PCollection[WrittenFile]:
        """Apply the transform."""
        return (
            sums
            | "Together"
            >> beam.Map(_together).with_output_types(tuple[int, tuple[str, str, bytes]])
            | "Group" >> beam.GroupByKey()
            | "Write" >> beam.FlatMap(_write, self.target, self.ranking_metrics, self.interval)
        )


def _together(one: tuple[SliceKey, MeansAccumulator]) -> tuple[int, tuple[str, str, bytes]]:
    key, sums = one
    sums.lighten()
    return 0, (slice_sort_key(slice_of(key)), key, msgspec.msgpack.encode(sums))


def _write(
    grouped: tuple[int, Iterable[tuple[str, SliceKey, bytes]]],
    target: Target,
    ranking_metrics: Sequence[str],
    interval: Interval,
) -> Iterator[WrittenFile]:
    _, slices = grouped
    folder = unfinished_folder(target.folder, target.area)
    path = f"{MEANS.name}/part-00000-of-00001{FORMATS[target.format].suffix}"
    make_folder(FileSystems.join(folder, MEANS.name))
    rows = 0
    with _created(folder, path) as dataset, _created(folder, MEANS_CSV) as table:
        files = (_WRITERS[target.format](dataset), _csv_file(table))
        for _, key, packed in sorted(slices):
            sums = msgspec.msgpack.decode(packed, type=MeansAccumulator)
            means = sums.estimates(ranking_metrics, interval)
            means.sort(key=_by_mean_of)
            rows += len(means)
            for file in files:
                file.add(slice_of(key), means)
        for file in files:
            file.end()
    yield WrittenFile(MEANS.name, path, rows)


def _by_mean_of(pair: tuple[MeanOf, Estimate]) -> str:
    return _mean_of_key(pair[0])


_mean_of_key = lru_cache(maxsize=2**14)(mean_of_key)


def _created(folder: str, path: str) -> BinaryIO:
    place = FileSystems.join(folder, *path.split("/"))
    file = FileSystems.create(place, compression_type=CompressionTypes.UNCOMPRESSED)
    return cast(BinaryIO, file)


class _EncodedRows:
    """Rows as bytes: the parts for slice, for what it is the mean of, and for the estimate."""

    def __init__(self, encode: _Encode) -> None:
        self._encode = encode
        self._of: dict[MeanOf, bytes] = {}
        # By identity, which the estimates keep as long as they are held here.
        self._estimates: dict[int, bytes] = {}
        self._held: list[Estimate] = []

    def of(self, slice_: dict[str, str], means: _Means) -> list[bytes]:
        """The rows of one slice."""
        if len(self._held) > _MOST_KNOWN:
            self._estimates, self._held = {}, []
        head, ofs, known = self._encode(_SLICE, (slice_,)), self._of, self._estimates
        return [
            head + (ofs.get(of) or self._new(of)) + (known.get(id(one)) or self._estimated(one))
            for of, one in means
        ]

    def _new(self, of: MeanOf) -> bytes:
        self._of[of] = encoded = self._encode(_OF, of)
        return encoded

    def _estimated(self, estimate: Estimate) -> bytes:
        encoded = self._encode(_ESTIMATE, astuple(estimate))
        self._estimates[id(estimate)] = encoded
        self._held.append(estimate)
        return encoded


class _AvroFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rows = _EncodedRows(_avro)
        self._block: list[bytes] = []
        # Without rows only the header.
        fastavro.writer(file, parsed_schema(MEANS), (), codec="deflate", sync_marker=SYNC_MARKER)

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        self._block += self._rows.of(slice_, means)
        if len(self._block) >= ROWS_AT_ONCE:
            self.end()

    def end(self) -> None:
        if not self._block:
            return
        deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = deflate.compress(b"".join(self._block)) + deflate.flush()
        for number in (len(self._block), len(data)):
            fastavro.schemaless_writer(self._file, "long", number)
        self._file.write(data + SYNC_MARKER)
        self._block = []


class _TextFile:
    def __init__(self, file: BinaryIO, encode: _Encode) -> None:
        self._file = file
        self._rows = _EncodedRows(encode)

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        self._file.write(b"".join(self._rows.of(slice_, means)))

    def end(self) -> None:
        """Everything is written."""


class _ParquetFile:
    def __init__(self, file: BinaryIO) -> None:
        self._writer = pq.ParquetWriter(file, arrow_schema(MEANS), compression="zstd")
        self._rows: list[Row] = []

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        for of, estimate in means:
            self._rows.append({"slice": slice_} | of._asdict() | asdict(estimate))
        if len(self._rows) >= ROWS_AT_ONCE:
            self._flush()

    def end(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(arrow_table(MEANS, self._rows))
        self._rows = []


def _avro(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    return _row_encoder(columns)(_by_name(columns, values))


_row_encoder = lru_cache(row_encoder)


def _jsonl(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    fields = msgspec.json.encode(_by_name(columns, values))[1:-1]
    return (b"{" if columns is _SLICE else b"") + fields + _end(columns, b"}\n")


def _csv(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    """Slices by their keys, which are JSON; null as an empty cell; numbers exact."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(
        slice_key(value) if isinstance(value, dict) else value for value in values
    )
    return text.getvalue().encode() + _end(columns, b"\n")


def _end(columns: Sequence[Column], of_row: bytes) -> bytes:
    return of_row if columns is _ESTIMATE else b","


def _by_name(columns: Sequence[Column], values: Sequence[Any]) -> Row:
    return {column.name: value for column, value in zip(columns, values, strict=True)}


def _csv_file(file: BinaryIO) -> _TextFile:
    file.write(",".join(column.name for column in MEANS.columns).encode() + b"\n")
    return _TextFile(file, _csv)


_WRITERS: Mapping[Format, Callable[[BinaryIO], _AvroFile | _TextFile | _ParquetFile]] = {
    "avro": _AvroFile,
    "jsonl": partial(_TextFile, encode=_jsonl),
    "parquet": _ParquetFile,
}


class MeansWanted(Struct, frozen=True):
    """Which rows of `means` are to be read.

    Attributes:
      slices: their keys; None = of all slices.
      metrics: None = all metrics.
      at_end: only those at N.
    """

    slices: frozenset[SliceKey] | None = None
    metrics: frozenset[str] | None = None
    at_end: bool = False

    def takes(self, row: Row) -> bool:
        """Whether a row is one of them."""
        return (
            (not self.at_end or row["i"] is None)
            and (self.metrics is None or row["metric"] in self.metrics)
            and (self.slices is None or slice_key(row["slice"]) in self.slices)
        )


ALL_MEANS = MeansWanted()


def read_means(folder: str, wanted: MeansWanted = ALL_MEANS) -> Iterator[Row]:
    """Rows of `means`, in order.

    They are taken from `means.csv`, where there are many several times as fast as from the dataset,
    which is read when it is not there.

    Raises:
      UsageError: `means.csv` is damaged, or has not as many rows as the manifest says.
    """
    path = FileSystems.join(folder, MEANS_CSV)
    if not FileSystems.exists(path):
        yield from filter(wanted.takes, read_dataset(folder, MEANS.name))
        return
    types = {column.name: _CSV_TYPES.get(column.kind, pa.string()) for column in MEANS.columns}
    parse = arrow_csv.ParseOptions(newlines_in_values=True)
    convert = arrow_csv.ConvertOptions(
        column_types=types, null_values=[""], strings_can_be_null=True
    )
    found = 0
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
            found += table.num_rows
            for row in table.filter(_expression(wanted)).to_pylist():
                row["slice"] = slice_of(row["slice"])
                yield row
    check_rows(folder, MEANS.name, found, path, _FROM_DATASET)


def _whole_rows(file: BinaryIO) -> Iterator[bytes]:
    """The rows of a table, some megabytes together: Arrow's own reader holds half a gigabyte ahead.

    A line feed between quotes ends no row.
    """
    left = b""
    while piece := file.read(_BATCH):
        left += piece
        end = left.rfind(b"\n") + 1
        within = left.count(b'"', 0, end) % 2
        while within:
            feed = left.rfind(b"\n", 0, end - 1) + 1
            within ^= left.count(b'"', feed, end) % 2
            end = feed
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
