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

_TEXT = pyarrow.string()
_LISTS_BY_NAME = pyarrow.map_(_TEXT, pyarrow.list_(_TEXT))
_RESULT = pyarrow.struct(
    {
        "entity_type": _TEXT,
        "id": _TEXT,
        "ids": _LISTS_BY_NAME,
        "url": _TEXT,
        "title": _TEXT,
        "snippet": _TEXT,
        "content": _TEXT,
        "fields": _LISTS_BY_NAME,
        "gain": pyarrow.int32(),
        "score": pyarrow.float64(),
        "reference_id": _TEXT,
    }
)
_SCHEMA = pyarrow.schema(
    {
        "conversation_id": _TEXT,
        "turn": pyarrow.int32(),
        "iteration": pyarrow.int32(),
        "call": pyarrow.int32(),
        "record_id": _TEXT,
        "timestamp": pyarrow.timestamp("ms", tz="UTC"),
        "query": _TEXT,
        "tool": _TEXT,
        "turn_count": pyarrow.int32(),
        "is_final": pyarrow.bool_(),
        "attributes": pyarrow.map_(_TEXT, _TEXT),
        "costs": pyarrow.map_(_TEXT, pyarrow.float64()),
        "results": pyarrow.list_(_RESULT),
    }
)
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
    attributes = list(record["attributes"].items())
    results = [_result(result) for result in record["results"]]
    costs = list(record.get("costs", {}).items())
    return {**record, "attributes": attributes, "costs": costs, "results": results}


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
