"""Candidate keys: two results that share a key are compared (SPEC 4.2).

A key is a digest of an attribute. `fingerprint` makes the digests, `evidence` decodes them,
`duplicates` finds earlier results by them; this module defines which digests are keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from goodgain.transforms.core.dedup.rules import (
    CONTENT,
    DISPLAY_NAME,
    FILE_NAME,
    GENERIC_ID,
    SNIPPET,
    SUBJECT,
    TITLE,
    URL,
    RuleTable,
    is_field,
    is_named_id,
)
from goodgain.transforms.core.unicode_14 import casefold

# Keys that do not belong to a single attribute have numbers that no attribute has.
EQUAL_EVIDENCE = 0
START_AND_END = 31
# The kinds of keys in the order of SPEC 4.2, except named ids, which come first.
KINDS_OF_KEYS = {
    GENERIC_ID: "id",
    URL: "url",
    SNIPPET: "snippet",
    CONTENT: "content",
    TITLE: "title",
    SUBJECT: "subject",
    FILE_NAME: "file_name",
    DISPLAY_NAME: "display_name",
    START_AND_END: "start+end",
    EQUAL_EVIDENCE: "evidence",
}
_ORDER = {attribute: rank for rank, attribute in enumerate(KINDS_OF_KEYS, start=1)}
_KEYED_BY_VALUE = frozenset((GENERIC_ID, URL, TITLE, SUBJECT, FILE_NAME, DISPLAY_NAME))
_LEAST_ATTRIBUTES = 2  # that equal evidence must have to be decisive
_LOW_64 = (1 << 64) - 1
_ODD_FACTOR = 0x9E3779B97F4A7C15  # multiplying by an odd number keeps 64-bit numbers distinct


class TextKey(Struct, frozen=True):
    """Which part of a text is its key: `prefix` characters, if it has at least `least`."""

    least: int
    prefix: int


TEXT_KEYS = {
    TITLE: TextKey(least=1, prefix=100),
    SNIPPET: TextKey(least=50, prefix=100),
    CONTENT: TextKey(least=50, prefix=500),
}


def is_keyed_by_value(attribute: int) -> bool:
    """Whether the value of an attribute is its key, unless the fingerprint has a separate one."""
    return attribute in _KEYED_BY_VALUE or is_named_id(attribute)


def is_text_key(attribute: int) -> bool:
    """Whether the key of an attribute is made from a text, rather than from an id or the URL."""
    return attribute not in (GENERIC_ID, URL) and not is_named_id(attribute)


def id_key(value: str) -> str:
    """The key of an id, generic or named, from its normal form."""
    return casefold(value)


def ids_that_hide_the_generic_id(rules: RuleTable, type_number: int) -> frozenset[str]:
    """The definitive ids of a type; if a result has one of these, its generic id is ignored.

    If the type is absent or unknown, they are those of `default`.
    """
    definitive = rules.of_type(type_number).definitive
    return frozenset(name for name, number in rules.ids.items() if number in definitive)


def key_positions(digests: Iterable[tuple[int, bool]]) -> tuple[tuple[int, int], ...]:
    """Attribute and position of each candidate key, in the order of the digests.

    Args:
      digests: the attribute of each, and whether it is of the attribute's key, not its value.
    """
    keys: list[tuple[int, int]] = []
    for position, (attribute, is_key) in enumerate(digests):
        if is_key and is_keyed_by_value(attribute):
            keys.pop()  # the value, which is no key beside a separate one
        if is_key or is_keyed_by_value(attribute):
            keys.append((attribute, position))
    return tuple(keys)


def start_and_end_key(start: int, end: int) -> int:
    """The key of the fields `start` and `end` together, from their digests."""
    return (start * _ODD_FACTOR + end) & _LOW_64


def is_evidence_enough(attributes: Iterable[int]) -> bool:
    """Whether the whole evidence is a key, because it has at least two attributes.

    `attributes` has the number of each once; parts of a URL are not counted.
    """
    counted = [
        attribute
        for attribute in attributes
        if attribute in (GENERIC_ID, URL) or is_field(attribute) or is_named_id(attribute)
    ]
    return len(counted) >= _LEAST_ATTRIBUTES


def key_name(keys: tuple[int, ...], id_name: Callable[[int], str]) -> str:
    """The name of the key that proposed a pair; of several, the first in the order of SPEC 4.2.

    `keys` are attribute numbers; `id_name` returns the name of a domain-specific id.
    """
    named = sorted(id_name(key) for key in keys if is_named_id(key))
    if named:
        return f"id:{named[0]}"
    return KINDS_OF_KEYS[min(keys, key=_ORDER.__getitem__)]
