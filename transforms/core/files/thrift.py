"""The part of Thrift's compact protocol that Parquet's headers need: numbers, flags and structs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.transforms.core.files.varint import read_varint, read_zigzag

_DEEPEST = 16
_MOST_STRUCTS = 1_000_000  # in lists; pyarrow reads no longer list either
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)

Fields = dict[int, Any]


# How many more structs may be read in lists, in a list of one. An empty struct takes a byte in the
# file and a hundred in memory.
_Room = list[int]


def read_struct(raw: bytes, at: int = 0) -> tuple[Fields, int]:
    """The numbers, booleans, structs and lists of structs in a struct, and the position after it.

    Raises:
      IndexError: the bytes end inside it.
      ValueError: it is not a struct, nested too deeply, or has too many structs.
    """
    return _struct(raw, at, 0, [_MOST_STRUCTS])


def _struct(raw: bytes, at: int, depth: int, room: _Room) -> tuple[Fields, int]:
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    fields: Fields = {}
    number = 0
    while raw[at]:
        number, kind, at = _field(raw, at, number)
        if kind in (_I16, _I32, _I64):
            fields[number], at = read_zigzag(raw, at)
        elif kind == _STRUCT:
            fields[number], at = _struct(raw, at, depth + 1, room)
        elif kind == _LIST:
            fields[number], at = _structs(raw, at, depth + 1, room)
        elif kind in (_TRUE, _FALSE):  # these have their value in the type
            fields[number] = kind == _TRUE
        else:
            at = _skip_value(raw, at, kind, depth, room)
    return fields, at + 1


def structs_in(raw: bytes, wanted: int) -> Iterator[Fields]:
    """The structs of a list that is a field of the outermost struct.

    Raises:
      IndexError, ValueError: see `read_struct`.
    """
    at = number = 0
    while raw[at]:
        number, kind, at = _field(raw, at, number)
        if number == wanted and kind == _LIST:
            count, item, at = _list(raw, at)
            _take(count, [_MOST_STRUCTS])
            for _ in range(count if item == _STRUCT else 0):
                fields, at = read_struct(raw, at)
                yield fields
            return
        if kind not in (_TRUE, _FALSE):
            at = _skip_value(raw, at, kind, 0, [_MOST_STRUCTS])


def _structs(raw: bytes, at: int, depth: int, room: _Room) -> tuple[list[Fields], int]:
    """The structs of a list (none for other lists), and the position after it."""
    count, item, begin = _list(raw, at)
    if item != _STRUCT:
        return [], _skip_value(raw, at, _LIST, depth, room)
    _take(count, room)
    structs, at = [], begin
    for _ in range(count):
        fields, at = _struct(raw, at, depth, room)
        structs.append(fields)
    return structs, at


def _take(count: int, room: _Room) -> None:
    room[0] -= count
    if room[0] < 0:
        raise ValueError(f"it has more than {_MOST_STRUCTS:,} structs")


def _field(raw: bytes, at: int, before: int) -> tuple[int, int, int]:
    """Number and type of a field, and the position of its value."""
    head = raw[at]
    if head >> 4:
        return before + (head >> 4), head & 0x0F, at + 1
    number, at = read_zigzag(raw, at + 1)
    return number, head & 0x0F, at


def _list(raw: bytes, at: int) -> tuple[int, int, int]:
    """Length and type of a list, and the position of its first item."""
    count, item = raw[at] >> 4, raw[at] & 0x0F
    if count < 0x0F:
        return count, item, at + 1
    count, at = read_varint(raw, at + 1)
    if count > len(raw):
        raise IndexError
    return count, item, at


def _skip_value(raw: bytes, at: int, kind: int, depth: int, room: _Room) -> int:
    """The position after a value to skip."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    if kind in (_TRUE, _FALSE, _BYTE):
        return at + 1
    if kind in (_I16, _I32, _I64):
        return read_zigzag(raw, at)[1]
    if kind == _DOUBLE:
        return at + 8
    if kind == _BINARY:
        length, at = read_varint(raw, at)
        return at + length
    if kind in (_LIST, _SET):
        count, item, at = _list(raw, at)
        _take(count if item == _STRUCT else 0, room)
        for _ in range(count):
            at = _skip_value(raw, at, item, depth + 1, room)
        return at
    if kind == _STRUCT:
        return _struct(raw, at, depth + 1, room)[1]
    raise ValueError("it has a type that Parquet does not use")
