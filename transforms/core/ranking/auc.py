"""The area under the curve of a ranked list, over the pairs of each search call (SPEC 8)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from goodgain.transforms.core.ranking.ranked_list import RankedList


def auc(ranked: RankedList, _: None) -> float | None:
    """Probability that a relevant result scores above a judged non-relevant one, ties 1/2 (SPEC 8).

    Over all pairs of judged results of one search call, since scores of different calls are not
    comparable; by score, or by -rank in a call where no result has a score. If only some have one,
    those without come after all others of their call, in the order of their ranks. Undefined
    without such a pair.

    Raises:
      ValueError: the number of scores differs from that of labels.

    Source: Hanley and McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 143(1), 1982: the Wilcoxon statistic.
    """
    relevant, nonrelevant = ranked.relevant_ranks, ranked.nonrelevant_ranks
    scores = ranked.scores
    if scores is not None and len(scores) != len(ranked.labels):
        raise ValueError(f"{len(scores)} scores for {len(ranked.labels)} labels")
    # Each pair in the right order counts as 2 halves and each tie as 1, so the sum stays whole.
    pairs = halves = before = 0
    for last in ranked.call_ends or (len(ranked.labels),):
        good, bad = (
            _ranks_between(relevant, before, last),
            _ranks_between(nonrelevant, before, last),
        )
        if good and bad:
            pairs += len(good) * len(bad)
            of_call = None if scores is None else scores[before:last]
            halves += _halves_in_order(good, bad, of_call, before)
        before = last
    return halves / (2 * pairs) if pairs else None


def _ranks_between(ranks: list[int], before: int, last: int) -> list[int]:
    """The ranks after `before`, up to `last`."""
    return ranks[bisect_right(ranks, before) : bisect_right(ranks, last)]


def _halves_in_order(
    relevant: list[int],
    nonrelevant: list[int],
    scores: Sequence[float | None] | None,
    before: int,
) -> int:
    """Of the pairs of a call, 2 for each in the right order and 1 for each tie.

    Args:
      scores: by rank from `before` + 1.
    """
    sort_keys = _sort_keys(scores)
    if sort_keys is None:
        last = len(nonrelevant)
        return sum(2 * (last - bisect_left(nonrelevant, rank)) for rank in relevant)
    nonrelevant_keys = sorted([sort_keys[rank - before - 1] for rank in nonrelevant])
    halves = 0
    for rank in relevant:
        own = sort_keys[rank - before - 1]
        halves += bisect_left(nonrelevant_keys, own) + bisect_right(nonrelevant_keys, own)
    return halves


def _sort_keys(scores: Sequence[float | None] | None) -> Sequence[Any] | None:
    """By rank, what results are compared by; greater is better. None if no result has a score."""
    if scores is None or None not in scores:
        return scores
    if scores.count(None) == len(scores):
        return None
    return [(0, -rank) if score is None else (1, score) for rank, score in enumerate(scores, 1)]
