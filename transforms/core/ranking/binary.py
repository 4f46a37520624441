"""The functions of ranking metrics that ask whether results are relevant (SPEC 8); auc's: `auc.py`.

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


def _at_most_one(value: float) -> float:
    """The value, at most 1, which rounding may have exceeded."""
    return min(value, 1.0)


def count_judged(labels: Sequence[int]) -> int:
    """Number of judged results of a list, which is the weight of its auc in `gauc_weighted`."""
    return len(labels) - labels.count(UNJUDGED) - labels.count(HELD_COPY)
