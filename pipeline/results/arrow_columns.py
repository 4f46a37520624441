"""Columns of Python values as Arrow arrays and back, without pandas.

`pyarrow.array` imports pandas if that is installed, which takes longer than scoring a small file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, chain, pairwise
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


def arrow_column(kind: Kind, values: Sequence[Any]) -> pa.Array:
    """The array of a column's values; None is null.

    Args:
      values: text, numbers, milliseconds since 1970 UTC, mappings of text to text, or flags.

    Example:
      >>> arrow_column("map", [{"arm": "new"}, None]).to_pylist()
      [[('arm', 'new')], None]
    """
    if kind == "number":
        return _numbers(values)
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
        known = values if validity is None else [value or 0 for value in values]
        buffers = [validity, pa.py_buffer(np.array(known, np.int64))]
    return pa.Array.from_buffers(ARROW_TYPES[kind], len(values), buffers)


def whole_numbers(numbers: NDArray[np.int64], valid: NDArray[np.bool_] | None) -> pa.Array:
    """The array of whole numbers, which are null where they are not valid."""
    buffers = [_validity(valid), pa.py_buffer(np.ascontiguousarray(numbers))]
    return pa.Array.from_buffers(ARROW_TYPES["whole"], len(numbers), buffers)


def choose_texts(
    texts: Sequence[str], indexes: NDArray[np.int64], valid: NDArray[np.bool_] | None
) -> pa.Array:
    """The array of the texts at these indexes, which are null where they are not valid.

    Arrow's own function for it imports all of its kernels, which takes longer than this.
    """
    encoded = [*map(str.encode, texts), b""]
    places = indexes if valid is None else np.where(valid, indexes, len(texts))
    lengths = np.array([*map(len, encoded)], np.int32)[places]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    content = b"".join([encoded[place] for place in places.tolist()])
    buffers = [_validity(valid), pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(ARROW_TYPES["text"], len(indexes), buffers)


def _numbers(values: Sequence[float | None]) -> pa.Array:
    numbers = np.array(values, np.float64)  # None becomes a number that is not equal to itself
    odd = np.flatnonzero(numbers != numbers).tolist()
    nulls = [at for at in odd if values[at] is None]
    validity = None
    if nulls:
        valid = np.ones(len(values), bool)
        valid[nulls], numbers[nulls] = False, 0.0
        validity = _bits(valid)
    return pa.Array.from_buffers(
        ARROW_TYPES["number"], len(values), [validity, pa.py_buffer(numbers)]
    )


def python_values(column: pa.Array) -> list[Any]:
    """The values of an array, as `arrow_column` takes them."""
    if pa.types.is_timestamp(column.type):
        column = column.view(pa.int64())
    if pa.types.is_map(column.type):
        return _mappings(column)
    values: list[Any] = column.to_pylist()
    return values


def _mappings(column: pa.MapArray) -> list[Any]:
    if column.null_count:
        # `to_pylist` makes dicts only from pyarrow 20 on, and the workers of engines have 16.
        return [None if pairs is None else dict(pairs) for pairs in column.to_pylist()]
    # Six times as fast as pyarrow, which makes an object of its own of every key and value.
    pairs = list(zip(column.keys.to_pylist(), column.items.to_pylist(), strict=True))
    return [dict(pairs[start:end]) for start, end in pairwise(column.offsets.to_pylist())]


def _maps(values: Sequence[Mapping[str, str] | None], validity: pa.Buffer | None) -> pa.Array:
    mappings = [value or {} for value in values]
    of_map = ARROW_TYPES["map"]
    children = pa.StructArray.from_arrays(
        [
            arrow_column("text", list(chain.from_iterable(mappings))),
            arrow_column("text", [text for value in mappings for text in value.values()]),
        ],
        fields=[of_map.key_field, of_map.item_field],
    )
    buffers = [validity, _offsets(map(len, mappings))]
    return pa.Array.from_buffers(of_map, len(values), buffers, children=[children])


def _offsets(lengths: Any) -> pa.Buffer:
    return pa.py_buffer(np.array([0, *accumulate(lengths)], np.int32))


def _validity(valid: NDArray[np.bool_] | None) -> pa.Buffer | None:
    return None if valid is None or valid.all() else _bits(valid)


def _bits(flags: Sequence[bool | None] | NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.array(flags, bool), bitorder="little"))
