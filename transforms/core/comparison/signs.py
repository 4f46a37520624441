"""The sign test: whether more pairs went up than down, regardless of how much."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.special import bdtr

from goodgain.transforms.core.comparison.samples import Array, checked_pairs, rounded_differences


def sign_test(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> float | None:
    """The exact two-sided p value of whether the candidate is above the base as often as below it.

    It is the probability that chance splits the pairs that differ at least as unevenly; None if
    none differs.

    Args:
      base, candidate: the values of pair j are at index j; values that differ only by rounding are
        equal.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    differences = rounded_differences(*checked_pairs(base, candidate))
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    if not higher + lower:
        return None
    tail = float(bdtr(min(higher, lower), higher + lower, 0.5))
    return min(1.0, 2 * tail)  # both tails, since the binomial of 1/2 is symmetric
