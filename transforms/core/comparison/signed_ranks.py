"""Tests by the signs of differences: the sign test, and Wilcoxon's, which weighs them by rank."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from scipy.special import bdtr, ndtr

from goodgain.transforms.core.comparison.samples import Array, checked_pairs, rounded_differences

_MOST_FOR_EXACT = 50  # differing pairs; counts up to 2^50 assignments are exact in doubles
_Ranks = npt.NDArray[np.int64]


class WilcoxonTest(Struct, frozen=True):
    """The two-sided signed-rank test; null if no pair differs.

    Attributes:
      rank_biserial: (ranks upwards - ranks downwards) / all ranks, -1 to 1: the effect size.
    """

    p_value: float | None
    rank_biserial: float | None


def wilcoxon(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> WilcoxonTest:
    """Whether differences are distributed symmetrically around 0.

    Pairs without a difference are left out, as by Wilcoxon. Exact, over all assignments of signs to
    the ranks, up to 50 differing pairs, even with ties, which are the rule in metrics that count
    few results; most libraries are exact only without ties. For more pairs, the normal
    approximation without continuity correction.

    Args:
      base, candidate: the values of pair j are at index j; values, and magnitudes of differences,
        that differ only by rounding are equal.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    differences = rounded_differences(*checked_pairs(base, candidate))
    differing = differences[differences != 0]
    if not differing.size:
        return WilcoxonTest(None, None)
    ranks = _doubled_ranks(np.abs(differing))
    upwards, total = int(ranks[differing > 0].sum()), int(ranks.sum())
    lesser = min(upwards, total - upwards)
    p_value = _exact_p if differing.size <= _MOST_FOR_EXACT else _normal_p
    return WilcoxonTest(p_value(ranks, lesser), (2 * upwards - total) / total)


def _doubled_ranks(magnitudes: Array) -> _Ranks:
    """Twice the ranks, which makes them whole numbers, since ties share their mean rank."""
    _, place, counts = np.unique(magnitudes, return_inverse=True, return_counts=True)
    shared = 2 * np.cumsum(counts) - counts + 1
    ranks: _Ranks = shared[place].astype(np.int64)
    return ranks


def _exact_p(ranks: _Ranks, lesser: int) -> float:
    """Twice the share of sign assignments with a sum at most this small."""
    ways = np.zeros(int(ranks.sum()) + 1)  # number of assignments by sum of the positive ranks
    ways[0] = 1
    for rank in ranks.tolist():
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, 2 * float(ways[: lesser + 1].sum() / ways.sum()))


def _normal_p(ranks: _Ranks, lesser: int) -> float:
    """Each rank counts or not with probability 1/2, so the sum's variance is sum(ranks^2) / 4."""
    stddev = sqrt(float((ranks.astype(np.float64) ** 2).sum())) / 2
    return 2 * float(ndtr((lesser - float(ranks.sum()) / 2) / stddev))


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
