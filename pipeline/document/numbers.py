"""Formats numbers for people, and values of metrics in the unit of each: shares in percent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from goodgain.transforms.core.scoring.metric_by_name import metric_by_name

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DECIMALS = 4
_SMALLEST_PLAIN = 0.01  # smaller values get significant digits instead of four decimals
_NOTHING = 1e-12  # smaller values are rounding errors
_SIGNIFICANT = 4
_SIGNIFICANT_OF_PERCENTAGE = 3


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


def value_text(metric: str, value: float | None, digits: int = _SIGNIFICANT) -> str:
    """A value of a metric, in percent if the metric is shown so; a dash for none.

    Args:
      digits: significant digits of a number; a percentage has one less, but at least 3.
    """
    if value is None:
        return "-"
    if metric_by_name(metric).in_percent:
        return f"{_figure(100 * value, max(digits - 1, _SIGNIFICANT_OF_PERCENTAGE))} %"
    if isinstance(value, int):
        return f"{value:,}"
    return _figure(value, digits)


def difference_text(
    metric: str, value: float | None, signed: bool = True, digits: int = _SIGNIFICANT
) -> str:
    """A difference of a metric, of percentages in points (pp); a dash for none."""
    if value is None:
        return "-"
    if metric_by_name(metric).in_percent:
        points = max(digits - 1, _SIGNIFICANT_OF_PERCENTAGE)
        return f"{_figure(100 * value, points, signed)} pp"
    return _figure(value, digits, signed)


def interval_text(metric: str, low: float | None, high: float | None) -> str:
    """The interval of a difference, in the unit of `difference_text`; a dash for none."""
    if low is None or high is None:
        return "-"
    if metric_by_name(metric).in_percent:
        low, high, digits = 100 * low, 100 * high, _SIGNIFICANT_OF_PERCENTAGE
    else:
        digits = _SIGNIFICANT
    # No spaces: with them, the table of a comparison is wider than 80 columns.
    return f"{_figure(low, digits, signed=True)}..{_figure(high, digits, signed=True)}"


def mean_text(metric: str, value: float | None) -> str:
    """Like `value_text`, but with as many decimals in every row of a column."""
    if not metric_by_name(metric).in_percent:
        return decimal(value)
    return "-" if value is None else f"{100 * value:.2f} %"


def mean_interval_text(row: Mapping[str, Any]) -> str:
    """The interval of a row of means; a dash for none."""
    if row["ci_low"] is None:
        return "-"
    name = row["metric"]
    within = metric_by_name(name).within
    low, high = (mean_text(name, within(row[end])) for end in ("ci_low", "ci_high"))
    return f"{low} .. {high}"


def _figure(value: float, digits: int, signed: bool = False) -> str:
    """A number with about `digits` significant digits."""
    sign = "+" if signed else ""
    if abs(value) < _NOTHING:
        return "0"
    if abs(value) < 10.0 ** (1 - digits):
        return f"{value:{sign}.1e}"
    decimals = max(digits - len(str(int(abs(value)))), 0)
    if abs(value) < 10.0 ** (2 - digits):
        decimals += 1  # two significant digits at least
    return f"{value:{sign},.{decimals}f}"
