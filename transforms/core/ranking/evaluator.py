"""Evaluate ranked lists: a tuple of metrics compiled once into a plan, then run on every list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from transforms.core.errors import UsageError
from transforms.core.ranking.families import FAMILIES, Family, Value
from transforms.core.ranking.names import RankingMetric
from transforms.core.ranking.ranked import UNJUDGED, RankedList, Reading
from transforms.core.records import GREATEST_GAIN

_Step = tuple[Callable[[RankedList, Any], Value], int | float | None]
Bounds = tuple[float, float]


class RankingEvaluator:
    """Computes ranking metrics of one list after the other; SPEC 8.

    Holds no state between lists; can be pickled and shared by threads.

    Attributes:
      metrics: what it computes, in the order of the values it returns.
    """

    def __init__(
        self,
        metrics: Sequence[RankingMetric],
        relevance_threshold: int,
        g_max: int = GREATEST_GAIN,
    ) -> None:
        """Compile the metrics.

        Args:
          metrics: from `parse_ranking_metrics`.
          relevance_threshold: the least gain of a relevant result, 1..g_max.
          g_max: the greatest gain that the labelling scale has, for err and nerr.

        Raises:
          UsageError: the threshold is outside 1..g_max.
        """
        if not 1 <= relevance_threshold <= g_max:
            raise UsageError(
                f"relevance_threshold is {relevance_threshold}, but must lie between 1 (an "
                f"unjudged result has gain 0 and is not relevant) and g_max = {g_max}."
            )
        self.metrics = tuple(metrics)
        families = [FAMILIES[metric.family] for metric in self.metrics]
        self._g_max = g_max
        self._steps = tuple(map(_step, families, self.metrics))
        self._bounded = tuple(
            step if family.bounded else None
            for step, family in zip(self._steps, families, strict=True)
        )
        graded = zip(self.metrics, families, strict=True)
        self._reading = Reading(
            threshold=relevance_threshold,
            stops=tuple(((1 << gain) - 1) / (1 << g_max) for gain in range(g_max + 1)),
            depth=_depth(self.metrics),
            gain_depth=_depth(metric for metric, family in graded if family.graded),
        )

    def evaluate(
        self,
        labels: Sequence[int],
        pool: Sequence[int],
        scores: Sequence[float | None] | None = None,
    ) -> tuple[Value, ...]:
        """The value of each metric, None where it is undefined.

        Args:
          labels: by rank, a gain >= 0, UNJUDGED (-1) or HELD_COPY (-2): a later copy that keeps
            its place, which is non-relevant with gain 0 and no member of the pool; bpref, auc and
            rbp_residual pass over it, judged counts it as judged.
          pool: the gains of all judged documents, retrieved or not, in any order.
          scores: by rank, the retriever's scores, read by auc alone.

        Raises:
          UsageError: err or nerr is asked for and a gain is above g_max.
          ValueError: there are not as many scores as labels.
        """
        ranked = RankedList(labels, pool, scores, self._reading)
        return tuple([function(ranked, argument) for function, argument in self._steps])

    def bounds(self, labels: Sequence[int], pool: Sequence[int]) -> tuple[Bounds | None, ...]:
        """The (worst, best) value of each metric over what unjudged results may turn out to be.

        Worst: each has gain 0; best: each has gain g_max and is relevant. None where the metric
        has no such bounds (those that need the unknown number of relevant documents: recall, f1,
        r_precision, bpref, map, ndcg, nerr; and auc, rbp_residual, judged), and where it is
        undefined for the list (SPEC 8).

        Raises:
          UsageError: err is asked for and a gain is above g_max.
        """
        worst = RankedList(labels, pool, None, self._reading)
        turned = [self._g_max if label == UNJUDGED else label for label in labels]
        found = [self._g_max] * labels.count(UNJUDGED)
        best = RankedList(turned, [*pool, *found], None, self._reading)
        return tuple([_between(step, worst, best) for step in self._bounded])


def _step(family: Family, metric: RankingMetric) -> _Step:
    return family.function, metric.p if metric.p is not None else metric.k


def _between(step: _Step | None, worst: RankedList, best: RankedList) -> Bounds | None:
    if step is None:
        return None
    function, argument = step
    low, high = function(worst, argument), function(best, argument)
    return None if low is None or high is None else (low, high)


def _depth(metrics: Iterable[RankingMetric]) -> int | None:
    """The greatest cutoff; None when one of the metrics reads the whole list."""
    depth = 0
    for metric in metrics:
        if metric.k is None:
            return None
        depth = max(depth, metric.k)
    return depth
