"""Formats numbers for people, and values of metrics in the unit of each: shares in percent.

Every medium shows these texts. "-" stands for no value, "pp" for percentage points.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10
from typing import Any, Literal

from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.records.epoch import moment_of_millis
from goodgain.transforms.core.wording import format_percent

NONE = "-"
_NOTHING = 1e-12  # smaller values are rounding errors
_LEAST_PLAIN = 1e-6  # smaller values have an exponent
_SIGNIFICANT = 4
_MOST_SIGNIFICANT = 6
_SIGNIFICANT_OF_PERCENTAGE = 3
_LEAST_SIGNIFICANT = 3  # of small values
_LEAST_SIGNIFICANT_OF_DIFFERENCE = 2  # and of percentages
_OF_SAMPLE = ("min", "max", "p10", "p50", "p90")
_ZERO_AND_ONE = {0, 1}
_FEW = 10  # conversations of which few may have no value without a remark


def number(value: float | int | None, signed: bool = False) -> str:
    """A count with a thousands separator, another number with about four digits; - for none."""
    if value is None:
        return NONE
    if isinstance(value, int):
        return f"{value:,}"
    return _figure(value, _SIGNIFICANT, signed)


def count_text(value: float | int | None) -> str:
    """A count; - for none."""
    return NONE if value is None else f"{value:,.0f}"


def data_text(value: float) -> str:
    """A number to six significant digits, where programs read the text."""
    return "0" if abs(value) < _NOTHING else f"{value:.{_MOST_SIGNIFICANT}g}"


def fixed(value: float | None, signed: bool = False) -> str:
    """A number of a kind that is never large, like an AUC, to two decimals; - for none."""
    if value is None:
        return NONE
    return f"{value:+z.2f}" if signed else f"{value:z.2f}"


def fixed_interval(low: float | None, high: float | None, signed: bool = False) -> str:
    """The interval of such a number; - for none."""
    if low is None or high is None:
        return NONE
    return f"{fixed(low, signed)}..{fixed(high, signed)}"


def share(part: float, whole: float) -> str:
    """A part in percent; - if the whole is 0."""
    return share_text(part / whole if whole else None)


def share_text(value: float | None) -> str:
    """A share in percent; - for none."""
    return NONE if value is None else format_percent(value)


def level(value: float, digits: int = _MOST_SIGNIFICANT, unit: Literal["%", "pp"] = "%") -> str:
    """A share that somebody chose, like a confidence, or that is held against one.

    It has no zeros at its end: 95 %, not 95.0 %.
    """
    return f"{100 * value:.{digits}g} {unit}"


def relative(value: float | None, decimals: int = 1) -> str:
    """A signed share in percent; - for none."""
    return NONE if value is None else f"{100 * value:+z,.{decimals}f} %"


def probability(value: float | None) -> str:
    """A p value to three decimals; - for none."""
    if value is None:
        return NONE
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def minute(millis: int) -> str:
    """A time in UTC like `2025-03-01 12:30`, from milliseconds since 1970."""
    return f"{moment_of_millis(millis):%Y-%m-%d %H:%M}"


def value_text(metric: str, value: float | None, digits: int = _SIGNIFICANT) -> str:
    """A value of a metric, in percent if the metric is shown so; - for none.

    Args:
      digits: significant digits of a number; a percentage has one less, but at least 3.
    """
    if value is None:
        return NONE
    if metric_by_name(metric).in_percent:
        return f"{_percentage(value, digits)} %"
    return f"{value:,}" if isinstance(value, int) else _figure(value, digits)


def short_text(metric: str, value: float | None) -> str:
    """A value of one conversation, with three digits; a whole one has no decimals."""
    if value is not None and float(value).is_integer() and not metric_by_name(metric).in_percent:
        return count_text(value)
    return value_text(metric, value, digits=3)


def mean_text(metric: str, value: float | None, n: int, undefined: int) -> str:
    """A mean, which says so if it is over less than half of at least ten conversations.

    Args:
      n: number of conversations in the mean.
      undefined: number of those without a value.
    """
    text = value_text(metric, value)
    of_few = value is not None and n + undefined >= _FEW and undefined > n
    return f"{text} over only {n:,} of {n + undefined:,}" if of_few else text


def clipped_interval(row: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """The ends of the interval of a row of `means`, clipped to the range of its metric.

    That of an outcome is from 0 to 1 if its values were: only those tell its range.
    """
    low, high = row["ci_low"], row["ci_high"]
    if low is None or high is None:
        return None, None
    declared = metric_by_name(row["metric"])
    if declared.binary is None and {row.get(part) for part in _OF_SAMPLE} <= _ZERO_AND_ONE:
        return max(low, 0.0), min(high, 1.0)
    return declared.clip(low), declared.clip(high)


def mean_interval_text(metric: str, low: float | None, high: float | None) -> str:
    """The interval of a mean, clipped to the range of its metric; - for none."""
    if low is None or high is None:
        return NONE
    declared = metric_by_name(metric)
    low, high = declared.clip(low), declared.clip(high)
    if declared.in_percent:
        return f"{_percentage(low)}..{_percentage(high)} %"
    return f"{_figure(low, _SIGNIFICANT)}..{_figure(high, _SIGNIFICANT)}"


def difference_text(
    metric: str, value: float | None, signed: bool = True, digits: int = _SIGNIFICANT
) -> str:
    """A difference of a metric, of percentages in points (pp); - for none."""
    if value is None:
        return NONE
    if metric_by_name(metric).in_percent:
        return f"{_percentage(value, digits, signed)} pp"
    return _figure(value, digits, signed, _LEAST_SIGNIFICANT_OF_DIFFERENCE)


def interval_text(metric: str, low: float | None, high: float | None, between: str = "..") -> str:
    """The interval of a difference, in the unit of `difference_text`; - for none.

    Args:
      between: what stands between its ends; " to " in a sentence.
    """
    if low is None or high is None:
        return NONE
    ends = (difference_text(metric, end).removesuffix(" pp") for end in (low, high))
    # No spaces: with them, the table of a comparison is wider than 80 columns.
    return between.join(ends)


def _percentage(value: float, digits: int = _SIGNIFICANT, signed: bool = False) -> str:
    digits = max(digits - 1, _SIGNIFICANT_OF_PERCENTAGE)
    return _figure(100 * value, digits, signed, _LEAST_SIGNIFICANT_OF_DIFFERENCE)


def _figure(
    value: float,
    digits: int = _SIGNIFICANT,
    signed: bool = False,
    least: int = _LEAST_SIGNIFICANT,
) -> str:
    """A number with about `digits` significant digits.

    Values below 1 have as many decimals as those up to 10, so that a column is easy to compare;
    but small ones keep `least` significant digits.
    """
    sign = "+" if signed else ""
    size = abs(value)
    if size < _NOTHING:
        return "0"
    if size < _LEAST_PLAIN:
        return f"{value:{sign}.{least - 1}e}"
    decimals = max(digits - len(str(int(size))), 0)
    if size < 1:
        decimals = max(decimals, least - 1 - floor(log10(size)))
    return f"{value:{sign},.{decimals}f}"
