"""Reads search calls from one JSON array of records, as data frames write it (SPEC 2).

The array is split into elements by its brackets, without decoding them. Each element is then read
like a line of JSON Lines, so that the same bounds and error messages apply.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

from goodgain.transforms.core.errors import GoodGainError, RecordError
from goodgain.transforms.core.files.compression import DamagedStreamError, decompress
from goodgain.transforms.core.files.json_value_count import has_more_values
from goodgain.transforms.core.files.jsonl_reader import read_jsonl, record_of_json
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.records.rejection import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_bytes,
    reject_record,
)
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Remedy

_ADVICE = "write one record per line instead (jq -c '.[]' does)"
# An object without any of these is not a search call.
_FIELDS_OF_CALLS = ("conversation_id", "iteration")
# Possessive quantifiers, so that a long string takes neither time nor memory for backtracking.
# Python up to 3.11.4 matches alternatives wrongly when they are repeated so, unless the group of
# them is atomic.
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NEITHER = rb'[^"\[\]{}]*+'
_INNERMOST_BRACKETS = rb"[\[{]%b(?:%b%b)*+[\]}]" % (_NEITHER, _STRING, _NEITHER)
_BRACKET = re.compile(
    rb"%b(?:(?>%b|%b)%b)*+([\[\]{}])" % (_NEITHER, _STRING, _INNERMOST_BRACKETS, _NEITHER),
    re.DOTALL,
)
_SCALAR = re.compile(_STRING + rb"|[^\s,\[\]{}\"]++", re.DOTALL)
_SPACE = re.compile(rb"\s*+")
_RENAMED = Remedy("map", dict.fromkeys(("conversation_id", "iteration", "results"), "NAME"))


class _UnusableArrayError(GoodGainError):
    """The file as a whole cannot be read."""


class _BrokenArrayError(GoodGainError):
    """The array cannot be read beyond some byte."""


def read_json_array(
    file: BinaryIO, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    """The records of a file that begins like a JSON array, in order (see `read_shard_into`).

    An array of something other than search calls becomes one rejected row for the file, and so does
    an array above the limit. If the file turns out to be JSON Lines whose first line is an array,
    it is read as JSON Lines.
    """
    try:
        content = _whole_content(file, shard)
        if _is_jsonl(content):
            file.seek(0)
            yield from read_jsonl(file, shard, packer)
            return
        _check_first_element(content, shard)
    except _UnusableArrayError as error:
        yield RejectedRecord(shard.path, WHOLE_FILE, error.message, at_least=True)
        return
    yield from _records(content, shard, packer)


def objects_of_array(file: BinaryIO, shard: FileShard) -> Iterator[Mapping[Any, Any]]:
    """The decoded objects of an array; it ends where the array cannot be read."""
    try:
        for element in _elements(_whole_content(file, shard)):
            value = _decode(element, shard)
            if isinstance(value, Mapping):
                yield value
    except (_UnusableArrayError, _BrokenArrayError):
        return


def _records(
    content: bytes, shard: FileShard, packer: RecordPacker | None
) -> Iterator[RecordOrPacked]:
    number = 0
    at: int | None = _first_element(content)
    try:
        while at is not None:
            if packer is not None:
                block, stop = packer.pack_elements(content, at, shard.bounds, shard.adaptation)
                number += stop.packed
                if block is not None:
                    yield block
                if stop.at is None:
                    return
                at = _skip_space(content, stop.at)
                if not stop.is_odd:
                    continue
            end = _end_of_element(content, at)
            element = content[at:end]
            number += 1
            yield _record(element, number, shard)
            at = _next_element(content, end)
    except _BrokenArrayError as error:
        reason = f"The JSON array cannot be read from here on: {error}."
        yield RejectedRecord(shard.path, f"record {number + 1}", reason, at_least=True)


def _record(element: bytes, number: int, shard: FileShard) -> SearchCall | RejectedRecord:
    try:
        return record_of_json(element, shard.adaptation, shard.bounds)
    except RecordError as error:
        return reject_record(shard.path, f"record {number}", error, payload_of_bytes(element))


def _elements(content: bytes) -> Iterator[bytes]:
    """The undecoded elements of the array, up to a _BrokenArrayError."""
    at = _first_element(content)
    while at is not None:
        end = _end_of_element(content, at)
        yield content[at:end]
        at = _next_element(content, end)


def _first_element(content: bytes) -> int | None:
    """The offset of the first element; None if there is none."""
    at = _skip_space(content, _skip_space(content, 0) + 1)
    return None if _is_end_of_array(content, at) else at


def _next_element(content: bytes, end: int) -> int | None:
    """The offset of the element after the one that ends here; None after the last."""
    end = _skip_space(content, end)
    if _is_end_of_array(content, end):
        return None
    if content[end : end + 1] != b",":
        raise _BrokenArrayError(f"there is no comma at byte {end}")
    return _skip_space(content, end + 1)


def _end_of_element(content: bytes, at: int) -> int:
    if content[at : at + 1] not in (b"{", b"["):
        scalar = _SCALAR.match(content, at)
        if scalar is None:
            raise _BrokenArrayError(f"there is no value at byte {at}")
        return scalar.end()
    depth, end = 1, at + 1
    while depth:
        # `search` instead of `match` would start again at each byte of a truncated string.
        bracket = _BRACKET.match(content, end)
        if bracket is None:
            raise _BrokenArrayError("it is truncated")
        depth += 1 if bracket[1] in (b"{", b"[") else -1
        end = bracket.end()
    return end


def _is_end_of_array(content: bytes, at: int) -> bool:
    return content[at : at + 1] == b"]" and _skip_space(content, at + 1) == len(content)


def _skip_space(content: bytes, at: int) -> int:
    space = _SPACE.match(content, at)
    return at if space is None else space.end()


def _check_first_element(content: bytes, shard: FileShard) -> None:
    """Check by its first element that an array contains search calls."""
    try:
        first = next(_elements(content), None)
    except _BrokenArrayError as error:
        raise _UnusableArrayError(
            f"The file begins like a JSON array but is not one ({error}); {_ADVICE}."
        ) from None
    if first is None:
        return
    value = _decode(first, shard)
    if value is None and first.startswith(b"{"):
        return  # reading this element will report what is wrong with it
    if value is None and first != b"null":
        raise _UnusableArrayError(
            "The file begins like a JSON array but is not one: its first element is not JSON; "
            f"{_ADVICE}."
        )
    if not isinstance(value, Mapping):
        raise _UnusableArrayError(
            "The file is a JSON array, but not of records: give an array of objects, each of which "
            "is a search call with conversation_id, iteration and results."
        )
    record = shard.adaptation.apply(value) if shard.adaptation else value
    if not any(name in record for name in _FIELDS_OF_CALLS):
        names = ", ".join(str(name) for name in list(value)[:5])
        raise _UnusableArrayError(
            "The file is a JSON array of something other than search calls: its first object has "
            f"neither conversation_id nor iteration, but {names or 'nothing'}. If they have other "
            "names, add " + _RENAMED + "."
        )


def _decode(element: bytes, shard: FileShard) -> Any:
    """An element decoded; None if it is too large or not JSON."""
    if has_more_values(element, shard.bounds.record_values):
        return None
    try:
        return json.loads(element.decode())
    except (ValueError, RecursionError):
        return None


def _whole_content(file: BinaryIO, shard: FileShard) -> bytes:
    limit = shard.bounds.max_decoded_bytes
    pieces: list[bytes] = []
    length = 0
    try:
        for piece in decompress(file, shard.compression):
            pieces.append(piece)
            length += len(piece)
            if length > limit:
                raise _UnusableArrayError(
                    f"The file is a JSON array of more than {limit:,} bytes; {_ADVICE}."
                )
    except DamagedStreamError as error:
        raise _UnusableArrayError(f"The JSON array cannot be unpacked: {error}.") from None
    return b"".join(pieces).removeprefix(BOM_UTF8)


def _is_jsonl(content: bytes) -> bool:
    """Whether the first line is a complete array that is followed by another line."""
    line, _, rest = content.partition(b"\n")
    if not rest.strip():
        return False
    try:
        return _is_end_of_array(line, _end_of_element(line, _skip_space(line, 0)) - 1)
    except _BrokenArrayError:
        return False
