"""Names, numbers and colours of the tables of a comparison."""

from __future__ import annotations

COLOURS = {"better": "green", "worse": "red", "changed": "yellow", "not comparable": "yellow"}
_SIGNIFICANT = 4


def figure(value: float | None, signed: bool = False, digits: int = _SIGNIFICANT) -> str:
    """A number in few characters: enough digits to tell values apart, none that say nothing."""
    if value is None:
        return "-"
    sign = "+" if signed else ""
    if value == 0:
        return "0"
    if abs(value) >= 10 ** (digits + 1):
        return f"{value:{sign},.0f}"
    if abs(value) < 10.0 ** (1 - digits):
        return f"{value:{sign}.1e}"
    whole = len(f"{abs(value):.0f}") if abs(value) >= 1 else 1
    return f"{value:{sign}.{max(digits - whole, 0)}f}"


def interval(low: float | None, high: float | None) -> str:
    """An interval of a difference; a dash for none."""
    if low is None or high is None:
        return "-"
    return f"{figure(low, signed=True)} .. {figure(high, signed=True)}"


def p_text(value: float | None) -> str:
    """A p value to three decimals."""
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
