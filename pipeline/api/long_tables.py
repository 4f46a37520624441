"""Converts rows in long form, one per result, to trace records, one per search call."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.search_call import Result
from goodgain.transforms.core.warnings.field_names import is_of_result

Record = dict[str, Any]
_KEY_COLUMNS = ("conversation_id", "turn", "iteration", "call", "record_id")
_CALL_COLUMNS = (*_KEY_COLUMNS, "timestamp", "query", "tool", "turn_count", "is_final")
_CALL_MAPS = ("attributes", "costs")
_RESULT_MAPS = ("ids", "fields")
_RESULT_COLUMNS = tuple(name for name in Result.__struct_fields__ if name not in _RESULT_MAPS)
_RANK = "rank"


def is_column(name: str) -> bool:
    """Whether a column has a meaning in rows of results."""
    maps = (*_CALL_MAPS, *_RESULT_MAPS)
    return name in (*_CALL_COLUMNS, *_RESULT_COLUMNS, *maps, _RANK) or name.split(".", 1)[0] in maps


def is_long(names: Iterable[str]) -> bool:
    """Whether rows with these columns are results, not search calls with lists of results."""
    names = set(names)
    return "results" not in names and any(map(_is_of_result, names))


def _is_of_result(name: str) -> bool:
    if is_column(name):
        return name == _RANK or name.split(".", 1)[0] in (*_RESULT_COLUMNS, *_RESULT_MAPS)
    return is_of_result(name)


def records_of_rows(rows: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
    """The search calls of rows in long form, ordered by their first rows.

    Rows with the same conversation_id, turn, iteration, call and record_id are one search call; its
    own fields come from its first row. Its results are ordered by `rank`, or without ranks as the
    rows are. A row without any column of a result is a call that returned nothing. The columns
    `attributes.NAME`, `costs.NAME`, `ids.NAME` and `fields.NAME` become entries of those maps.
    Unknown columns stay with the results, for the warnings about them.

    Args:
      rows: column names to values; None and NaN are missing.

    Raises:
      UsageError: a rank is not a number.
    """
    calls: dict[Hashable, tuple[Record, list[tuple[float, Record]]]] = {}
    for number, row in enumerate(map(_without_nan, rows), start=1):
        key = _key(row)
        if key not in calls:
            calls[key] = (_part(row, _CALL_COLUMNS, _CALL_MAPS), [])
        result = _part(row, _RESULT_COLUMNS, _RESULT_MAPS)
        if result:
            unread = {name: value for name, value in row.items() if not is_column(name)}
            calls[key][1].append((_rank(row.get(_RANK), number), {**unread, **result}))
    for call, ranked_results in calls.values():
        # Sorting is stable: without ranks, rows keep their order.
        ordered = sorted(ranked_results, key=itemgetter(0))
        yield {**call, "results": [result for _, result in ordered]}


def _without_nan(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """A row without NaN, which data frames have for missing values of any column."""
    if any(value != value for value in row.values() if isinstance(value, float)):
        return {
            name: value
            for name, value in row.items()
            if not (isinstance(value, float) and value != value)
        }
    return row


def _key(row: Mapping[str, Any]) -> Hashable:
    values = tuple(row.get(name) for name in _KEY_COLUMNS)
    try:
        hash(values)
    except TypeError:  # a list or a dict, which is rejected later
        return repr(values)
    return values


def _rank(value: Any, number: int) -> float:
    """The rank in the row with this number; a missing rank is after all others."""
    if value is None:
        return math.inf
    try:
        rank = float(value)
    except (TypeError, ValueError, OverflowError):
        rank = math.nan
    if math.isnan(rank):
        raise UsageError(f"row {number} of the traces has the rank {value!r}, which is no number.")
    return rank


def _part(row: Mapping[str, Any], names: tuple[str, ...], maps: tuple[str, ...]) -> Record:
    part = {name: row[name] for name in names if row.get(name) is not None}
    for name in maps:
        whole = row.get(name) or {}
        if not isinstance(whole, Mapping) and not _are_pairs(whole):
            part[name] = whole  # in another form, or rejected later
            continue
        entries = dict(whole)
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


def _are_pairs(entries: Any) -> bool:
    """Whether these are the entries of a map as pyarrow gives them."""
    return isinstance(entries, list) and all(
        isinstance(one, tuple) and len(one) == 2 for one in entries
    )
