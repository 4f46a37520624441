"""Trace records as Parquet.

Parquet has no unions, so the values of `ids` and `fields` are always lists; a single string becomes
a list of one (SPEC 4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import pyarrow
import pyarrow.parquet

from goodgain.pipeline.results.trace_files import trace_schema

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
        return pyarrow.struct(
            {field["name"]: _arrow_type(field["type"]) for field in avro["fields"]}
        )
    return pyarrow.timestamp("ms", tz="UTC")


_SCHEMA = pyarrow.schema(_arrow_type(trace_schema()))
_MAPS = tuple(field.name for field in _SCHEMA if pyarrow.types.is_map(field.type))
# A row group ends at either, so that many results with long texts do not take much memory.
_ROW_GROUP_RECORDS, _ROW_GROUP_RESULTS = 1_000, 2_500


def write_parquet(records: Iterable[dict[str, Any]], file: BinaryIO, codec: str) -> None:
    """Write trace records with the names of SPEC 2, some thousand results in each row group.

    Args:
      file: where to write; it stays open.
    """
    with pyarrow.parquet.ParquetWriter(file, _SCHEMA, compression=codec) as writer:
        for rows in _row_groups(records):
            writer.write_table(pyarrow.Table.from_pylist(rows, _SCHEMA))


def _row_groups(records: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    results = 0
    for record in records:
        rows.append(_row(record))
        results += len(record["results"])
        if len(rows) >= _ROW_GROUP_RECORDS or results >= _ROW_GROUP_RESULTS:
            yield rows
            rows, results = [], 0
    if rows:
        yield rows


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
