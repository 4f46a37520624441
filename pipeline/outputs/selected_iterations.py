"""Finds the iterations of a few conversations without decoding all others (SPEC 6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any, BinaryIO

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goodgain.pipeline.outputs.datasets import ITERATIONS
from goodgain.pipeline.outputs.formats import FORMATS, Format, Row, intact
from goodgain.transforms.filesystems import files_named, join, open_plain

_ID = "conversation_id"
_Read = Callable[[BinaryIO, Collection[str]], Iterator[Row]]


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
