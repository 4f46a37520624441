"""P values and colours of the tables of a comparison."""

from __future__ import annotations

COLOURS = {"better": "green", "worse": "red", "changed": "yellow", "not comparable": "yellow"}


def p_text(value: float | None) -> str:
    """A p value to three decimals."""
    if value is None:
        return "-"
    return "<0.001" if value < 0.001 else f"{value:.3f}"
