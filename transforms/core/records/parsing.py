"""Parses one raw record to a SearchCall or a RecordError (SPEC 2, 3).

Well-formed records need only a strict conversion in C. If that fails, the record is coerced, where
values are right but written differently, and converted again.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.coercion import coerce_record
from goodgain.transforms.core.records.record_errors import find_undecodable, record_error
from goodgain.transforms.core.records.search_call import SearchCall, timestamp_hook

_call_decoder = msgspec.json.Decoder(SearchCall, dec_hook=timestamp_hook)
# float() reads 1e999 as infinity, which is rejected with its field; msgspec would reject the line.
_any_decoder = msgspec.json.Decoder(float_hook=float)
# Accepted by Python's JSON reader but not by msgspec: NaN, Infinity and lone surrogates.
_LENIENT = re.compile(rb"NaN|Infinity|\\u[dD][89a-fA-F]")
# The second is for a lone surrogate in a name, or in a text where another type belongs.
_NOT_CONVERTED = (msgspec.ValidationError, UnicodeEncodeError)
# To find the conversation_id of a line that is not JSON.
_LONGEST_SEARCH = 1 << 20
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:,]', re.DOTALL)
_text_decoder = msgspec.json.Decoder(str)


def parse_json(line: bytes) -> SearchCall:
    """Read a record from one JSON object in UTF-8 (SPEC 2).

    Raises:
      RecordError: it is not JSON, or not a usable record.
    """
    try:
        return _with_plain_strings(_call_decoder.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parse_loosely(_parse_untyped(line))


def parse_adapted_json(line: bytes, adaptation: Adaptation) -> SearchCall:
    """Like `parse_json`, for a record with other field names than those of SPEC 2."""
    return parse_mapping(adaptation.apply(_parse_untyped(line)))


def parse_mapping(record: Mapping[str, Any]) -> SearchCall:
    """Read a decoded record from a format with types of its own (SPEC 2).

    Nulls, integral floats, enums, datetimes, maps as pairs and unknown fields are accepted.

    Raises:
      RecordError: it is not a usable record.
    """
    try:
        return _with_plain_strings(msgspec.convert(record, SearchCall, dec_hook=timestamp_hook))
    except _NOT_CONVERTED:
        return _parse_loosely(record)


def parse_mappings(records: Sequence[Mapping[str, Any]]) -> list[SearchCall] | None:
    """Read all records at once; None if any of them must be parsed separately.

    Converting a whole block costs less than converting each record.
    """
    try:
        calls = msgspec.convert(records, list[SearchCall], dec_hook=timestamp_hook)
    except _NOT_CONVERTED:
        return None
    return list(map(_with_plain_strings, calls))


def _with_plain_strings(call: SearchCall) -> SearchCall:
    """The call itself, in which lists of one have become plain strings (SPEC 4.1)."""
    for result in call.results:
        for values in (result.ids, result.fields):
            for name, value in values.items():
                if type(value) is list and len(value) == 1:
                    values[name] = value[0]
    return call


def parse_escaped_mapping(record: Mapping[str, Any]) -> SearchCall:
    """Like `parse_mapping`, for a record whose texts may have lone surrogates.

    Bytes that are not UTF-8 become such, and texts in memory may have any. These may also be of a
    subclass of str, like NumPy's or that of a parser of HTML.

    Raises:
      RecordError: also if a used field has one.
    """
    call = parse_mapping(record)
    try:
        if not _has_plain_values(call):
            call = _parse_loosely(record)
            _encode_plain(call)
    except UnicodeEncodeError:
        raise _undecodable(msgspec.to_builtins(call, enc_hook=int)) from None
    return call


def _plain_integer(value: Any) -> int:
    """The time of a call as an integer; texts of subclasses of str are not encoded as they are."""
    if not isinstance(value, int):
        raise TypeError
    return int(value)


_encode_plain = msgspec.msgpack.Encoder(enc_hook=_plain_integer).encode


def _has_plain_values(call: SearchCall) -> bool:
    """Whether all texts of a call are of no subclass of str.

    Raises:
      UnicodeEncodeError: a text has a lone surrogate.
    """
    try:
        _encode_plain(call)
    except TypeError:
        return False
    return True


def _undecodable(record: Mapping[str, Any]) -> RecordError:
    """The error for a record of known fields, one of which has a lone surrogate."""
    field = find_undecodable(record)
    conversation_id = None if field == "conversation_id" else record.get("conversation_id")
    reason = f"{field or 'The record'} has bytes that are not UTF-8 text."
    return RecordError(reason, field, conversation_id if isinstance(conversation_id, str) else None)


def _parse_loosely(record: Any) -> SearchCall:
    if not isinstance(record, Mapping):
        raise record_error(record, "$")
    coerced = coerce_record(record)
    try:
        return msgspec.convert(coerced, SearchCall, dec_hook=timestamp_hook)
    except msgspec.ValidationError as error:
        raise record_error(coerced, str(error), record) from None
    except UnicodeEncodeError:
        raise _undecodable(coerced) from None


def _parse_untyped(line: bytes) -> Any:
    """The content of a line of JSON, which may have NaN and Infinity, as some writers do.

    Raises:
      RecordError: it cannot be parsed.
    """
    try:
        return _any_decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if _LENIENT.search(line):
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(line.decode())
                if (field := find_undecodable(value)) is None:
                    return value
                reason = f"{field} has half of a surrogate pair, which is not text."
                raise RecordError(reason, field, conversation_id_in(line)) from None
        raise _malformed_error(line, error) from None


def _malformed_error(line: bytes, error: Exception) -> RecordError:
    if isinstance(error, RecursionError):
        return RecordError("The line is nested too deeply.", None, conversation_id_in(line))
    if isinstance(error, UnicodeDecodeError):
        return RecordError("The line is not valid UTF-8.", None, conversation_id_in(line))
    # As of a record that a printer has broken into lines, or of one that was cut off.
    remedy = "; a record is one line, or an element of a JSON array" if _is_cut(error) else ""
    return RecordError(f"Not valid JSON: {error}{remedy}.", None, conversation_id_in(line))


def _is_cut(error: Exception) -> bool:
    return str(error) == "Input data was truncated"


def conversation_id_in(damaged: bytes) -> str | None:
    """The conversation_id in the first MiB of a damaged JSON object; None if there is none."""
    depth = 0
    last: tuple[bytes, ...] = (b"", b"")
    for match in _TOKEN.finditer(damaged, 0, _LONGEST_SEARCH):
        token = match.group()
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and last == (b'"conversation_id"', b":"):
            return _id_of(token)
        last = (last[1], token)
    return None


def _id_of(token: bytes) -> str | None:
    try:
        text = _text_decoder.decode(token)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return text if text.strip() else None
