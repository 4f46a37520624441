"""The metric of SPEC 8 that compares pairs of judged results: auc."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from goodgain.transforms.core.ranking.ranked_list import RankedList


def auc(ranked: RankedList, _: None) -> float | None:
    """Probability that a relevant result scores above a judged non-relevant one, ties 1/2 (SPEC 8).

    Over the judged results of the list, by score, or by -rank if no result has a score. If only
    some have a score, those without come after all others, in the order of their ranks. Undefined
    if all judged results are relevant, or none is.

    Raises:
      ValueError: the number of scores differs from that of labels.

    Source: Hanley and McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 143(1), 1982: the Wilcoxon statistic.
    """
    relevant, nonrelevant = ranked.relevant_ranks, ranked.nonrelevant_ranks
    if not relevant or not nonrelevant:
        return None
    pairs = len(relevant) * len(nonrelevant)
    if ranked.scores is None or ranked.scores.count(None) == len(ranked.scores):
        return (pairs - sum(ranked.nonrelevant_above)) / pairs
    if len(ranked.scores) != len(ranked.labels):
        raise ValueError(f"{len(ranked.scores)} scores for {len(ranked.labels)} labels")
    sort_keys = _sort_keys(ranked.scores)
    nonrelevant_keys = sorted([sort_keys[rank - 1] for rank in nonrelevant])
    # Each pair in the right order counts as 2 halves and each tie as 1, so the sum stays whole.
    halves = 0
    for rank in relevant:
        own = sort_keys[rank - 1]
        halves += bisect_left(nonrelevant_keys, own) + bisect_right(nonrelevant_keys, own)
    return halves / (2 * pairs)


def judged_results(labels: Sequence[int]) -> int:
    """Number of judged results of a list, which is the weight of its auc in `gauc_weighted`."""
    return sum(label >= 0 for label in labels)


def _sort_keys(scores: Sequence[float | None]) -> Sequence[Any]:
    """By rank, what results are compared by; greater is better."""
    if None not in scores:
        return scores
    return [(0, -rank) if score is None else (1, score) for rank, score in enumerate(scores, 1)]
