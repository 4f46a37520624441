"""The evidence of a result, decoded from its fingerprint for keys and verification."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import ResultFingerprint
from goodgain.transforms.core.dedup.keys import (
    START_AND_END,
    DigestAt,
    is_evidence_enough,
    key_positions,
    start_and_end_key,
)
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


class FingerprintLayout(Struct, frozen=True):
    """The positions of digests in a fingerprint; the same for equal `codes`.

    Positions count digests from 0.

    Attributes:
      type_number: number of the entity type; NO_TYPE if absent.
      values: attribute number and position of each value; an id may have several.
      keys: attribute number and position of each candidate key.
      start_and_end: positions of these two fields, if both are present.
      identifies_alone: whether there are enough attributes (two) for equal evidence to be decisive.
      several: whether an id has several values.
    """

    type_number: int
    values: tuple[tuple[int, int], ...]
    keys: tuple[tuple[int, int], ...]
    start_and_end: tuple[int, int] | None
    identifies_alone: bool
    several: bool


class Evidence:
    """The attributes of one result as numbers (SPEC 4.2, 4.3).

    Attributes:
      keys: candidate keys; those of different attributes are never equal.
    """

    __slots__ = ("_layout", "_numbers", "_values", "keys")

    def __init__(self, layout: FingerprintLayout, numbers: tuple[int, ...]) -> None:
        self._layout = layout
        self._numbers = numbers
        self._values: dict[int, Value] | None = None
        self.keys = [numbers[position] for _, position in layout.keys]
        if layout.start_and_end is not None:
            start, end = layout.start_and_end
            self.keys.append(start_and_end_key(numbers[start], numbers[end]))

    @property
    def type_number(self) -> int:
        """The number of the entity type; NO_TYPE if absent."""
        return self._layout.type_number

    @property
    def identifies_alone(self) -> bool:
        """Whether there are enough attributes (two) for equal evidence to be decisive."""
        return self._layout.identifies_alone

    @property
    def several(self) -> bool:
        """Whether an id has several values, one of which in common is enough."""
        return self._layout.several

    @property
    def values(self) -> dict[int, Value]:
        """Digest by attribute number; a set of digests for an id with several values.

        Computed on first access, since most results are never compared.
        """
        if self._values is None:
            numbers = self._numbers
            values: dict[int, Value] = {}
            for attribute, position in self._layout.values:
                if attribute in values:
                    values[attribute] = _with(values[attribute], numbers[position])
                else:
                    values[attribute] = numbers[position]
            self._values = values
        return self._values

    def key_attributes(self) -> Iterator[int]:
        """The attribute of each of `keys`."""
        for attribute, _ in self._layout.keys:
            yield attribute
        if self._layout.start_and_end is not None:
            yield START_AND_END


def read_evidence(result: ResultFingerprint) -> Evidence:
    """Decode a fingerprint."""
    layout = _layouts.get(result.codes) or layout_of(result.codes)
    return Evidence(layout, _unpacker(len(result.digests)).unpack(result.digests))


def layout_of(codes: bytes) -> FingerprintLayout:
    """The layout of fingerprints with these codes."""
    layout = _layouts.get(codes)
    if layout is None:
        if len(_layouts) >= _MOST_LAYOUTS:
            _layouts.clear()
        layout = _layouts[codes] = _layout_of(codes)
    return layout


# Results of one kind share their layout, so it is cached.
_layouts: dict[bytes, FingerprintLayout] = {}


@lru_cache(_MOST_LAYOUTS)
def _unpacker(size: int) -> struct.Struct:
    return struct.Struct(f">{size // _DIGEST_BYTES}Q")


def _layout_of(codes: bytes) -> FingerprintLayout:
    type_number, at = _numbered(codes, 0, (UNKNOWN_TYPE,))
    digests: list[DigestAt] = []
    while at < len(codes):
        is_key = bool(codes[at] & KEY)
        if is_key:
            attribute, at = digests[-1].attribute, at + 1
        else:
            attribute, at = _numbered(codes, at, (UNKNOWN_FIELD, UNKNOWN_ID))
        digests.append(DigestAt(attribute, len(digests), is_key))
    values = [(one.attribute, one.position) for one in digests if not one.is_key]
    places = dict(values)
    return FingerprintLayout(
        type_number=type_number,
        values=tuple(values),
        keys=key_positions(digests),
        start_and_end=(places[START], places[END]) if {START, END} <= set(places) else None,
        identifies_alone=is_evidence_enough(places),
        several=len(places) < len(values),
    )


def _numbered(codes: bytes, at: int, unknown: tuple[int, ...]) -> tuple[int, int]:
    """The attribute number at a position of `codes`, and the position after it."""
    end = at + 1 + (_DIGEST_BYTES if codes[at] in unknown else 0)
    return int.from_bytes(codes[at:end]), end


def _with(value: Value, another: int) -> Value:
    return frozenset((value, another)) if isinstance(value, int) else value | {another}


def shared(one: Value, other: Value) -> bool:
    """Whether two values of an id, each of which may be a set, have one in common."""
    if one == other:
        return True
    if isinstance(one, int):
        return not isinstance(other, int) and one in other
    if isinstance(other, int):
        return other in one
    return not one.isdisjoint(other)
