"""Describes Arrow columns by their buffers, for native code."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import types

from goodgain.transforms.core.files.arrow_values import MILLIS_A_DAY, TO_MILLIS

# Each slice of something larger would be copied as a whole.
_MOST_UNUSED = 2
_LITTLE = 1024 * 1024
_UNSCALED = (1, 1)

# Kind, width in bytes of a number or an offset, factor and divisor from a time to milliseconds,
# offset of the first row, buffers, and child columns with their names.
Described = tuple[str, int, tuple[int, int], int, list[bytes | None], list[tuple[str, Any]]]


def described(array: Any) -> Described | None:
    """A pyarrow Array of rows for native code; None if native code does not support a type."""
    if array.get_total_buffer_size() > _MOST_UNUSED * array.nbytes + _LITTLE:
        return None
    return _described(array)


def _described(array: Any) -> Described | None:
    kind = array.type
    if types.is_dictionary(kind):
        return _described(array.dictionary_decode())
    form = _form(kind)
    if form is None:
        return None
    name, width, scale, own_buffers = form
    within = []
    for field, child in _within(array):
        inner = _described(child)
        if inner is None:
            return None
        within.append((field, inner))
    buffers = [None if one is None else one.to_pybytes() for one in array.buffers()[:own_buffers]]
    return name, width, scale, array.offset, buffers, within


def _form(kind: Any) -> tuple[str, int, tuple[int, int], int] | None:
    """Kind, width, scale and number of buffers."""
    for belongs, form in _FORMS:
        if belongs(kind):
            return form
    if types.is_integer(kind):
        name = "whole" if types.is_signed_integer(kind) else "unsigned"
        return name, kind.bit_width // 8, _UNSCALED, 2
    if types.is_timestamp(kind):
        return "time", 8, TO_MILLIS[kind.unit], 2
    return None


_FORMS = [
    (types.is_null, ("null", 1, _UNSCALED, 1)),
    (types.is_boolean, ("flag", 1, _UNSCALED, 2)),
    (types.is_float32, ("float", 4, _UNSCALED, 2)),
    (types.is_float64, ("float", 8, _UNSCALED, 2)),
    (types.is_date32, ("time", 4, (MILLIS_A_DAY, 1), 2)),
    (types.is_string, ("text", 4, _UNSCALED, 3)),
    (types.is_large_string, ("text", 8, _UNSCALED, 3)),
    (types.is_list, ("list", 4, _UNSCALED, 2)),
    (types.is_large_list, ("list", 8, _UNSCALED, 2)),
    (types.is_map, ("map", 4, _UNSCALED, 2)),
    (types.is_struct, ("struct", 1, _UNSCALED, 1)),
]


def _within(array: Any) -> list[tuple[str, pa.Array]]:
    kind = array.type
    if types.is_struct(kind):
        return [(kind.field(at).name, array.field(at)) for at in range(kind.num_fields)]
    if types.is_map(kind):
        return [("", array.keys), ("", array.items)]
    if types.is_list(kind) or types.is_large_list(kind):
        return [("", array.values)]
    return []
