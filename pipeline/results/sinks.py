"""Writes datasets as sorted files, partitioned by conversation, first under a temporary name.

Files are written below `<output>/.unfinished/` and moved when the whole run is done
(`results.folder`), so a run that dies leaves nothing that looks finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import apache_beam as beam
import msgspec
import pyarrow as pa
import xxhash
import zstandard
from apache_beam.utils.windowed_value import WindowedValue
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.folder import unfinished_folder
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.rows import DatasetRows, SortedRows, TablesOf
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.filesystems import create, join, make_folder
from goodgain.transforms.freed_memory import return_freed_memory
from goodgain.transforms.times import stamp_at_end_of_global_window

_Packed = tuple[int, bytes]  # shard, and encoded elements with their keys
_MOST_WAITING = 2**19  # bytes to pack together
_LEVEL = 3  # of zstd; compressed since an engine may make several copies
_NOTHING = zstandard.compress(msgspec.msgpack.encode([]), _LEVEL)
_keyed_decoder = msgspec.msgpack.Decoder(list[tuple[str, bytes]])


class Target(Struct, frozen=True):
    """Where and how to write.

    Attributes:
      folder: the output folder, on any filesystem that Beam writes.
      shards: number of files of each dataset that is partitioned by conversation.
      area: the run's own folder below `.unfinished/`.
      max_held_bytes: the limit of the `MemoryBudget` on an engine that keeps all data in one
        process; None for engines that spill to disk.
    """

    folder: str
    format: Format
    shards: int
    area: str = ""
    max_held_bytes: int | None = None


class WrittenFile(Struct, frozen=True):
    """A file below `.unfinished/`.

    Attributes:
      path: relative to the output folder (and to `.unfinished/`).
    """

    dataset: str
    path: str
    rows: int


@dataclass(eq=False, repr=False)
class WriteRows(beam.PTransform):
    """`PCollection[T]` to `PCollection[WrittenFile]`: writes each T as rows of datasets.

    Every shard of every dataset is written, even if empty, so that readers always find the columns.
    Elements are partitioned by key, and sorted by it within a shard, so files do not depend on the
    order of elements; those with equal keys are sorted by their bytes.
    """

    target: Target
    rows: SortedRows

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[WrittenFile]:
        """Apply the transform."""
        every_shard = elements.pipeline | "EveryShard" >> beam.Create(
            [(shard, _NOTHING) for shard in range(self.target.shards)]
        ).with_output_types(_Packed)
        pack = _PackForShards(self.target, self.rows.key_of)
        packed = elements | "ToShard" >> beam.ParDo(pack).with_output_types(_Packed)
        return (
            (packed, every_shard)
            | "WithEmpty" >> beam.Flatten()
            | "GroupByShard" >> beam.GroupByKey()
            | "WriteShard" >> beam.ParDo(_WriteShard(self.target, self.rows))
        )


@dataclass(eq=False, repr=False)
class WriteEmpty(beam.PTransform):
    """To `PCollection[WrittenFile]`: writes one file of each dataset, without rows.

    Applied to a pipeline.
    """

    target: Target
    rows: SortedRows

    def expand(self, begin: beam.pvalue.PBegin) -> beam.PCollection[WrittenFile]:
        """Apply the transform."""
        one = replace(self.target, shards=1)
        write = _WriteShard(one, self.rows)
        return begin | beam.Create([(0, [])]) | "WriteShard" >> beam.ParDo(write)


@dataclass(eq=False, repr=False)
class _PackForShards(beam.DoFn):
    """Groups the elements of a bundle by shard, with their keys, into batches."""

    target: Target
    key_of: Callable[[Any], str]

    def setup(self) -> None:
        self._encode = msgspec.msgpack.Encoder(order="sorted").encode
        self._budget = MemoryBudget(self.target.max_held_bytes, on_engine=True)

    def start_bundle(self) -> None:
        self._waiting: dict[int, list[tuple[str, bytes]]] = {}
        self._bytes = 0

    def process(self, element: Any) -> Iterator[_Packed]:
        key, encoded = self.key_of(element), self._encode(element)
        shard = xxhash.xxh3_64_intdigest(key.encode()) % self.target.shards
        self._waiting.setdefault(shard, []).append((key, encoded))
        self._bytes += len(key) + len(encoded)
        if self._bytes >= _MOST_WAITING:
            yield from self._pack()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        return map(stamp_at_end_of_global_window, self._pack())

    def _pack(self) -> Iterator[_Packed]:
        waiting = self._waiting
        self.start_bundle()
        for shard, some in waiting.items():
            packed = self._encode(some)
            small = zstandard.compress(packed, _LEVEL)
            self._budget.count_rows(len(small), len(packed))
            yield shard, small


@dataclass(eq=False, repr=False)
class _WriteShard(beam.DoFn):
    target: Target
    rows: SortedRows

    def setup(self) -> None:
        self._decoder = msgspec.msgpack.Decoder(self.rows.element_type)

    def process(self, shard: tuple[int, Iterable[bytes]]) -> Iterator[WrittenFile]:
        number, grouped = shard
        return_freed_memory()
        unpacked = map(_keyed_decoder.decode, map(zstandard.decompress, grouped))
        packed = [element for _, element in sorted(chain.from_iterable(unpacked))]
        for rows in self.rows.datasets:
            return_freed_memory()
            yield self._write(rows, number, packed)

    def _write(self, rows: DatasetRows, number: int, packed: Sequence[bytes]) -> WrittenFile:
        target, name = self.target, rows.dataset.name
        file_format = FORMATS[target.format]
        file_name = f"part-{number:05d}-of-{target.shards:05d}{file_format.suffix}"
        folder = join(unfinished_folder(target.folder, target.area), name)
        make_folder(folder)
        written = 0

        def count_rows() -> Iterator[Row]:
            nonlocal written
            for element in packed:
                for row in rows.rows_of(self._decoder.decode(element)):
                    written += 1
                    yield row

        def count_tables(tables: TablesOf) -> Iterator[pa.Table]:
            nonlocal written
            decode = msgspec.msgpack.Decoder(tables.element_type).decode
            for table in tables.make(map(decode, packed)):
                written += table.num_rows
                yield table

        with create(join(folder, file_name)) as file:
            if rows.tables is None or file_format.write_tables is None:
                file_format.write(rows.dataset, count_rows(), file)
            else:
                file_format.write_tables(rows.dataset, count_tables(rows.tables), file)
        return WrittenFile(name, f"{name}/{file_name}", written)
