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

from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.folder import read_dataset
from goodgain.pipeline.results.formats import FORMATS, Format, Row, intact
from goodgain.transforms.core.means.slices import SliceKey, slice_key
from goodgain.transforms.filesystems import files_named, join, open_plain

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

    Raises:
      UsageError: the dataset is damaged, or its number of rows differs from the manifest.
    """
    return filter(wanted.takes, read_dataset(folder, MEANS.name))


def read_iterations(folder: str, conversation_ids: Collection[str]) -> Iterator[Row]:
    """The rows of `iterations` of a few conversations, in any format."""
    if not conversation_ids:
        return
    for name, read in _READERS.items():
        for path in files_named(join(folder, "iterations"), "part-*" + FORMATS[name].suffix):
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
