"""Durations as option values: `30m`, `1d`, `1h30m`, `500ms`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_MILLIS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_PART = re.compile(r"(\d{1,9})\s*(ms|[dhms])\s*")
_LONGEST = 36_500 * _MILLIS["d"]


def parse_duration(written: str) -> int:
    """A duration in milliseconds, from numbers with the units d, h, m, s and ms, like `1h30m`.

    Raises:
      ValueError: it is not a duration, or longer than a century.
    """
    text = written.strip().lower()
    parts = _PART.findall(text)
    if not parts or _PART.sub("", text):
        raise ValueError(f"must be a duration like 30m, 1d or 1h30m, not {written!r}")
    millis = sum(int(number) * _MILLIS[unit] for number, unit in parts)
    if millis > _LONGEST:
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
