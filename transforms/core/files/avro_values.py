"""Sizes of the values of Avro types, and how to skip values within a limit of memory.

fastavro decodes in C, without limits on nesting or on long lists whose items take no bytes. The
layout of a type shows for nearly all blocks, from their size, that they are harmless; the others
are walked before they are decoded.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from msgspec import Struct

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.varint import read_zigzag

DEEPEST = 64
# Bytes of memory in CPython; the numbers below are those of empty objects of each kind.
_SLOT = 8  # per item of a list
_MAP_ENTRY = 160
# Up to so many fields, a record's dict takes so many bytes; beyond that, so many per field.
_DICTS = ((0, 64), (5, 184), (10, 352), (21, 640), (42, 1184))
_DICT_BYTES_PER_FIELD = 110

# Remaining memory, in a list of one; the walk stops when it falls below 0.
Meter = list[float]
_Skip = Callable[[bytes, int, Meter, int], int]


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
        """Most bytes of memory for `count` values in `size` bytes.

        If so many do not fit, the first may take all bytes before the data end.
        """
        more = size - count * self.least
        if more <= 0:
            more = size
        return count * (self.base + _SLOT) + (self.rate * more if more else 0.0)


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


def lay_out_enum() -> Layout:
    """The number of a symbol."""
    return Layout(1, 0, 0, _skip_long)


def lay_out_fixed(size: int) -> Layout:
    """So many bytes."""
    return Layout(size, 40 + size, 1, _skip_bytes_of(size, 40 + size))


def lay_out_union(branches: list[Layout]) -> Layout:
    """One of some types, at least one; each value follows the number of its type."""
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


def lay_out_record(fields: list[Layout]) -> Layout:
    """A record: its fields, one after another."""
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


def lay_out_array(items: Layout) -> Layout:
    """A list."""
    return _blocks(items, items.skip, 56, _SLOT)


def lay_out_map(values: Layout) -> Layout:
    """A map from texts."""

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


def lay_out_recursive(find: Callable[[], Layout | None]) -> Layout:
    """A type inside itself, whose memory is unknown until it is walked.

    Args:
      find: returns its layout; None until it is made.
    """

    def skip(data: bytes, at: int, meter: Meter, depth: int) -> int:
        layout = find()
        if layout is None or depth > DEEPEST:
            raise TooLargeError(f"a value is nested more than {DEEPEST} levels deep")
        return layout.skip(data, at, meter, depth + 1)

    return Layout(0, 0, inf, skip)


# By name.
PRIMITIVES: dict[str, Layout] = {
    "null": Layout(0, 0, 0, _skip_bytes_of(0, 0)),
    "boolean": Layout(1, 0, 0, _skip_bytes_of(1, 0)),
    "int": Layout(1, 32, 0, _skip_long),
    "long": Layout(1, 32, 0, _skip_long),
    "float": Layout(4, 24, 0, _skip_bytes_of(4, 24)),
    "double": Layout(8, 24, 0, _skip_bytes_of(8, 24)),
    "bytes": Layout(1, 40, 1, _skip_text),
    "string": Layout(1, 56, 4, _skip_text),
}
