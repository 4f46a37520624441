"""Formats numbers for people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DECIMALS = 4
_SMALLEST_PLAIN = 0.01  # smaller values get significant digits instead of four decimals
_NOTHING = 1e-12  # smaller values are rounding errors


def number(value: float | int | None) -> str:
    """Counts with a thousands separator, other numbers as in `decimal`, `null` for no value."""
    if value is None:
        return "null"
    if isinstance(value, int):
        return f"{value:,}"
    return decimal(value, ",")


def decimal(value: float | None, thousands: str = "") -> str:
    """A number to four decimals, or to four significant digits if it is small; - for none."""
    if value is None:
        return "-"
    if _NOTHING <= abs(value) < _SMALLEST_PLAIN:
        return f"{value:.{_DECIMALS}g}"
    return f"{value:z{thousands}.{_DECIMALS}f}"  # z: 0 instead of -0


def share(part: int, whole: int) -> str:
    """A part in percent; "" if the whole is 0."""
    return f"{100 * part / whole:.1f}%" if whole else ""


def minute(millis: int) -> str:
    """A time in UTC like `2025-03-01 12:30`, from milliseconds since 1970."""
    return f"{_EPOCH + timedelta(milliseconds=millis):%Y-%m-%d %H:%M}"
