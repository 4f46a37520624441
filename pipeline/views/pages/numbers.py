"""Formats numbers for the report, exactly like `page/numbers.js`."""

from __future__ import annotations

from math import floor, log10

_NONE = "\N{EN DASH}"
_SMALLEST_PLAIN = 0.001
_NOTHING = 1e-12  # smaller differences are rounding errors
_LEAST_PLAIN_COST = 1e-6  # smaller costs are written with an exponent
_LARGE_COST = 0.1  # from this value on, three decimals are enough


def number(value: float | None, whole: bool = False) -> str:
    """A value with about four significant digits, a count (`whole`) with all; a dash for none."""
    if value is None:
        return _NONE
    if whole:
        return f"{value:,.0f}"
    size = abs(value)
    if _NOTHING < size < _SMALLEST_PLAIN:
        return _with_power(f"{value:.1e}")
    decimals = next((at for at, least in enumerate((1_000, 100, 10, 0.01)) if size >= least), 5)
    return f"{value:z,.{decimals}f}" if size > _NOTHING else "0.000"


def amount(value: float | None, is_share: bool = False, whole: bool = False) -> str:
    """A value of a metric: shares as percentages, others as numbers; a dash for none."""
    if value is None or not is_share:
        return number(value, whole)
    return f"{100 * value:.1f} %"


def difference(value: float | None) -> str:
    """A signed value with three significant digits, however small; a dash for none."""
    if value is None:
        return _NONE
    if abs(value) < _NOTHING:
        return "0"
    size = abs(value)
    if size < _SMALLEST_PLAIN:
        return _with_power(f"{value:+.1e}")
    decimals = next((at for at, least in enumerate((100, 10, 1, 0.1, 0.01)) if size >= least), 5)
    return f"{value:+,.{decimals}f}"


def change(value: float | None, is_share: bool = False) -> str:
    """A difference of a metric, in percentage points for shares."""
    if value is None or not is_share:
        return difference(value)
    return f"{100 * value:+z.2f} points" if abs(value) >= _NOTHING else "0 points"


def _with_power(text: str) -> str:
    digits, _, power = text.partition("e")
    return f"{digits}e{int(power)}"


def cost_amount(value: float | None) -> str:
    """A value like `number`, but with three significant digits below 0.1; a dash for none."""
    size = abs(value or 0.0)
    if value is None or not size or size >= _LARGE_COST:
        return number(value)
    if size < _LEAST_PLAIN_COST:
        return _with_power(f"{value:.2e}")
    return f"{value:.{2 - floor(log10(size))}f}"


def relative(value: float | None) -> str:
    """A signed share as a percentage; a dash for none."""
    return _NONE if value is None else f"{100 * value:+z,.1f} %"


def probability(value: float | None) -> str:
    """A p value to three decimals; a dash for none."""
    if value is None:
        return _NONE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def share(part: float, whole: float) -> str:
    """A part as a percentage; a dash when the whole is 0."""
    return f"{100 * part / whole:.1f} %" if whole else _NONE


def rounded(value: float | None) -> float | None:
    """A value with six significant digits, so that the page stays small."""
    return None if value is None else float(f"{value:.6g}")
