"""Columns of Python values as Arrow arrays and back, without pandas.

`pyarrow.array` imports pandas if that is installed, which takes longer than scoring a small file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from goodgain.pipeline.results.datasets import Kind

ARROW_TYPES: dict[Kind, pa.DataType] = {
    "text": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "time": pa.timestamp("ms", tz="UTC"),
    "map": pa.map_(pa.string(), pa.string()),
    "flag": pa.bool_(),
}
_NUMPY_TYPES: Mapping[Kind, Any] = {"whole": np.int64, "number": np.float64, "time": np.int64}


def arrow_column(kind: Kind, values: Sequence[Any]) -> pa.Array:
    """The array of a column's values; None is null.

    Args:
      values: text, numbers, milliseconds since 1970 UTC, mappings of text to text, or flags.

    Example:
      >>> arrow_column("map", [{"arm": "new"}, None]).to_pylist()
      [[('arm', 'new')], None]
    """
    valid = [value is not None for value in values]
    validity = None if all(valid) else _bits(valid)
    if kind == "map":
        return _maps(values, validity)
    if kind == "text":
        encoded = [b"" if value is None else value.encode() for value in values]
        buffers = [validity, _offsets(map(len, encoded)), pa.py_buffer(b"".join(encoded))]
    elif kind == "flag":
        buffers = [validity, _bits(values)]
    else:
        known = [0 if value is None else value for value in values]
        buffers = [validity, pa.py_buffer(np.array(known, _NUMPY_TYPES[kind]))]
    return pa.Array.from_buffers(ARROW_TYPES[kind], len(values), buffers)


def whole_numbers(numbers: NDArray[np.int64], valid: NDArray[np.bool_] | None) -> pa.Array:
    """The array of whole numbers, which are null where they are not valid."""
    validity = None if valid is None or valid.all() else _bits(valid)
    buffers = [validity, pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(ARROW_TYPES["whole"], len(numbers), buffers)


def chosen_texts(
    texts: Sequence[str], indexes: NDArray[np.int64], valid: NDArray[np.bool_] | None
) -> pa.Array:
    """The array of the texts at these indexes, which are null where they are not valid."""
    chosen = whole_numbers(indexes, valid)
    return pa.DictionaryArray.from_arrays(chosen, arrow_column("text", texts)).dictionary_decode()


def python_values(column: pa.Array) -> list[Any]:
    """The values of an array, as `arrow_column` takes them."""
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    values: list[Any] = column.to_pylist()
    if pa.types.is_map(column.type):
        # `to_pylist` makes dicts only from pyarrow 20 on, and the workers of engines have 16.
        return [None if pairs is None else dict(pairs) for pairs in values]
    return values


def _maps(values: Sequence[Mapping[str, str] | None], validity: pa.Buffer | None) -> pa.Array:
    entries = [list(value.items()) if value else [] for value in values]
    pairs = [pair for of_value in entries for pair in of_value]
    of_map = ARROW_TYPES["map"]
    children = pa.StructArray.from_arrays(
        [
            arrow_column("text", [key for key, _ in pairs]),
            arrow_column("text", [value for _, value in pairs]),
        ],
        fields=[of_map.key_field, of_map.item_field],
    )
    buffers = [validity, _offsets(map(len, entries))]
    return pa.Array.from_buffers(of_map, len(values), buffers, children=[children])


def _offsets(lengths: Any) -> pa.Buffer:
    return pa.py_buffer(np.array([0, *accumulate(lengths)], np.int32))


def _bits(flags: Sequence[bool | None] | NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(flags, bool), bitorder="little"))
