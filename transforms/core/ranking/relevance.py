"""The metrics of SPEC 8 that count relevant results: how many, and how far up.

Every function takes a ranked list and a cutoff k (None = the whole list, or no cutoff) and returns
the value, None if undefined.
"""

from __future__ import annotations

from bisect import bisect_right

from goodgain.transforms.core.ranking.ranked_list import UNJUDGED, RankedList


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
    """1 / rank of the first relevant result within k, else 0 (SPEC 8). Undefined when R = 0.

    Source: Voorhees, "The TREC-8 Question Answering Track Report", TREC-8 1999: the score
    of a question.
    """
    if not ranked.relevant_in_pool:
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
    above = sum(min(above, relevant) for above in ranked.nonrelevant_above)
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
