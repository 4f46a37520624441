"""Describes Arrow columns by their buffers, for native code."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import types

from goodgain.transforms.core.files.arrow_values import MILLIS_A_DAY, TO_MILLIS

# Buffers are copied as a whole, even if the rows are a small slice of them. So they may take this
# many times what the rows use, and some bytes more.
_MOST_TIMES_USED = 2
_ALWAYS_COPIED = 1024 * 1024
_UNSCALED = (1, 1)

# A column: its kind, the width in bytes of its numbers or offsets, factor and divisor that convert
# its times to milliseconds, the index of its first row in the buffers, the buffers, and its child
# columns with their names ("" for those of lists and maps).
NativeColumn = tuple[str, int, tuple[int, int], int, list[bytes | None], list[tuple[str, Any]]]


def native_columns(array: Any) -> NativeColumn | None:
    """The columns of an Array of rows; None if unsupported by native code, or too much to copy."""
    if array.get_total_buffer_size() > _MOST_TIMES_USED * array.nbytes + _ALWAYS_COPIED:
        return None
    return _native_column(array)


def _native_column(array: Any) -> NativeColumn | None:
    kind = array.type
    if types.is_dictionary(kind):
        return _native_column(array.dictionary_decode())
    layout = _layout_of(kind)
    if layout is None:
        return None
    name, width, scale, buffer_count = layout
    children = []
    for child_name, child in _children(array):
        native_child = _native_column(child)
        if native_child is None:
            return None
        children.append((child_name, native_child))
    buffers = [
        None if buffer is None else buffer.to_pybytes() for buffer in array.buffers()[:buffer_count]
    ]
    return name, width, scale, array.offset, buffers, children


def _layout_of(kind: Any) -> tuple[str, int, tuple[int, int], int] | None:
    """Kind, width, scale and number of buffers for an Arrow type; None if not supported."""
    for is_type, layout in _LAYOUTS:
        if is_type(kind):
            return layout
    if types.is_integer(kind):
        name = "whole" if types.is_signed_integer(kind) else "unsigned"
        return name, kind.bit_width // 8, _UNSCALED, 2
    if types.is_timestamp(kind):
        return "time", 8, TO_MILLIS[kind.unit], 2
    return None


_LAYOUTS = [
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


def _children(array: Any) -> list[tuple[str, pa.Array]]:
    kind = array.type
    if types.is_struct(kind):
        return [(kind.field(at).name, array.field(at)) for at in range(kind.num_fields)]
    if types.is_map(kind):
        return [("", array.keys), ("", array.items)]
    if types.is_list(kind) or types.is_large_list(kind):
        return [("", array.values)]
    return []
