"""The dataset `means` and `means.csv`, written in one pass.

Each slice has some 440 rows, so with thousands of slices they outnumber all other rows of a run.
Many rows share an estimate or a slice, so each distinct part is encoded only once.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, BinaryIO

import apache_beam as beam
import fastavro
import msgspec
import pyarrow.parquet as pq
from msgspec.structs import asdict, astuple

from goodgain.pipeline.results import formats
from goodgain.pipeline.results.datasets import MEANS, Column
from goodgain.pipeline.results.folder import MEANS_CSV, unfinished_folder
from goodgain.pipeline.results.rows import mean_of_key, slice_sort_key
from goodgain.pipeline.results.sinks import Target, WrittenFile
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.rows import Estimate, MeanOf
from goodgain.transforms.core.means.slices import SliceKey, slice_key, slice_of
from goodgain.transforms.filesystems import create, join, make_folder

_Means = Sequence[tuple[MeanOf, Estimate]]
_Encode = Callable[[Sequence[Column], Sequence[Any]], bytes]
_SLICE, _OF, _ESTIMATE = MEANS.columns[:1], MEANS.columns[1:4], MEANS.columns[4:]
_MOST_CACHED = 2**15  # encoded estimates in the cache


@dataclass(eq=False, repr=False)
class WriteMeans(beam.PTransform):
    """`PCollection[tuple[str, MeansAccumulator]]` to `PCollection[WrittenFile]`: `means`.

    It also writes `means.csv`. A single worker does this, since each is one sorted file.

    Attributes:
      target: its `shards` is ignored.
      ranking_metrics: names, in the order of the values in the accumulators.
      interval: kind of interval for metrics other than those that are 0 or 1.
    """

    target: Target
    ranking_metrics: Sequence[str]
    interval: Interval

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
    path = f"{MEANS.name}/part-00000-of-00001{formats.FORMATS[target.format].suffix}"
    make_folder(join(folder, MEANS.name))
    rows = 0
    with _created(folder, path) as dataset, _created(folder, MEANS_CSV) as table:
        files = (_WRITERS[target.format](dataset), _csv_file(table))
        for _, key, packed in sorted(slices):
            sums = msgspec.msgpack.decode(packed, type=MeansAccumulator)
            means = sums.estimates(ranking_metrics, interval)
            means.sort(key=lambda pair: _mean_of_key(pair[0]))
            rows += len(means)
            for file in files:
                file.add(slice_of(key), means)
        for file in files:
            file.end()
    yield WrittenFile(MEANS.name, path, rows)


_mean_of_key = lru_cache(maxsize=2**14)(mean_of_key)


def _created(folder: str, path: str) -> BinaryIO:
    return create(join(folder, *path.split("/")))


class _EncodedRows:
    """Encodes rows from three parts: slice, measure and estimate."""

    def __init__(self, encode: _Encode) -> None:
        self._encode = encode
        self._of: dict[MeanOf, bytes] = {}
        # By id(), which is valid as long as the estimates are kept here.
        self._estimates: dict[int, bytes] = {}
        self._encoded_estimates: list[Estimate] = []

    def of(self, slice_: dict[str, str], means: _Means) -> list[bytes]:
        """The rows of one slice."""
        if len(self._encoded_estimates) > _MOST_CACHED:
            self._estimates, self._encoded_estimates = {}, []
        head, ofs, cached = self._encode(_SLICE, (slice_,)), self._of, self._estimates
        return [
            head + (ofs.get(of) or self._new(of)) + (cached.get(id(one)) or self._estimated(one))
            for of, one in means
        ]

    def _new(self, of: MeanOf) -> bytes:
        self._of[of] = encoded = self._encode(_OF, of)
        return encoded

    def _estimated(self, estimate: Estimate) -> bytes:
        encoded = self._encode(_ESTIMATE, astuple(estimate))
        self._estimates[id(estimate)] = encoded
        self._encoded_estimates.append(estimate)
        return encoded


class _AvroFile:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._rows = _EncodedRows(_avro)
        self._block: list[bytes] = []
        # Only a header if there are no rows.
        fastavro.writer(
            file, formats.parsed_schema(MEANS), (), codec="deflate", sync_marker=formats.SYNC_MARKER
        )

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        self._block += self._rows.of(slice_, means)
        if len(self._block) >= formats.ROWS_AT_ONCE:
            self.end()

    def end(self) -> None:
        if not self._block:
            return
        deflate = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = deflate.compress(b"".join(self._block)) + deflate.flush()
        for number in (len(self._block), len(data)):
            fastavro.schemaless_writer(self._file, "long", number)
        self._file.write(data + formats.SYNC_MARKER)
        self._block = []


class _TextFile:
    def __init__(self, file: BinaryIO, encode: _Encode) -> None:
        self._file = file
        self._rows = _EncodedRows(encode)

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        self._file.write(b"".join(self._rows.of(slice_, means)))

    def end(self) -> None:
        """Finish the file."""


class _ParquetFile:
    def __init__(self, file: BinaryIO) -> None:
        self._writer = pq.ParquetWriter(file, formats.arrow_schema(MEANS), compression="zstd")
        self._rows: list[formats.Row] = []

    def add(self, slice_: dict[str, str], means: _Means) -> None:
        for of, estimate in means:
            self._rows.append({"slice": slice_} | of._asdict() | asdict(estimate))
        if len(self._rows) >= formats.ROWS_AT_ONCE:
            self._flush()

    def end(self) -> None:
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        self._writer.write_table(formats.arrow_table(MEANS, self._rows))
        self._rows = []


def _avro(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    return _row_encoder(columns)(_by_name(columns, values))


_row_encoder = lru_cache(formats.row_encoder)


def _jsonl(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    fields = msgspec.json.encode(_by_name(columns, values))[1:-1]
    return (b"{" if columns is _SLICE else b"") + fields + _end(columns, b"}\n")


def _csv(columns: Sequence[Column], values: Sequence[Any]) -> bytes:
    """One line of CSV: slices as JSON, null as an empty cell, numbers exact."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(
        slice_key(value) if isinstance(value, dict) else value for value in values
    )
    return text.getvalue().encode() + _end(columns, b"\n")


def _end(columns: Sequence[Column], of_row: bytes) -> bytes:
    return of_row if columns is _ESTIMATE else b","


def _by_name(columns: Sequence[Column], values: Sequence[Any]) -> formats.Row:
    return {column.name: value for column, value in zip(columns, values, strict=True)}


def _csv_file(file: BinaryIO) -> _TextFile:
    file.write(",".join(column.name for column in MEANS.columns).encode() + b"\n")
    return _TextFile(file, _csv)


_WRITERS: Mapping[formats.Format, Callable[[BinaryIO], _AvroFile | _TextFile | _ParquetFile]] = {
    "avro": _AvroFile,
    "jsonl": partial(_TextFile, encode=_jsonl),
    "parquet": _ParquetFile,
}
