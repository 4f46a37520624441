"""Exact sums of floats, independent of order and grouping."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum

Parts = tuple[float, ...]


def sum_exactly(values: Iterable[float]) -> Parts:
    """The exact sum of finite doubles, as non-overlapping doubles, the greatest first.

    The parts depend only on the sum: the first is the rounded sum, each further one the rounded
    remainder. So they do not depend on order and grouping (for the theory see Shewchuk 1997).
    """
    terms = list(values)
    parts: list[float] = []
    while rest := fsum(terms):
        parts.append(rest)
        terms.append(-rest)
    return tuple(parts)
