"""The functions that compute the ranking metrics of SPEC 8; that of auc is in `auc.py`.

Every function takes a ranked list and its argument (a cutoff k, None for the whole list or no
cutoff, or a persistence p) and returns the value, None if undefined.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from goodgain.transforms.core.ranking.ranked_list import HELD_COPY, UNJUDGED, RankedList, powers


def hits(ranked: RankedList, k: int | None) -> int:
    """sum_{j<=k} rel_j: the relevant results among the first k (SPEC 8).

    Source: trec_eval's num_rel_ret; Voorhees and Harman, "TREC: Experiment and Evaluation in
    Information Retrieval", MIT Press 2005, chapter 3.
    """
    ranks = ranked.relevant_ranks
    return len(ranks) if k is None else bisect_right(ranks, k)


def hit_rate(ranked: RankedList, k: int | None) -> int:
    """1 if hits@k > 0, else 0 (SPEC 8).

    Source: trec_eval's success_k; Craswell and Hawking, "Overview of the TREC 2004 Web Track",
    TREC 2004: success@n.
    """
    ranks = ranked.relevant_ranks
    return int(bool(ranks) and (k is None or ranks[0] <= k))


def precision(ranked: RankedList, k: int | None) -> float | None:
    """hits@k / k, even if the list is shorter than k; hits / n without k (SPEC 8).

    Undefined for an empty list without k.
    Source: Kent, Berry, Luehrs and Perry, "Machine literature searching VIII", American
    Documentation 6(2), 1955 (as pertinency factor); cut at k as in trec_eval's P_k.
    """
    if k is None:
        k = len(ranked.labels)
        if k == 0:
            return None
    return hits(ranked, k) / k


def recall(ranked: RankedList, k: int | None) -> float | None:
    """hits@k / R, with R the number of relevant documents in the pool (SPEC 8).

    Undefined when R = 0.
    Source: Kent, Berry, Luehrs and Perry, "Machine literature searching VIII", American
    Documentation 6(2), 1955 (as recall factor); cut at k as in trec_eval's recall_k.
    """
    relevant = ranked.relevant_in_pool
    return hits(ranked, k) / relevant if relevant else None


def f1(ranked: RankedList, k: int | None) -> float | None:
    """2 hits@k / (k + R): the harmonic mean of precision@k and recall@k (SPEC 8).

    Without k, k = n. 0 when both are 0; undefined when R = 0.
    Source: van Rijsbergen, "Information Retrieval", 2nd edition, Butterworths 1979, chapter 7:
    1 - E with equal weights.
    """
    relevant = ranked.relevant_in_pool
    if not relevant:
        return None
    shown = len(ranked.labels) if k is None else k
    return 2 * hits(ranked, k) / (shown + relevant)


def r_precision(ranked: RankedList, _: None) -> float | None:
    """hits@R / R (SPEC 8). Undefined when R = 0.

    Source: Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000: R-Prec.
    """
    relevant = ranked.relevant_in_pool
    return hits(ranked, relevant) / relevant if relevant else None


def mean_reciprocal_rank(ranked: RankedList, k: int | None) -> float | None:
    """1 / rank of the first relevant result within k, else 0 (SPEC 8).

    Undefined when R = 0 by judgments from outside; without them 0, since it needs no ideal: the
    mean over ten finds at rank 1 and ninety conversations without one is 0.1, not 1.

    Source: Voorhees, "The TREC-8 Question Answering Track Report", TREC-8 1999: the score
    of a question.
    """
    if not ranked.relevant_in_pool and ranked.options.judged_outside:
        return None
    ranks = ranked.relevant_ranks
    return 1.0 / ranks[0] if ranks and (k is None or ranks[0] <= k) else 0.0


def average_precision(ranked: RankedList, k: int | None) -> float | None:
    """(1/R) sum_{j<=k} rel_j precision@j (SPEC 8). Undefined when R = 0.

    Source: Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000: average
    precision; cut at k but divided by R as in trec_eval's map_cut_k.
    """
    relevant = ranked.relevant_in_pool
    return ranked.precision_sums[hits(ranked, k)] / relevant if relevant else None


def bpref(ranked: RankedList, _: None) -> float | None:
    """(1/R) sum over retrieved relevant of 1 - min(above, R) / min(R, N-) (SPEC 8).

    `above` counts the judged non-relevant results above the relevant one; each term is 1 when
    N- = 0. Undefined when R = 0.
    Source: Buckley and Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004:
    bpref, with the bound min(R, N-) that trec_eval's file bpref_bug records.
    """
    relevant, nonrelevant = ranked.relevant_in_pool, ranked.nonrelevant_in_pool
    if not relevant:
        return None
    retrieved = len(ranked.relevant_ranks)
    if not nonrelevant:
        return retrieved / relevant
    ascending = ranked.nonrelevant_above
    all_count = bisect_left(ascending, relevant)  # from here on, only R of those above count
    above = sum(ascending[:all_count]) + relevant * (retrieved - all_count)
    return (retrieved - above / min(relevant, nonrelevant)) / relevant


def judged(ranked: RankedList, k: int | None) -> float | None:
    """Share of the first k results that have a label; undefined for an empty list.

    Divided by the number of results, min(k, n), since an empty rank is not a missing label.
    A held copy counts as judged (SPEC 8).
    Source: ir_measures' Judged@k.
    """
    labels = ranked.labels if k is None else ranked.labels[:k]
    if not labels:
        return None
    return (len(labels) - labels.count(UNJUDGED)) / len(labels)


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


def rbp(ranked: RankedList, p: float) -> float:
    """(1 - p) sum_j rel_j p^(j-1) over the whole list (SPEC 8).

    Source: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
    ACM TOIS 27(1), 2008: the definition of RBP.
    """
    return _at_most_one(_discounted_sum(ranked.relevant_ranks, p, len(ranked.labels)))


def rbp_residual(ranked: RankedList, p: float) -> float:
    """What rbp.p would gain if every unjudged rank, and every rank beyond the list, were relevant.

    (1 - p) sum over unjudged j of p^(j-1), and the tail p^n (SPEC 8); 1 for an empty list.
    Source: Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness",
    ACM TOIS 27(1), 2008: the residual of RBP, the range that unknown judgments leave open.
    """
    size = len(ranked.labels)
    return _at_most_one(_discounted_sum(ranked.unjudged_ranks, p, size) + powers(p, size)[size])


def _discounted_sum(ranks: list[int], p: float, size: int) -> float:
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
    return _steps_to(ranked.reciprocal_rank_steps, k)


def nerr(ranked: RankedList, k: int | None) -> float | None:
    """err@k over err@k of the pool's gains in falling order (SPEC 8). Undefined when that is 0.

    Raises:
      UsageError: a gain is above g_max.
    Source: Chapelle, Metzler, Zhang and Grinspan, CIKM 2009, the definition of ERR, normalised as
    Järvelin and Kekäläinen 2002 normalise dcg.
    """
    ideal = _steps_to(ranked.ideal_reciprocal_rank_steps, k)
    return _at_most_one(_steps_to(ranked.reciprocal_rank_steps, k) / ideal) if ideal else None


def _at_most_one(value: float) -> float:
    """The value, at most 1, which rounding may have exceeded."""
    return min(value, 1.0)


def _steps_to(steps: tuple[list[int], list[float]], k: int | None) -> float:
    ranks, sums = steps
    within = len(ranks) if k is None else bisect_right(ranks, k)
    return sums[within - 1] if within else 0.0


def count_judged(labels: Sequence[int]) -> int:
    """Number of judged results of a list, which is the weight of its auc in `gauc_weighted`."""
    return len(labels) - labels.count(UNJUDGED) - labels.count(HELD_COPY)


def aspect_recall(ranked: RankedList, k: int | None) -> float | None:
    """The share of the topic's aspects that the first k results cover (SPEC 13).

    Undefined if the topic has no aspect, or none is known.
    Source: Zhai, Cohen and Lafferty, "Beyond independent relevance", SIGIR 2003: S-recall; ndeval's
    strec@k.
    """
    return None if ranked.aspects is None else ranked.aspects.recall(k)


def alpha_ndcg(ranked: RankedList, k: int | None) -> float | None:
    """Discounted gain of aspects, halved each time one is repeated, by the greedy ideal (SPEC 13).

    Undefined if the topic has no aspect, or none is known.
    Source: Clarke et al., "Novelty and diversity in information retrieval evaluation", SIGIR 2008;
    ndeval's alpha-nDCG@k.
    """
    return None if ranked.aspects is None else ranked.aspects.ndcg(k)
