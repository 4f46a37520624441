"""Numbers as the report prints them; `page/numbers.js` prints them the same."""

from __future__ import annotations

_NONE = "\N{EN DASH}"


def number(value: float | None, whole: bool = False) -> str:
    """A value with about four significant digits; a dash for none.

    Args:
      value: what to print.
      whole: whether it is a count, which is printed in full.
    """
    if value is None:
        return _NONE
    if whole:
        return f"{value:,.0f}"
    size = abs(value)
    decimals = 0 if size >= 1_000 else 1 if size >= 100 else 2 if size >= 10 else 3
    return f"{value:,.{decimals}f}"


def share(part: float, whole: float) -> str:
    """A part as a percentage; a dash when there is nothing to be a part of."""
    return f"{100 * part / whole:.1f} %" if whole else _NONE


def rounded(value: float | None) -> float | None:
    """A value with six significant digits, so that the page stays small."""
    return None if value is None else float(f"{value:.6g}")
