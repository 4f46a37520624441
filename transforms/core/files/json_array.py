"""Reads search calls from one JSON array of records, as written by data frames (SPEC 2).

The array is split into elements by brackets only, and each element is read like a line, so that the
same bounds and error messages apply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, cast

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.compression import Compression, DamagedStreamError, decompressed
from goodgain.transforms.core.files.json_size import has_more_values
from goodgain.transforms.core.files.jsonl import read_jsonl, record_of_json
from goodgain.transforms.core.files.shard import FileShard
from goodgain.transforms.core.files.wanted import Wanted
from goodgain.transforms.core.records.rejected import (
    WHOLE_FILE,
    RejectedRecord,
    payload_of_bytes,
    rejected_for,
)
from goodgain.transforms.core.records.search_call import SearchCall

_Records = Iterator[SearchCall | RejectedRecord]

_CHUNK = 1024 * 1024
_ADVICE = "write one record per line instead (jq -c '.[]' does)"
# An object without any of these is not a search call.
_TELLING = ("conversation_id", "iteration")
_TEXT = rb'"(?:[^"\\]++|\\.)*+"'
# Possessive, so that a long string takes neither time nor memory for backtracking.
_BETWEEN = rb'[^"\[\]{}]++|' + _TEXT
_INNERMOST = rb"[\[{](?:" + _BETWEEN + rb")*+[\]}]"
_BRACKET = re.compile(rb"(?:" + _BETWEEN + rb"|" + _INNERMOST + rb")*+([\[\]{}])", re.DOTALL)
_PLAIN = re.compile(_TEXT + rb"|[^\s,\[\]{}\"]++", re.DOTALL)
_SPACE = re.compile(rb"\s*+")


class _UnusableArrayError(Exception):
    """The file as a whole cannot be read."""


class _BrokenOffError(Exception):
    """The array cannot be read from some place on."""


def read_json_array(file: BinaryIO, shard: FileShard, wanted: Wanted | None = None) -> _Records:
    """The records of a file that begins like a JSON array, in order.

    An array of something else becomes one rejected row for the file, and so does one above the
    limit. If the file turns out to be lines of which the first is an array, it is read as lines.

    Args:
      file: the file, open for reading from its beginning.
      shard: the whole file.
      wanted: skips records that cannot belong to one of these conversations.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        content = _content(file, shard)
        if _is_line(content):
            file.seek(0)
            yield from cast(_Records, read_jsonl(file, shard, wanted))
            return
        _check(content, shard)
    except _UnusableArrayError as error:
        yield RejectedRecord(shard.path, WHOLE_FILE, str(error))
        return
    number = 0
    try:
        for element in _elements(content):
            number += 1
            if wanted is None or wanted.may_stand_in_json(element):
                yield _record(element, number, shard)
    except _BrokenOffError as error:
        reason = f"The JSON array cannot be read from here on: {error}."
        yield RejectedRecord(shard.path, f"record {number + 1}", reason)


def objects_of_array(file: BinaryIO, shard: FileShard) -> Iterator[Mapping[Any, Any]]:
    """The raw objects of an array; empty if it cannot be used.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        for element in _elements(_content(file, shard)):
            value = _decoded(element, shard)
            if isinstance(value, Mapping):
                yield value
    except (_UnusableArrayError, _BrokenOffError):
        return


def _record(element: bytes, number: int, shard: FileShard) -> SearchCall | RejectedRecord:
    try:
        return record_of_json(element, shard.adaptation, shard.bounds)
    except RecordError as error:
        return rejected_for(shard.path, f"record {number}", error, payload_of_bytes(element))


def _elements(content: bytes) -> Iterator[bytes]:
    """The undecoded elements of the array.

    Raises:
      _BrokenOffError: the array is malformed or truncated.
    """
    at = _behind_space(content, _behind_space(content, 0) + 1)
    if _ends(content, at):
        return
    while True:
        end = _end_of_element(content, at)
        yield content[at:end]
        end = _behind_space(content, end)
        if _ends(content, end):
            return
        if content[end : end + 1] != b",":
            raise _BrokenOffError(f"there is no comma at byte {end}")
        at = _behind_space(content, end + 1)


def _end_of_element(content: bytes, at: int) -> int:
    if content[at : at + 1] not in (b"{", b"["):
        plain = _PLAIN.match(content, at)
        if plain is None:
            raise _BrokenOffError(f"there is no value at byte {at}")
        return plain.end()
    depth, end = 1, at + 1
    while depth:
        # Not a search, which would start again at each byte of a truncated string.
        bracket = _BRACKET.match(content, end)
        if bracket is None:
            raise _BrokenOffError("it is truncated")
        depth += 1 if bracket[1] in (b"{", b"[") else -1
        end = bracket.end()
    return end


def _ends(content: bytes, at: int) -> bool:
    return content[at : at + 1] == b"]" and _behind_space(content, at + 1) == len(content)


def _behind_space(content: bytes, at: int) -> int:
    space = _SPACE.match(content, at)
    return at if space is None else space.end()


def _check(content: bytes, shard: FileShard) -> None:
    """Make sure that an array contains search calls, by its first element.

    Raises:
      _UnusableArrayError: it contains something else.
    """
    try:
        first = next(_elements(content), None)
    except _BrokenOffError as error:
        raise _UnusableArrayError(
            f"The file begins like a JSON array but is not one ({error}); {_ADVICE}."
        ) from None
    if first is None:
        return
    value = _decoded(first, shard)
    if value is None and first.startswith(b"{"):
        return  # the error is reported when it is read
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
    record = shard.adaptation.applied(value) if shard.adaptation else value
    if not any(name in record for name in _TELLING):
        names = ", ".join(str(name) for name in list(value)[:5])
        raise _UnusableArrayError(
            "The file is a JSON array of something other than search calls: its first object has "
            f"neither conversation_id nor iteration, but {names or 'nothing'}. If they have other "
            "names, add --map conversation_id=NAME,iteration=NAME,results=NAME."
        )


def _decoded(element: bytes, shard: FileShard) -> Any:
    """An element decoded; None if it is too large or not JSON."""
    if has_more_values(element, shard.bounds.record_values):
        return None
    try:
        return json.loads(element.decode())
    except (ValueError, RecursionError):
        return None


def _content(file: BinaryIO, shard: FileShard) -> bytes:
    most = shard.bounds.decoded_bytes
    content = bytearray()
    try:
        for piece in _pieces(file, shard):
            content += piece
            if len(content) > most:
                raise _UnusableArrayError(
                    f"The file is a JSON array of more than {most:,} bytes; {_ADVICE}."
                )
    except DamagedStreamError as error:
        raise _UnusableArrayError(f"The JSON array cannot be unpacked: {error}.") from None
    return bytes(content.removeprefix(b"\xef\xbb\xbf"))


def _pieces(file: BinaryIO, shard: FileShard) -> Iterator[bytes]:
    if shard.compression is not Compression.NONE:
        yield from decompressed(file, shard.compression)
        return
    file.seek(0)
    while piece := file.read(_CHUNK):
        yield piece


def _is_line(content: bytes) -> bool:
    """Whether the first line is a complete array that is followed by another line."""
    line, _, rest = content.partition(b"\n")
    if not rest.strip():
        return False
    try:
        return _ends(line, _end_of_element(line, _behind_space(line, 0)) - 1)
    except _BrokenOffError:
        return False
