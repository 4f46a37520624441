"""The sign test: whether more pairs went up than down, regardless of how much."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from scipy.special import bdtr

from goodgain.transforms.core.comparison.samples import Array, checked_pairs, rounded_differences


class SignTest(Struct, frozen=True):
    """The exact two-sided sign test.

    Attributes:
      n: number of pairs.
      higher, equal, lower: number of pairs in which the candidate's value is higher than, equal to
        or lower than the base's; the test ignores equal pairs.
      p_value: the probability that chance splits the pairs that differ at least as unevenly; None
        if none differs.
      note: why there is no p value, if there is none.
    """

    n: int
    higher: int
    equal: int
    lower: int
    p_value: float | None
    note: str | None


def sign_test(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> SignTest:
    """Test whether the candidate is above the base as often as below it.

    Args:
      base, candidate: the values of pair j are at index j; values that differ only by rounding are
        equal.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    differences = rounded_differences(*checked_pairs(base, candidate))
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    p_value = note = None
    if higher + lower:
        tail = float(bdtr(min(higher, lower), higher + lower, 0.5))
        p_value = min(1.0, 2 * tail)  # both tails, since the binomial of 1/2 is symmetric
    else:
        note = "no pair differs"
    n = int(differences.size)
    return SignTest(n, higher, n - higher - lower, lower, p_value, note)
