"""Evidence of a result, read back from its fingerprint: what keys and verification work on."""

from __future__ import annotations

import struct
from functools import cache

from transforms.core.fingerprint import ResultPrint
from transforms.core.rules import (
    CONTENT,
    DISPLAY_NAME,
    END,
    FILE_NAME,
    GENERIC_ID,
    KEY,
    NO_TYPE,
    SNIPPET,
    START,
    SUBJECT,
    TITLE,
    UNKNOWN_FIELD,
    UNKNOWN_ID,
    UNKNOWN_TYPE,
    URL,
    is_field,
    is_named_id,
    unknown_number,
)

START_AND_END = 31  # the key of both together; no attribute has this number
_KEYED_BY_VALUE = frozenset((GENERIC_ID, URL, TITLE, SUBJECT, FILE_NAME, DISPLAY_NAME))
_KEYED_WHEN_LONG = frozenset((SNIPPET, CONTENT))
_LEAST_IDENTICAL = 2  # attributes that equal evidence must have to count by itself (SPEC 4.2, 4.3)
_LOW_64 = (1 << 64) - 1

Value = int | frozenset[int]


class Evidence:
    """The attributes of one result as numbers; SPEC 4.2 and 4.3.

    Attributes:
      type_number: of the entity type; NO_TYPE when absent.
      values: digest by attribute number; a set of digests for an id with several values.
      keys: candidate keys, each an attribute number above 64 bits of digest.
      weighty: whether there are at least two attributes, so that equality of all counts.
    """

    __slots__ = ("keys", "type_number", "values", "weighty")

    def __init__(
        self, type_number: int, values: dict[int, Value], keys: list[int], weighty: bool
    ) -> None:
        self.type_number = type_number
        self.values = values
        self.keys = keys
        self.weighty = weighty


@cache
def _unpacker(count: int) -> struct.Struct:
    return struct.Struct(f">{count}Q")


def read_evidence(result: ResultPrint) -> Evidence:
    """Read a fingerprint back."""
    codes = result.codes
    numbers = _unpacker(len(result.digests) // 8).unpack(result.digests)
    type_number = codes[0]
    at = 0
    if type_number == UNKNOWN_TYPE:
        type_number = unknown_number(UNKNOWN_TYPE, numbers[0])
        at = 1
    values: dict[int, Value] = {}
    keys: list[int] = []
    attribute = NO_TYPE
    for code in codes[1:]:
        if code & KEY:
            if attribute in _KEYED_WHEN_LONG:
                keys.append(attribute << 64 | numbers[at])
            else:
                keys[-1] = attribute << 64 | numbers[at]
            at += 1
            continue
        attribute = code
        if code in (UNKNOWN_FIELD, UNKNOWN_ID):
            attribute = unknown_number(code, numbers[at])
            at += 1
        value = numbers[at]
        at += 1
        if attribute not in values:
            values[attribute] = value
        else:
            values[attribute] = _with(values[attribute], value)
        if attribute in _KEYED_BY_VALUE or is_named_id(attribute):
            keys.append(attribute << 64 | value)
    if START in values and END in values:
        keys.append(START_AND_END << 64 | _both(values[START], values[END]))
    if len(keys) > 1:
        keys = list(dict.fromkeys(keys))  # two spellings of an id may share a key
    return Evidence(type_number, values, keys, _weighty(values))


def _both(start: Value, end: Value) -> int:
    return hash((start, end)) & _LOW_64  # of whole numbers: the same in every process


def _with(value: Value, another: int) -> Value:
    return frozenset((value, another)) if isinstance(value, int) else value | {another}


def _weighty(values: dict[int, Value]) -> bool:
    attributes = 0
    for attribute in values:
        if attribute in (GENERIC_ID, URL) or is_field(attribute) or is_named_id(attribute):
            attributes += 1
            if attributes == _LEAST_IDENTICAL:
                return True
    return False


def shared(one: Value, other: Value) -> bool:
    """Whether two values of an id, plain or several, have one in common."""
    if one == other:
        return True
    if isinstance(one, int):
        return not isinstance(other, int) and one in other
    if isinstance(other, int):
        return other in one
    return not one.isdisjoint(other)
