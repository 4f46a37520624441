"""Tables in long form, with a row for each result, as records: one for each search call (SPEC 2).

A row has the fields of its search call and of its result side by side. The columns
`attributes.NAME`, `costs.NAME`, `ids.NAME` and `fields.NAME` become entries of those maps.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.field_types import MAPS
from goodgain.transforms.core.records.likely_fields import (
    CALL_FIELDS,
    RESULT_FIELDS,
    is_of_result,
)
from goodgain.transforms.core.records.renames import RANK

RESULTS = "results"
CALL_MAPS = tuple(name for name, owner in MAPS.items() if owner == "call")
RESULT_MAPS = tuple(name for name, owner in MAPS.items() if owner == "result")
_CALL_COLUMNS = tuple(sorted(CALL_FIELDS - {RESULTS, *CALL_MAPS}))
_RESULT_COLUMNS = tuple(sorted(RESULT_FIELDS - {*RESULT_MAPS}))
_COLUMNS = frozenset((*_CALL_COLUMNS, *_RESULT_COLUMNS, *MAPS, RANK))
_OF_RESULT = frozenset((*_RESULT_COLUMNS, *RESULT_MAPS, RANK))
_KEY = ("conversation_id", "turn", "iteration", "call", "record_id")
_IDENTIFYING = ("call", "record_id")  # within an iteration

Row = Mapping[str, Any]


def is_column(name: str) -> bool:
    """Whether a column has a meaning in long form."""
    return name in _COLUMNS or name.split(".", 1)[0] in MAPS


def is_long(names: Iterable[str]) -> bool:
    """Whether the rows of a table with these columns are results rather than search calls."""
    several = list(names)
    return RESULTS not in several and any(map(_is_of_result, several))


def _is_of_result(name: str) -> bool:
    return name.split(".", 1)[0] in _OF_RESULT if is_column(name) else is_of_result(name)


def key_of_row(row: Row) -> Hashable:
    """What the rows of one search call have in common, apart from its query."""
    values = tuple(row.get(name) for name in _KEY)
    try:
        hash(values)
    except TypeError:  # a list or a dict, which is rejected later
        return repr(values)
    return values


def calls_of_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of each search call, ordered by their first rows.

    Args:
      rows: column names to values; None and NaN are missing.
    """
    groups: dict[Hashable, list[Row]] = {}
    for row in map(_drop_nan, rows):
        groups.setdefault(key_of_row(row), []).append(row)
    for group in groups.values():
        yield from split_by_query(group)


def split_by_query(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each search call among rows with one key, in order.

    Without `call` and `record_id`, searches of one iteration differ by their queries; a row
    without a query belongs to the call of the row before it.
    """
    if any(rows[0].get(name) is not None for name in _IDENTIFYING):
        yield list(rows)
        return
    calls: dict[str, list[Row]] = {}
    query = ""
    for row in rows:
        if row.get("query") is not None:
            query = repr(row["query"])
        calls.setdefault(query, []).append(row)
    yield from calls.values()


def record_of_rows(rows: Sequence[Row]) -> dict[str, Any]:
    """The record of a search call.

    Its own fields come from its first row. Its results are ordered by `rank`, or without ranks as
    the rows are. A row without any column of a result adds none; one with a rank alone adds a
    result of which nothing is known, unless it is the only row. Columns without a meaning stay
    with the results, for the warnings about them.

    Args:
      rows: from `calls_of_rows`.

    Raises:
      RecordError: a rank is not a number.
    """
    results = []
    for row in order_rows(rows):
        unread = {name: value for name, value in row.items() if not is_column(name)}
        results.append({**unread, **_part(row, _RESULT_COLUMNS, RESULT_MAPS)})
    return {**_part(rows[0], _CALL_COLUMNS, CALL_MAPS), RESULTS: results}


def order_rows(rows: Sequence[Row]) -> list[Row]:
    """The rows of a call that have a result, in the order of their results.

    Raises:
      RecordError: a rank is not a number.
    """
    # The only row of a call is how an outer join writes a call without results, rank included.
    several = len(rows) > 1
    with_result = [
        row
        for row in rows
        if _part(row, _RESULT_COLUMNS, RESULT_MAPS) or (several and row.get(RANK) is not None)
    ]
    return sorted(with_result, key=_rank)  # stable: without ranks, rows keep their order


def with_maps(row: Row) -> Row:
    """A row that is a search call, with its columns like `attributes.NAME` as entries of maps."""
    maps = _part(row, (), CALL_MAPS)
    if not maps:
        return row
    dotted = tuple(f"{name}." for name in CALL_MAPS)
    return {name: value for name, value in row.items() if not name.startswith(dotted)} | maps


def _drop_nan(row: Row) -> Row:
    """A row without NaN, which data frames have for missing values of any column."""
    if any(value != value for value in row.values() if isinstance(value, float)):
        return {
            name: value
            for name, value in row.items()
            if not (isinstance(value, float) and value != value)
        }
    return row


def _rank(row: Row) -> float:
    """The rank in a row; a missing rank is after all others."""
    value = row.get(RANK)
    if value is None:
        return math.inf
    try:
        rank = float(value)
    except (TypeError, ValueError, OverflowError):
        rank = math.nan
    if math.isnan(rank):
        conversation_id = row.get("conversation_id")
        readable = conversation_id if isinstance(conversation_id, str) else None
        raise RecordError(f"rank must be a number, got {value!r}.", RANK, readable)
    return rank


def _part(row: Row, names: tuple[str, ...], maps: tuple[str, ...]) -> dict[str, Any]:
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
        isinstance(entry, tuple) and len(entry) == 2 for entry in entries
    )
