"""Sizes of the values of an Avro schema: smallest in the file, largest in memory.

fastavro decodes in C, without limits on nesting or on long lists whose items take no bytes. The
layout of a schema shows for nearly all blocks, from their size, that they are harmless; the others
are walked before they are decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_header import read_zigzag
from goodgain.transforms.core.records.record_errors import has_surrogate

DEEPEST = 64
_MOST_BRANCHES = 500  # of a union; fastavro looks at each of them for every value
# Bytes of memory in CPython; the numbers below are those of empty objects of each kind.
_SLOT = 8  # per item of a list
_MAP_ENTRY = 160
# Up to so many fields, a record's dict takes so many bytes; beyond that, so many per field.
_DICTS = ((0, 64), (5, 184), (10, 352), (21, 640), (42, 1184))
_DICT_BYTES_PER_FIELD = 110

# Remaining memory, in a list of one; the walk stops when it falls below 0.
Meter = list[float]
_Skip = Callable[[bytes, int, Meter, int], int]


class SchemaError(GoodGainError):
    """A schema that cannot be used; the message continues "The Avro schema"."""


class WalkError(GoodGainError):
    """Data that does not fit a schema."""


class TooLargeError(WalkError):
    """Data that would take more memory than it may, or is nested too deeply."""


class Layout(Struct):
    """The size of values of a type.

    Attributes:
      least: bytes of the smallest value in the file.
      base: bytes of the smallest value in memory.
      rate: most further bytes in memory for each further byte in the file.
      skip: maps (data, position, meter, depth) to the position after a value; charges the meter.
    """

    least: int
    base: float
    rate: float
    skip: _Skip

    def at_most(self, size: int, count: int) -> float:
        """Most bytes of memory for `count` values in `size` bytes."""
        more = max(0, size - count * self.least)
        return count * (self.base + _SLOT) + (self.rate * more if more else 0.0)


def layout_of(schema: Any) -> Layout:
    """The layout of a schema, decoded by `json.loads`.

    Raises:
      SchemaError: it is not an Avro schema, or is nested more than 64 levels deep.
    """
    return _Compiler().layout(schema, "", 0)


def skip_values(layout: Layout, data: bytes, count: int, memory: float) -> tuple[int, int]:
    """Skip up to `count` values without decoding them.

    Returns:
      The number of values and of their bytes; fewer than `count` if the data end early or do not
      fit the schema.

    Raises:
      TooLargeError: the values would take more than `memory` bytes, or are nested too deeply.
    """
    meter = [memory]
    at = skipped = 0
    try:
        _charge([memory], count * layout.base)  # without a walk through values that repeat others
        while skipped < count and (at < len(data) or not layout.least):
            at = layout.skip(data, at, meter, 0)
            skipped += 1
            if not layout.least and at >= len(data):
                _charge(meter, (count - skipped) * (layout.base + _SLOT))
                return count, at
    except TooLargeError:
        raise
    except RecursionError:
        raise TooLargeError("a value is nested too deeply") from None
    except (WalkError, ValueError, IndexError):
        pass
    return skipped, at


class _Compiler:
    """Layouts of the types in one schema, those with a name by full name."""

    def __init__(self) -> None:
        self._named: dict[str, Layout | None] = {}  # None while it is being made

    def layout(self, schema: Any, namespace: str, depth: int) -> Layout:
        if depth > DEEPEST:
            raise SchemaError(f"is nested more than {DEEPEST} levels deep")
        if isinstance(schema, str):
            return _PRIMITIVES.get(schema) or self._reference(schema, namespace)
        if isinstance(schema, list):
            return _union([self.layout(branch, namespace, depth + 1) for branch in schema])
        if not isinstance(schema, dict) or "type" not in schema:
            raise SchemaError("has a part that is not a type")
        kind = schema["type"]
        if not isinstance(kind, str):
            return self.layout(kind, namespace, depth + 1)
        if kind == "array":
            items = self.layout(schema.get("items"), namespace, depth + 1)
            return _blocks(items, items.skip, 56, _SLOT)
        if kind == "map":
            return _map(self.layout(schema.get("values"), namespace, depth + 1))
        if kind in ("record", "error", "enum", "fixed"):
            return self._compile_named_type(kind, schema, namespace, depth)
        return self.layout(kind, namespace, depth + 1)

    def _compile_named_type(
        self, kind: str, schema: Mapping[str, Any], namespace: str, depth: int
    ) -> Layout:
        name = schema.get("name")
        if not isinstance(name, str):
            raise SchemaError(f"has a type {kind} without a name")
        namespace_of_type = schema.get("namespace", namespace)
        if "." in name:
            namespace_of_type, name = name.rsplit(".", 1)
        if not isinstance(namespace_of_type, str):
            raise SchemaError(f"has a namespace of {name} that is not text")
        full_name = f"{namespace_of_type}.{name}" if namespace_of_type else name
        self._named[full_name] = None
        if kind == "enum":
            layout = Layout(1, 0, 0, _skip_long)
        elif kind == "fixed":
            layout = _compile_fixed(schema.get("size"), name)
        else:
            fields = schema.get("fields")
            if not isinstance(fields, list):
                raise SchemaError(f"has a record {name} without a list of fields")
            layout = _record(
                [self._field(field, name, namespace_of_type, depth) for field in fields]
            )
        self._named[full_name] = layout
        return layout

    def _field(self, field: Any, record: str, namespace: str, depth: int) -> Layout:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            raise SchemaError(f"has a record {record} with a field that has no name")
        if has_surrogate(field["name"]):
            raise SchemaError(f"has a record {record} with a field whose name is not text")
        return self.layout(field.get("type"), namespace, depth + 1)

    def _reference(self, name: str, namespace: str) -> Layout:
        for full_name in (f"{namespace}.{name}" if namespace and "." not in name else name, name):
            if full_name in self._named:
                layout = self._named[full_name]
                return self._recursive(full_name) if layout is None else layout
        raise SchemaError(f"refers to a type {name[:60]!r} that it does not define")

    def _recursive(self, full_name: str) -> Layout:
        """A recursive type, whose memory is unknown until it is walked."""

        def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
            layout = self._named[full_name]
            if layout is None or depth > DEEPEST:
                raise TooLargeError(f"a value is nested more than {DEEPEST} levels deep")
            return layout.skip(data, at, meter, depth + 1)

        return Layout(0, 0, inf, skip)


def _charge(meter: Meter, memory: float) -> None:
    meter[0] -= memory
    if meter[0] < 0:
        raise TooLargeError("its values would take too much memory")


def _skip_long(data: bytes, at: int, meter: Meter, depth: int) -> int:
    _charge(meter, 32)
    return read_zigzag(data, at)[1]


def _skip_bytes_of(size: int, memory: int) -> _Skip:
    def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
        _charge(meter, memory)
        if at + size > len(data):
            raise WalkError("the data ends inside a value")
        return at + size

    return skip


def _skip_text(data: bytes, at: int, meter: Meter, depth: int) -> int:
    size, at = read_zigzag(data, at)
    if size < 0 or at + size > len(data):
        raise WalkError("the data ends inside a text")
    _charge(meter, 56 + size)
    return at + size


def _compile_fixed(size: Any, name: str) -> Layout:
    if not isinstance(size, int) or size < 0:
        raise SchemaError(f"has a type {name} whose size is not a number")
    return Layout(size, 40 + size, 1, _skip_bytes_of(size, 40 + size))


def _union(branches: list[Layout]) -> Layout:
    if not branches:
        raise SchemaError("has an empty union")
    if len(branches) > _MOST_BRANCHES:
        found = f"{len(branches):,} types; at most {_MOST_BRANCHES:,} are read"
        raise SchemaError(f"has a union of {found}")
    smallest = min(branches, key=lambda branch: (branch.least, branch.base))
    rate = max(branch.rate for branch in branches)
    for branch in branches:
        more = branch.least - smallest.least
        if branch.base > smallest.base:
            rate = max(rate, (branch.base - smallest.base) / more if more else inf)

    def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
        branch, at = read_zigzag(data, at)
        if not 0 <= branch < len(branches):
            raise WalkError("a union has no such branch")
        return branches[branch].skip(data, at, meter, depth)

    return Layout(1 + smallest.least, smallest.base, rate, skip)


def _record(fields: list[Layout]) -> Layout:
    own_memory = next(
        (memory for most, memory in _DICTS if len(fields) <= most),
        _DICT_BYTES_PER_FIELD * len(fields),
    )
    skips = [field.skip for field in fields]

    def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
        _charge(meter, own_memory)
        for skip_field in skips:
            at = skip_field(data, at, meter, depth)
        return at

    return Layout(
        sum(field.least for field in fields),
        own_memory + sum(field.base for field in fields),
        max((field.rate for field in fields), default=0.0),
        skip,
    )


def _map(values: Layout) -> Layout:
    def skip_entry(data: bytes, at: int, meter: Meter, depth: int) -> int:
        return values.skip(data, _skip_text(data, at, meter, depth), meter, depth)

    entry = Layout(1 + values.least, 56 + values.base, max(values.rate, 1), skip_entry)
    return _blocks(entry, skip_entry, 64, _MAP_ENTRY)


def _blocks(items: Layout, skip_item: _Skip, own_memory: int, slot: int) -> Layout:
    """A list or map: blocks of items, each preceded by their number, up to an empty block."""

    def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
        _charge(meter, own_memory)
        while True:
            count, at = read_zigzag(data, at)
            if count == 0:
                return at
            if count < 0:
                _, at = read_zigzag(data, at)
                count = -count
            if count * items.least > len(data) - at:
                raise WalkError("the data ends inside a list")
            _charge(meter, count * slot)
            if not items.least:
                _charge(meter, count * items.base)
            for _ in range(count):
                begin, at = at, skip_item(data, at, meter, depth)
                if at == begin:  # items of 0 bytes are all equal, and charged above
                    break

    each = items.base + slot
    rate = max(items.rate, each / items.least if items.least else inf)
    return Layout(1, own_memory, rate, skip)


_PRIMITIVES: dict[str, Layout] = {
    "null": Layout(0, 0, 0, _skip_bytes_of(0, 0)),
    "boolean": Layout(1, 0, 0, _skip_bytes_of(1, 0)),
    "int": Layout(1, 32, 0, _skip_long),
    "long": Layout(1, 32, 0, _skip_long),
    "float": Layout(4, 24, 0, _skip_bytes_of(4, 24)),
    "double": Layout(8, 24, 0, _skip_bytes_of(8, 24)),
    "bytes": Layout(1, 40, 1, _skip_text),
    "string": Layout(1, 56, 4, _skip_text),
}
