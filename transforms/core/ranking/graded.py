"""The functions of ranking metrics that weigh results by their gain (SPEC 8).

They take a ranked list and a cutoff, as those of `binary.py` do.
"""

from __future__ import annotations

from bisect import bisect_right

from goodgain.transforms.core.ranking.ranked_list import RankedList


def cg(ranked: RankedList, k: int | None) -> int:
    """sum_{j<=k} g_j: cumulated gain of the ranked list (SPEC 8).

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
    20(4), 2002, equation 1.
    """
    sums = ranked.gain_sums
    return sums[-1] if k is None or k >= len(sums) else sums[k]


def dcg(ranked: RankedList, k: int | None) -> float:
    """sum_{j<=k} g_j / log2(j + 1) (SPEC 8).

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
    20(4), 2002, equation 2, with the discount log2(j + 1) at every rank instead of their
    max(1, log2 j), as in trec_eval and Burges et al. 2005.
    """
    return _sum_to(ranked.discounted_sums, k)


def dcg_burges(ranked: RankedList, k: int | None) -> float:
    """sum_{j<=k} (2^g_j - 1) / log2(j + 1) (SPEC 8).

    Source: Burges et al., "Learning to rank using gradient descent", ICML 2005: the sum
    inside their NDCG.
    """
    return _sum_to(ranked.discounted_sums_burges, k)


def ndcg(ranked: RankedList, k: int | None) -> float | None:
    """dcg@k over dcg@k of the pool's gains in falling order (SPEC 8). Undefined when that is 0.

    Source: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
    20(4), 2002: the normalised DCG vector, at one rank.
    """
    ideal = _sum_to(ranked.ideal_discounted_sums, k)
    return _sum_to(ranked.discounted_sums, k) / ideal if ideal else None


def ndcg_burges(ranked: RankedList, k: int | None) -> float | None:
    """dcg_burges@k over that of the pool's gains in falling order (SPEC 8). Undefined when it is 0.

    Source: Burges et al., "Learning to rank using gradient descent", ICML 2005: NDCG.
    """
    ideal = _sum_to(ranked.ideal_discounted_sums_burges, k)
    return _sum_to(ranked.discounted_sums_burges, k) / ideal if ideal else None


def _sum_to(sums: list[float], k: int | None) -> float:
    return sums[-1] if k is None or k >= len(sums) else sums[k]


def err(ranked: RankedList, k: int | None) -> float:
    """sum_{j<=k} (1/j) P_j prod_{l<j} (1 - P_l), P = (2^g - 1) / 2^g_max (SPEC 8).

    Raises:
      UsageError: a gain is above g_max.
    Source: Chapelle, Metzler, Zhang and Grinspan, "Expected reciprocal rank for graded relevance",
    CIKM 2009: the definitions of R(g), the probability of being satisfied, and of ERR.
    """
    return _steps_to(ranked.reciprocal_rank_steps, k)


def nerr(ranked: RankedList, k: int | None) -> float | None:
    """err@k over err@k of the pool's gains in falling order (SPEC 8). Undefined when that is 0.

    Raises:
      UsageError: a gain is above g_max.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009, the definition of ERR, normalised as
    Järvelin and Kekäläinen 2002 normalise dcg.
    """
    # Rounding may exceed 1.
    ideal = _steps_to(ranked.ideal_reciprocal_rank_steps, k)
    return min(_steps_to(ranked.reciprocal_rank_steps, k) / ideal, 1.0) if ideal else None


def _steps_to(steps: tuple[list[int], list[float]], k: int | None) -> float:
    ranks, sums = steps
    within = len(ranks) if k is None else bisect_right(ranks, k)
    return sums[within - 1] if within else 0.0
