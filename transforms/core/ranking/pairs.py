"""The metric of SPEC 8 that compares pairs of judged results: auc."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from goodgain.transforms.core.ranking.ranked import RankedList


def auc(ranked: RankedList, _: None) -> float | None:
    """Probability that a relevant result scores above a judged non-relevant one, ties 1/2 (SPEC 8).

    Over the judged results of the list, by score, or by -rank if no result has a score. If only
    some have a score, those without come after all others, in the order of their ranks. Undefined
    if only one class occurs.

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
    standing = _standing(ranked.scores)
    beaten = sorted([standing[rank - 1] for rank in nonrelevant])
    # A pair in order counts 2 and a tie 1, which keeps the count a whole number.
    halves = 0
    for rank in relevant:
        own = standing[rank - 1]
        halves += bisect_left(beaten, own) + bisect_right(beaten, own)
    return halves / (2 * pairs)


def judged_results(labels: Sequence[int]) -> int:
    """Number of judged results of a list: the weight of its auc in `gauc_weighted` (SPEC 8)."""
    return sum(label >= 0 for label in labels)


def _standing(scores: Sequence[float | None]) -> Sequence[Any]:
    if None not in scores:
        return scores
    return [(0, -rank) if score is None else (1, score) for rank, score in enumerate(scores, 1)]
