"""The metrics of SPEC 8 that model a reader going down the list: rbp and err.

Every function takes a ranked list and its argument (a persistence p, or a cutoff k with None for
the whole list) and returns the value, None if undefined.
"""

from __future__ import annotations

from bisect import bisect_right

from goodgain.transforms.core.ranking.ranked_list import RankedList, powers


def rbp(ranked: RankedList, p: float) -> float:
    """(1 - p) sum_j rel_j p^(j-1) over the whole list (SPEC 8).

    Source: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
    ACM TOIS 27(1), 2008: the definition of RBP.
    """
    return _at_most_one(_discounted(ranked.relevant_ranks, p, len(ranked.labels)))


def rbp_residual(ranked: RankedList, p: float) -> float:
    """What rbp.p would gain if every unjudged rank, and every rank beyond the list, were relevant.

    (1 - p) sum over unjudged j of p^(j-1), and the tail p^n (SPEC 8); 1 for an empty list.
    Source: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
    ACM TOIS 27(1), 2008: the residual of RBP, the range that unknown judgments leave open.
    """
    size = len(ranked.labels)
    return _at_most_one(_discounted(ranked.unjudged_ranks, p, size) + powers(p, size)[size])


def _discounted(ranks: list[int], p: float, size: int) -> float:
    weights = powers(p, size)
    total = 0.0
    for rank in ranks:  # sum() rounds differently from Python 3.12 on
        total += weights[rank - 1]
    return (1.0 - p) * total


def err(ranked: RankedList, k: int | None) -> float:
    """sum_{j<=k} (1/j) P_j prod_{l<j} (1 - P_l), P = (2^g - 1) / 2^g_max (SPEC 8).

    Raises:
      UsageError: a gain is above g_max.
    Source: Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance",
    CIKM 2009: the definitions of R(g), the probability of being satisfied, and of ERR.
    """
    return _sum_to(ranked.reciprocal_rank_steps, k)


def nerr(ranked: RankedList, k: int | None) -> float | None:
    """err@k over err@k of the pool's gains in falling order (SPEC 8). Undefined when that is 0.

    Raises:
      UsageError: a gain is above g_max.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009, the definition of ERR, normalised as
    Järvelin and Kekäläinen 2002 normalise dcg.
    """
    ideal = _sum_to(ranked.ideal_reciprocal_rank_steps, k)
    return _at_most_one(_sum_to(ranked.reciprocal_rank_steps, k) / ideal) if ideal else None


def _at_most_one(value: float) -> float:
    """The value, at most 1, which rounding may have exceeded."""
    return min(value, 1.0)


def _sum_to(steps: tuple[list[int], list[float]], k: int | None) -> float:
    ranks, sums = steps
    within = len(ranks) if k is None else bisect_right(ranks, k)
    return sums[within - 1] if within else 0.0
