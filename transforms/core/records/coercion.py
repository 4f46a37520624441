"""Converts a loosely typed record to the exact types of SPEC 2, without changing its meaning.

Formats and schema versions write the same value in several ways: null or NaN for an absent field,
3.0, "3" or "3.0" for 3, 7 for the id "7", a list of pairs for a map, bytes for text, a list of one
for a plain string. The functions here undo only that; a wrong value is left for the strict
conversion to reject.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from itertools import chain
from typing import Any, get_args, get_origin

from goodgain.transforms.core.records.field_types import field_types
from goodgain.transforms.core.records.numpy_scalars import plain_integer, plain_scalar
from goodgain.transforms.core.records.search_call import Millis, Result, SearchCall

_Coercion = Callable[[Any], Any]
_TEXT = frozenset((str,))
_MOST_BITS = 128  # of a numeric id
_LARGEST_EXACT = 2**53  # up to which floats hold every whole number
_BOOLEANS = {"true": True, "false": False}
_NUMBER = re.compile(r"\s*[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?\s*")
_WHOLE = re.compile(r"\s*([+-]?[0-9]{1,12})(\.0+)?\s*")  # tables with gaps have 4.0 for 4


def coerce_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The known fields of a search call that have a value, in their canonical types (SPEC 2)."""
    return _coerce(record, _CALL_COERCIONS)


def _coerce(record: Mapping[str, Any], coercions: Mapping[str, _Coercion]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for name, value in record.items():
        coerce = coercions.get(name)
        if value is None or coerce is None:
            continue
        if not (coerce is _text and type(value) is str):  # the common case
            if name != "score" and is_missing(value):
                continue
            value = coerce(value)
            if value is None:
                continue
        known[name] = value
    return known


def _text(value: Any) -> Any:
    if type(value) is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, str):
        return str.__str__(value)  # of a subclass, like NumPy's, which no encoder takes
    value = plain_integer(value)
    return str(value) if type(value) is int and value.bit_length() <= _MOST_BITS else value


def is_missing(value: Any) -> bool:
    """Whether a value, like those of tables in memory, is NaN, or pandas' NA or NaT."""
    if type(value).__name__ == "NAType":
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # like an array, which has several values
        return False


def is_blank(value: Any) -> bool:
    """Whether a cell of a table is empty."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or is_missing(value)


def _attribute(value: Any) -> Any:
    """An attribute's value as text; other systems also have numbers and booleans.

    12.0 is "12", as in a file without gaps: tables write whole numbers with gaps as floats.
    """
    value = plain_scalar(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _LARGEST_EXACT:
        return str(int(value))
    if isinstance(value, bool | float):
        return json.dumps(value)
    return _text(value)


def _text_unless_blank(value: Any) -> Any:
    text = _text(value)
    return None if isinstance(text, str) and not text.strip() else text


def _integer(value: Any) -> Any:
    if type(value) is int:  # the common case
        return value
    value = plain_scalar(value)
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(value)):
        return int(whole[1])
    return plain_integer(value)


def _number(value: Any) -> Any:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value.strip())  # which, unlike `float`, takes all that `\s` does
    return plain_scalar(value)


def _timestamp(value: Any) -> Any:
    # Text is parsed by `timestamp_hook`.
    return value if isinstance(value, str) else _integer(value)


def _boolean(value: Any) -> Any:
    if isinstance(value, str):
        return _BOOLEANS.get(value.strip().lower(), value)
    return plain_scalar(value)


def _results(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [_coerce(r, _RESULT_COERCIONS) if isinstance(r, Mapping) else r for r in value]


def _attributes(value: Any) -> Any:
    pairs = _pairs(value)
    if pairs is None:
        return value
    return _map({_text(key): _attribute(entry) for key, entry in pairs if not is_missing(entry)})


def _numbers(value: Any) -> Any:
    pairs = _pairs(value)
    if pairs is None:
        return value
    return {
        _text(name): _number(entry)
        for name, entry in pairs
        if entry is not None and not is_missing(entry)
    }


def _outcomes(value: Any) -> Any:
    """Outcomes by name; other systems also have booleans, for 1 and 0."""
    numbers = _numbers(value)
    if not isinstance(numbers, dict):
        return numbers
    return {
        name: float(number) if isinstance(number, bool) else number
        for name, number in numbers.items()
    }


def _texts(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return [_text(entry) for entry in value if entry is not None and not is_missing(entry)]


def _map(value: Any) -> Any:
    if type(value) is dict and _TEXT.issuperset(map(type, chain(value, value.values()))):
        return value  # the common case
    pairs = _pairs(value)
    if pairs is None:
        return value
    coerced = {}
    for key, entry in pairs:
        if type(entry) is not str:
            entry = one_or_many(entry)
            if entry is None:
                continue
        coerced[_text(key)] = entry
    return coerced


def one_or_many(value: Any) -> Any:
    """The canonical form of a multi-valued entry: None, a string, or a list of two or more."""
    if not isinstance(value, list | tuple):
        return None if is_missing(value) else _text(value)
    present = [_text(entry) for entry in value if entry is not None and not is_missing(entry)]
    if len(present) > 1:
        return present
    return present[0] if present and isinstance(present[0], str) else (present or None)


def _pairs(value: Any) -> Iterable[tuple[Any, Any]] | None:
    if isinstance(value, Mapping):
        return value.items()
    if not isinstance(value, list | tuple):
        return None
    pairs = [_pair(entry) for entry in value]
    return None if None in pairs else [pair for pair in pairs if pair is not None]


def _pair(entry: Any) -> tuple[Any, Any] | None:
    # Parquet readers return maps as pairs; older writers use structs of key and value.
    if isinstance(entry, Mapping) and entry.keys() == {"key", "value"}:
        entry = (entry["key"], entry["value"])
    if not isinstance(entry, list | tuple) or len(entry) != 2:
        return None
    key, value = entry
    return (key, value) if isinstance(key, str | bytes) else None


_BY_TYPE: dict[Any, _Coercion] = {
    int: _integer,
    float: _number,
    bool: _boolean,
    Millis: _timestamp,
}
_BY_ENTRY: dict[Any, _Coercion] = {str: _attributes, float: _numbers}  # of a map
_BY_NAME: dict[str, _Coercion] = {"record_id": _text_unless_blank, "outcomes": _outcomes}


def _coercion_of(name: str, kind: Any) -> _Coercion:
    """How a field of this name and type is coerced."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if get_origin(kind) is dict:
        return _BY_ENTRY.get(get_args(kind)[1], _map)
    if get_origin(kind) is list:
        return _results if get_args(kind) == (Result,) else _texts
    return _BY_TYPE.get(kind, _text)


_CALL_COERCIONS, _RESULT_COERCIONS = (
    {name: _coercion_of(name, kind) for name, kind in field_types(struct).items()}
    for struct in (SearchCall, Result)
)
