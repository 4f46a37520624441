"""Converts tables with one row per result to trace records, one per search call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Record = dict[str, Any]
_CALL_COLUMNS = (
    "conversation_id",
    "turn",
    "iteration",
    "call",
    "record_id",
    "timestamp",
    "query",
    "tool",
    "turn_count",
    "is_final",
)
_KEY_COLUMNS = ("conversation_id", "turn", "iteration", "call", "record_id")
_RESULT_COLUMNS = (
    "entity_type",
    "id",
    "url",
    "title",
    "snippet",
    "content",
    "gain",
    "score",
    "reference_id",
)
_CALL_MAPS = ("attributes", "costs")
_RESULT_MAPS = ("ids", "fields")
_RANK = "rank"


def is_column(name: str) -> bool:
    """Whether a column has a meaning in a table with one row per result."""
    maps = (*_CALL_MAPS, *_RESULT_MAPS)
    return name in (*_CALL_COLUMNS, *_RESULT_COLUMNS, *maps, _RANK) or name.split(".", 1)[0] in maps


def records_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """The search calls, ordered by their first rows.

    Rows with the same conversation_id, turn, iteration, call and record_id are one search call; its
    own fields come from its first row. Its results are ordered by `rank`, or without ranks as the
    rows are. A row without any column of a result is a call that returned nothing. The columns
    `attributes.NAME`, `costs.NAME`, `ids.NAME` and `fields.NAME` become entries of those maps.
    Unknown columns stay with the results, for the warnings about them.

    Args:
      rows: column names to values; None is missing.
    """
    calls: dict[tuple[Any, ...], tuple[Record, list[tuple[Any, Record]]]] = {}
    for row in rows:
        key = tuple(row.get(name) for name in _KEY_COLUMNS)
        if key not in calls:
            calls[key] = (_part(row, _CALL_COLUMNS, _CALL_MAPS), [])
        result = _part(row, _RESULT_COLUMNS, _RESULT_MAPS)
        if result:
            unread = {name: value for name, value in row.items() if not is_column(name)}
            calls[key][1].append((row.get(_RANK), {**unread, **result}))
    for call, ranked_results in calls.values():
        # Sorting is stable: without ranks, rows keep their order.
        ordered = sorted(ranked_results, key=lambda pair: (pair[0] is None, pair[0] or 0))
        yield {**call, "results": [result for _, result in ordered]}


def _part(row: Mapping[str, Any], names: tuple[str, ...], maps: tuple[str, ...]) -> Record:
    part = {name: row[name] for name in names if row.get(name) is not None}
    for name in maps:
        entries = dict(row.get(name) or {})
        prefix = f"{name}."
        entries.update(
            (column.removeprefix(prefix), value)
            for column, value in row.items()
            if column.startswith(prefix)
        )
        entries = {key: value for key, value in entries.items() if value is not None}
        if entries:
            part[name] = entries
    return part
