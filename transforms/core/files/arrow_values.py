"""Converts Arrow columns to Python values, column by column.

pyarrow's own conversion makes a scalar object for each value; converting each flat column in C and
then assembling the rows takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyarrow import types

from goodgain.transforms.core.records.coercion import one_or_many
from goodgain.transforms.core.records.field_types import MAPS

MILLIS_A_DAY = 86_400_000
TO_MILLIS = {"s": (1000, 1), "ms": (1, 1), "us": (1, 1000), "ns": (1, 1_000_000)}


def python_values(array: Any, escape: bool = False) -> list[Any]:
    """One Python value per element: dicts for structs and maps, lists for lists.

    Timestamps and dates are milliseconds since the epoch; lists of structs without a value are
    empty, and so are maps in the columns that should have some; a list of one inside a map is its
    string.

    Args:
      escape: whether bytes that are not UTF-8 become lone surrogates.

    Raises:
      UnicodeDecodeError: a string is not UTF-8, and `escape` is False.
    """
    kind = array.type
    if types.is_struct(kind):
        return _structs(array, escape)
    if types.is_map(kind):
        return _maps(array, escape)
    if types.is_list(kind) or types.is_large_list(kind):
        return _lists(array, escape)
    if types.is_dictionary(kind):
        return python_values(array.dictionary_decode(), escape)
    if types.is_timestamp(kind):
        return _milliseconds(array.cast(pa.int64()), *TO_MILLIS[kind.unit])
    if types.is_date32(kind):
        return _milliseconds(array.cast(pa.int32()), MILLIS_A_DAY, 1)
    if types.is_fixed_size_list(kind):
        return python_values(array.cast(pa.list_(kind.value_type)), escape)
    if escape and _is_text(kind):
        raw = array.cast(pa.large_binary()).to_pylist()
        return [None if text is None else text.decode("utf-8", "surrogateescape") for text in raw]
    return _as_flat_list(array)


def rows_of_batch(batch: Any) -> tuple[list[dict[str, Any]], bool]:
    """The rows of a RecordBatch as pyarrow gives them, and whether a text in it is not UTF-8.

    In that case they are from `python_values`, and lone surrogates stand for the bytes.
    """
    try:
        return batch.to_pylist(), False
    except UnicodeDecodeError:
        return python_values(batch.to_struct_array(), escape=True), True


def _is_text(kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _as_flat_list(array: Any) -> list[Any]:
    values: list[Any]
    try:
        values = array.to_pylist()
    except UnicodeDecodeError:
        raise
    except (ValueError, OverflowError):
        # Python has no value for it; as text it is rejected if its field is used.
        values = array.cast(pa.string()).to_pylist()
    return values


def _structs(array: Any, escape: bool) -> list[Any]:
    names = [field.name for field in array.type]
    # Some writers use structs for maps, with null for an absent key.
    columns = [
        _column_of_maps(column, escape) if name in MAPS else python_values(column, escape)
        for name, column in zip(names, array.flatten(), strict=True)
    ]
    if not columns:
        return [{} for _ in range(len(array))]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if array.null_count == 0:
        return rows
    return [row if valid else None for row, valid in zip(rows, _valid(array), strict=True)]


def _column_of_maps(array: Any, escape: bool) -> list[Any]:
    """The maps of a column that should have some: empty where there is no value."""
    if types.is_map(array.type):
        return [{} if row is None else row for row in _maps(array, escape)]
    return (_structs_as_maps if types.is_struct(array.type) else python_values)(array, escape)


def _structs_as_maps(array: Any, escape: bool) -> list[dict[str, Any]]:
    return [
        {name: entry for name, value in row.items() if (entry := one_or_many(value)) is not None}
        if row is not None
        else {}
        for row in _structs(array, escape)
    ]


def _lists(array: Any, escape: bool) -> list[Any]:
    offsets, first, last = _extent(array)
    values = python_values(array.values.slice(first, last - first), escape)
    without_value: list[Any] | None = [] if types.is_struct(array.type.value_type) else None
    return [
        values[begin - first : end - first] if valid else without_value
        for begin, end, valid in _spans(array, offsets)
    ]


def _maps(array: Any, escape: bool) -> list[dict[Any, Any] | None]:
    offsets, first, last = _extent(array)
    keys = python_values(array.keys.slice(first, last - first), escape)
    entries = _entries(array.items.slice(first, last - first), escape)
    pairs = list(zip(keys, entries, strict=True))
    rows = [
        dict(pairs[begin - first : end - first]) if valid else None
        for begin, end, valid in _spans(array, offsets)
    ]
    if None in entries:
        return [
            row and {key: cell for key, cell in row.items() if cell is not None} for row in rows
        ]
    return rows


def _entries(items: Any, escape: bool) -> list[Any]:
    """The values of maps, each a string, a list of two or more, or None (SPEC 4.1)."""
    kind = items.type
    if (types.is_list(kind) or types.is_large_list(kind)) and _is_text(kind.value_type):
        offsets, first, last = _extent(items)
        texts = items.values.slice(first, last - first)
        # Nearly always each list has one string; then the strings are the entries.
        if items.null_count == 0 and offsets == list(range(first, last + 1)):
            return _entries(texts, escape)
    return [
        entry if type(entry) is str else one_or_many(entry)
        for entry in python_values(items, escape)
    ]


def _extent(array: Any) -> tuple[list[int], int, int]:
    offsets: list[int] = array.offsets.to_pylist()
    return offsets, offsets[0], offsets[-1]


def _spans(array: Any, offsets: list[int]) -> Iterator[tuple[int, int, bool]]:
    return zip(offsets[:-1], offsets[1:], _valid(array), strict=True)


def _valid(array: Any) -> list[bool]:
    if array.null_count == 0:
        return [True] * len(array)
    valid: list[bool] = array.is_valid().to_pylist()
    return valid


def _milliseconds(stored: Any, factor: int, divisor: int) -> list[int | None]:
    # Python's division rounds down even before 1970; Arrow's rounds towards zero.
    return [None if value is None else value * factor // divisor for value in stored.to_pylist()]
