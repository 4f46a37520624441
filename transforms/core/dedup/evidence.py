"""The evidence of a result, decoded from its fingerprint for keys and verification."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from operator import itemgetter

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import ResultFingerprint
from goodgain.transforms.core.dedup.keys import (
    START_AND_END,
    is_evidence_enough,
    key_positions,
    start_and_end_key,
)
from goodgain.transforms.core.dedup.memo import Memo
from goodgain.transforms.core.dedup.rules import (
    END,
    KEY,
    START,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    UNKNOWN_TYPE,
)

_MOST_LAYOUTS = 10_000
_DIGEST_BYTES = 8

Value = int | frozenset[int]
_Numbers = tuple[int, ...]  # the digests of a fingerprint
_Selection = Callable[[_Numbers], _Numbers]


class FingerprintLayout(Struct, frozen=True):
    """The positions of digests in a fingerprint; the same for equal `codes`.

    Positions count digests from 0.

    Attributes:
      type_number: number of the entity type; NO_TYPE if absent.
      values: attribute number and position of each value; an id may have several.
      keys: attribute number and position of each candidate key.
      start_and_end: positions of these two fields, if both are present.
      identifies_alone: whether there are enough attributes (two) for equal evidence to be decisive.
      numbers: reads the digests.
      key_numbers, value_numbers: take the digests at the positions of `keys` and `values`.
      attributes: the attribute numbers of `values`.
      key_attributes: those of an evidence's keys.
    """

    type_number: int
    values: tuple[tuple[int, int], ...]
    keys: tuple[tuple[int, int], ...]
    start_and_end: tuple[int, int] | None
    identifies_alone: bool
    multi_valued: bool
    numbers: Callable[[bytes], _Numbers]
    key_numbers: _Selection
    value_numbers: _Selection
    attributes: _Numbers
    key_attributes: _Numbers


class Evidence(Struct):
    """The attributes of one result as numbers (SPEC 4.2, 4.3).

    Attributes:
      keys: candidate keys; those of different attributes are never equal.
      values: digest by attribute number; a set of digests for an id with several values.
    """

    layout: FingerprintLayout
    numbers: _Numbers
    keys: _Numbers
    values: dict[int, Value]


def read_evidence(result: ResultFingerprint) -> Evidence:
    """Decode a fingerprint."""
    layout = layout_of(result.codes)
    numbers = layout.numbers(result.digests)
    keys = layout.key_numbers(numbers)
    if layout.start_and_end is not None:
        start, end = layout.start_and_end
        keys += (start_and_end_key(numbers[start], numbers[end]),)
    # Without the argument `strict`, the dict takes half the time.
    pairs = zip(layout.attributes, layout.value_numbers(numbers))  # noqa: B905
    values: dict[int, Value] = _group_by_attribute(pairs) if layout.multi_valued else dict(pairs)
    return Evidence(layout, numbers, keys, values)


def _decode_layout(codes: bytes) -> FingerprintLayout:
    type_number, at = _attribute_number(codes, 0, (UNKNOWN_TYPE,))
    digests: list[tuple[int, bool]] = []  # attribute, and whether it is of its key
    while at < len(codes):
        is_key = bool(codes[at] & KEY)
        if is_key:
            attribute, at = digests[-1][0], at + 1
        else:
            attribute, at = _attribute_number(codes, at, (UNKNOWN_FIELD, UNKNOWN_ID))
        digests.append((attribute, is_key))
    values = [(digest, position) for position, (digest, is_key) in enumerate(digests) if not is_key]
    positions = dict(values)
    keys = key_positions(digests)
    has_start_and_end = {START, END} <= set(positions)
    return FingerprintLayout(
        type_number=type_number,
        values=tuple(values),
        keys=keys,
        start_and_end=(positions[START], positions[END]) if has_start_and_end else None,
        identifies_alone=is_evidence_enough(positions),
        multi_valued=len(positions) < len(values),
        numbers=struct.Struct(f">{len(digests)}Q").unpack,
        key_numbers=_selection(position for _, position in keys),
        value_numbers=_selection(position for _, position in values),
        attributes=tuple(attribute for attribute, _ in values),
        key_attributes=(
            *(attribute for attribute, _ in keys),
            *((START_AND_END,) if has_start_and_end else ()),
        ),
    )


# The layout of fingerprints with these codes. Results of one kind share it, so it is cached.
layout_of: Callable[[bytes], FingerprintLayout] = Memo(_decode_layout, _MOST_LAYOUTS).__getitem__


def _selection(positions: Iterable[int]) -> _Selection:
    """Takes the numbers at these positions."""
    wanted = tuple(positions)
    if len(wanted) > 1:
        return itemgetter(*wanted)
    return itemgetter(slice(wanted[0], wanted[0] + 1) if wanted else slice(0))


def _attribute_number(codes: bytes, at: int, unknown: tuple[int, ...]) -> tuple[int, int]:
    """The attribute number at a position of `codes`, and the position after it."""
    end = at + 1 + (_DIGEST_BYTES if codes[at] in unknown else 0)
    return int.from_bytes(codes[at:end]), end


def _group_by_attribute(pairs: Iterable[tuple[int, int]]) -> dict[int, Value]:
    """The values by attribute; several of one attribute as a set."""
    values: dict[int, Value] = {}
    for attribute, number in pairs:
        existing = values.get(attribute)
        if existing is None:
            values[attribute] = number
        else:
            existing = frozenset((existing,)) if isinstance(existing, int) else existing
            values[attribute] = existing | {number}
    return values


def have_common_value(one: Value, other: Value) -> bool:
    """Whether two values of an id, each of which may be a set, have one in common."""
    if one == other:
        return True
    if isinstance(one, int):
        return not isinstance(other, int) and one in other
    if isinstance(other, int):
        return other in one
    return not one.isdisjoint(other)
