"""Trace records as Parquet.

Parquet has no unions, so the values of `ids` and `fields` are always lists; a single string becomes
a list of one (SPEC 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, BinaryIO

import pyarrow
import pyarrow.parquet

from goodgain.pipeline.convert.trace_files import trace_schema

_TEXT = pyarrow.string()
_TYPES = {
    "string": _TEXT,
    "int": pyarrow.int32(),
    "double": pyarrow.float64(),
    "boolean": pyarrow.bool_(),
}


def _arrow_type(avro: Any) -> pyarrow.DataType:
    """The Arrow type for a type of the trace record's Avro schema; for a union, its last one."""
    if isinstance(avro, list):
        return _arrow_type(avro[-1])
    if isinstance(avro, str):
        return _TYPES[avro]
    if avro["type"] == "map":
        return pyarrow.map_(_TEXT, _arrow_type(avro["values"]))
    if avro["type"] == "array":
        return pyarrow.list_(_arrow_type(avro["items"]))
    if avro["type"] == "record":
        return pyarrow.struct({one["name"]: _arrow_type(one["type"]) for one in avro["fields"]})
    return pyarrow.timestamp("ms", tz="UTC")


_SCHEMA = pyarrow.schema(_arrow_type(trace_schema()))
_MAPS = tuple(field.name for field in _SCHEMA if pyarrow.types.is_map(field.type))
_ROW_GROUP_RECORDS = 1_000


def write_parquet(records: Iterable[dict[str, Any]], file: BinaryIO, codec: str) -> None:
    """Write trace records with the names of SPEC 2, 1,000 per row group.

    Args:
      file: where to write; it stays open.
    """
    remaining = iter(records)
    with pyarrow.parquet.ParquetWriter(file, _SCHEMA, compression=codec) as writer:
        while rows := [_row(record) for record in islice(remaining, _ROW_GROUP_RECORDS)]:
            writer.write_table(pyarrow.Table.from_pylist(rows, _SCHEMA))


def _row(record: dict[str, Any]) -> dict[str, Any]:
    maps = {name: list(record.get(name, {}).items()) for name in _MAPS}
    return {**record, **maps, "results": [_result(result) for result in record["results"]]}


def _result(result: dict[str, Any]) -> dict[str, Any]:
    return {
        **result,
        "ids": _list_entries(result.get("ids")),
        "fields": _list_entries(result.get("fields")),
    }


def _list_entries(values: dict[str, str | list[str]] | None) -> list[tuple[str, list[str]]] | None:
    if values is None:
        return None
    return [(name, [value] if isinstance(value, str) else value) for name, value in values.items()]
