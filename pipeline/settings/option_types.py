"""Types of option values: texts, lists, durations and times, as they are written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)

from goodgain.transforms.core.number import Number
from goodgain.transforms.core.records.epoch import millis_of_moment, moment_of_millis

Text = Annotated[str, StringConstraints(min_length=1)]
# May be empty; with a constraint, however small, pydantic refuses what is not UTF-8, as of Text.
_Entry = Annotated[str, StringConstraints(min_length=0)]
_MILLIS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_DURATION_PART = re.compile(r"(\d{1,9})\s*(ms|[dhms])\s*")
_LONGEST_DURATION = 36_500 * _MILLIS["d"]


def _as_list(value: Any) -> Any:
    """Turn a single string into a list of one."""
    return [value] if isinstance(value, str) else value


def _split_at_commas(value: Any) -> Any:
    """Split strings at commas."""
    value = _as_list(value)
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return value
    return [name.strip() for entry in value for name in entry.split(",")]


def _distinct_names(value: Any) -> Any:
    """Split strings at commas, and drop empty and repeated names."""
    names = _split_at_commas(value)
    return [name for name in dict.fromkeys(names) if name] if isinstance(names, list) else names


def _number_texts(value: Any) -> Any:
    """Turn one number, or those in a list, into text."""
    several = value if isinstance(value, list) else [value]
    return [str(item) if isinstance(item, int | float) else item for item in several]


def _as_numbers(value: Any) -> Any:
    """Turn one number, or text of numbers with commas, into a list of numbers."""
    value = [value] if isinstance(value, int) else _split_at_commas(value)
    if not isinstance(value, list):
        return value
    return [int(item) if isinstance(item, str) and item.isdecimal() else item for item in value]


def _slices(value: Any) -> Any:
    """Turn slices that are strings with commas into lists of attribute names."""
    value = _as_list(value)
    if not isinstance(value, list):
        return value
    return [_split_at_commas(item) if isinstance(item, str) else item for item in value]


def _mapping(value: Any) -> Any:
    """Turn renamed fields, a mapping or strings with commas, into a list like `gain=relevance`."""
    if isinstance(value, dict):
        return [f"{field}={name}" for field, name in value.items()]
    return [entry for entry in _split_at_commas(value) or () if entry]


# JSON Schemas of the values in a file, for editors.
_TEXT_SCHEMA: dict[str, Any] = {"type": "string", "minLength": 1}
_TEXTS_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXT_SCHEMA}]}
_SLICES_SCHEMA = {"anyOf": [_TEXT_SCHEMA, {"type": "array", "items": _TEXTS_SCHEMA}]}

Patterns = Annotated[
    tuple[Text, ...], BeforeValidator(_as_list), Field(min_length=1), WithJsonSchema(_TEXTS_SCHEMA)
]
Slices = Annotated[
    tuple[Annotated[tuple[Text, ...], Field(min_length=1)], ...],
    BeforeValidator(_slices),
    WithJsonSchema(_SLICES_SCHEMA),
]
Mapping = Annotated[
    tuple[_Entry, ...],
    BeforeValidator(_mapping),
    WithJsonSchema(
        {
            "type": ["string", "array", "object"],
            "items": {"type": "string"},
            "additionalProperties": {"type": "string"},
        }
    ),
]
Names = Annotated[
    tuple[_Entry, ...], BeforeValidator(_split_at_commas), WithJsonSchema(_TEXTS_SCHEMA)
]
DistinctNames = Annotated[
    tuple[_Entry, ...], BeforeValidator(_distinct_names), WithJsonSchema(_TEXTS_SCHEMA)
]
Tolerances = Annotated[
    tuple[_Entry, ...],
    BeforeValidator(lambda value: _distinct_names(_number_texts(value))),
    WithJsonSchema(_TEXTS_SCHEMA),
]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_as_list), WithJsonSchema(_TEXTS_SCHEMA)]
FilePatterns = Texts  # may be empty
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_as_numbers)]


def parse_duration(written: str) -> int:
    """A duration in milliseconds, from numbers with the units d, h, m, s and ms, like `1h30m`.

    Raises:
      ValueError: it is not a duration, or longer than a century.
    """
    text = written.strip().lower()
    parts = _DURATION_PART.findall(text)
    if not parts or _DURATION_PART.sub("", text):
        raise ValueError(f"must be a duration like 30m, 1d or 1h30m, not {written!r}")
    millis = sum(int(number) * _MILLIS[unit] for number, unit in parts)
    if millis > _LONGEST_DURATION:
        raise ValueError(f"must be at most a century, not {written!r}")
    return millis


def duration_text(millis: int) -> str:
    """A duration as `parse_duration` reads it, in as few units as possible."""
    parts = []
    for unit, size in _MILLIS.items():
        number, millis = divmod(millis, size)
        if number:
            parts.append(f"{number}{unit}")
    return "".join(parts) or "0s"


# A bare number is refused, since its unit would be a guess.
Duration = Annotated[
    int,
    BeforeValidator(lambda value: parse_duration(str(value))),
    PlainSerializer(duration_text),
    WithJsonSchema({"type": "string"}),
]


def _refuse_zero(millis: int) -> int:
    if millis < 1:
        raise ValueError("must be longer than 0")
    return millis


PositiveDuration = Annotated[Duration, AfterValidator(_refuse_zero)]


def parse_instant(written: str) -> int:
    """A time in milliseconds since 1970, from a date or time like `2026-11-25T12:00`, in UTC.

    Raises:
      ValueError: it is not a time.
    """
    try:
        moment = datetime.fromisoformat(written.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return millis_of_moment(moment)
    except (ValueError, OverflowError):
        raise ValueError(
            f"must be a date or time like 2026-11-25 or 2026-11-25T12:00Z, not {written!r}"
        ) from None


def instant_text(millis: int) -> str:
    """A time as `parse_instant` reads it."""
    return moment_of_millis(millis).isoformat(timespec="auto").replace("+00:00", "Z")


Instant = Annotated[
    int,
    BeforeValidator(lambda value: parse_instant(str(value))),
    PlainSerializer(instant_text),
    WithJsonSchema({"type": "string"}),
]
