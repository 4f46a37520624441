"""Converts values found by a mapping to the types of a trace record (SPEC 2), or to None."""

from __future__ import annotations

from datetime import UTC, date, datetime
from math import isfinite
from typing import Any

import msgspec

from goodgain.transforms.core.records.epoch import EPOCH
from goodgain.transforms.core.records.iso_time import parse_time
from goodgain.transforms.core.records.search_call import EARLIEST_MILLIS, LATEST_MILLIS

NANOS_A_UNIT = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_BITS = 64
_NANOS_PER_MILLI = 1_000_000


def text(value: Any) -> str | None:
    """A string unchanged, a number as written, anything else as JSON; None if blank."""
    if value is None or isinstance(value, str):
        return value if value and value.strip() else None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, bytes):
        return text(value.decode(errors="replace"))
    if value in ([], {}):
        return None
    return msgspec.json.encode(value, enc_hook=str).decode()


def texts(value: Any) -> str | list[str] | None:
    """A list of strings, or the only one."""
    if not isinstance(value, list):
        return text(value)
    several = [item for item in map(text, value) if item is not None]
    return several if len(several) > 1 else (several[0] if several else None)


def number(value: Any) -> float | None:
    """A finite number, also from a string."""
    if value is None or isinstance(value, bool | list | dict):
        return None
    try:
        as_float = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return as_float if isfinite(as_float) else None


def integer(value: Any) -> int | None:
    """A whole number of at most 64 bits, also from a string."""
    whole = _whole(value)
    return whole if whole is not None and whole.bit_length() < _BITS else None


def _whole(value: Any) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    as_float = number(value)
    return int(as_float) if as_float is not None and as_float.is_integer() else None


def nanos(value: Any, unit: str) -> int | None:
    """A point in time as nanoseconds since 1970.

    Args:
      value: ISO 8601, a datetime (UTC if without an offset), or a number since 1970.
      unit: unit of numbers: ns, us, ms or s.
    """
    if isinstance(value, str) and _whole(value) is None and number(value) is None:
        value = parse_time(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if isinstance(value, datetime):
        since = (value if value.tzinfo else value.replace(tzinfo=UTC)) - EPOCH
        return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
    whole = _whole(value)
    if whole is not None:
        return whole * NANOS_A_UNIT[unit]
    part = number(value)
    return None if part is None else round(part * NANOS_A_UNIT[unit])


def is_in_range(nanoseconds: int) -> bool:
    """Whether a time lies in the years 1 to 9999, as every record's must."""
    return EARLIEST_MILLIS <= nanoseconds // _NANOS_PER_MILLI <= LATEST_MILLIS


def millis(nanoseconds: int | None) -> int | None:
    """Nanoseconds as whole milliseconds, rounded down; None if they are out of range."""
    if nanoseconds is None or not is_in_range(nanoseconds):
        return None
    return nanoseconds // _NANOS_PER_MILLI
