"""Wilcoxon's signed-rank test: pairs weigh by the rank of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from transforms.core.comparison.samples import Array, checked_pairs, settled_differences

_MOST_FOR_EXACT = 50  # differing pairs without ties
_MOST_FOR_SWAPS = 13  # differing pairs with ties: 2^13 swaps are few enough to try them all


class WilcoxonTest(Struct, frozen=True):
    """The two-sided signed-rank test.

    Attributes:
      n: pairs.
      equal: pairs without a difference, which are left out (Wilcoxon's own treatment).
      statistic: the lesser of the two sums of ranks.
      rank_biserial: (ranks upwards - ranks downwards) / all ranks, -1 to 1: the effect size.
      p_value: None when no pair differs.
      method: how p was found: `exact` = the null distribution without ties, `swaps` = every
        assignment of signs, `normal` = the normal approximation, corrected for ties.
      note: why there is no p value, when there is none.
    """

    n: int
    equal: int
    statistic: float | None
    rank_biserial: float | None
    p_value: float | None
    method: Literal["exact", "swaps", "normal"] | None
    note: str | None


def wilcoxon(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> WilcoxonTest:
    """Whether differences are distributed symmetrically around 0.

    Args:
      base, candidate: value j of both belongs to pair j; differences that rounding explains are
        equal, as are magnitudes of differences.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    from scipy import stats  # a second of import time, for a test made on request

    differences = settled_differences(*checked_pairs(base, candidate))
    differing = differences[differences != 0]
    n, equal = int(differences.size), int(differences.size - differing.size)
    if not differing.size:
        return WilcoxonTest(n, equal, None, None, None, None, "no pair differs")
    ranks = stats.rankdata(np.abs(differing))
    upwards = float(ranks[differing > 0].sum())
    total = float(ranks.sum())
    method = _method(differing)
    found = stats.wilcoxon(differing, method="asymptotic" if method == "normal" else "auto")
    return WilcoxonTest(
        n=n,
        equal=equal,
        statistic=min(upwards, total - upwards),
        rank_biserial=(2 * upwards - total) / total,
        p_value=float(found.pvalue),
        method=method,
        note=None,
    )


def _method(differing: Array) -> Literal["exact", "swaps", "normal"]:
    tied = np.unique(np.abs(differing)).size < differing.size
    if differing.size <= (_MOST_FOR_SWAPS if tied else _MOST_FOR_EXACT):
        return "swaps" if tied else "exact"
    return "normal"
