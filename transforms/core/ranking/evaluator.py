"""Evaluates ranked lists: metrics are compiled once, then computed for every list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.ranking.aspects import ListAspects
from goodgain.transforms.core.ranking.families import FAMILIES, Value
from goodgain.transforms.core.ranking.names import RankingMetric, greatest_cutoff
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED, RankedList, RankedListOptions
from goodgain.transforms.core.records.search_call import GREATEST_GAIN

_Step = tuple[Callable[[RankedList, Any], Value], int | float | None]


class RankingEvaluator:
    """Computes ranking metrics of one list at a time.

    It has no state between lists, and can be pickled and shared by threads.

    Attributes:
      metrics, names: the metrics, in the order of the returned values.
      relevance_threshold: the smallest gain of a relevant result.
      greatest_cutoff: that of the metrics that have one; None if none has.
      needs_aspects: whether a metric needs the aspects that documents cover.
      best_label: the label of unjudged results in the best case.
      options: how labels are interpreted.

    Example:
      >>> from goodgain import RankingEvaluator, RankingMetric
      >>> RankingEvaluator([RankingMetric("ndcg@10", "ndcg", k=10)], relevance_threshold=2).names
      ('ndcg@10',)
    """

    def __init__(
        self,
        metrics: Sequence[RankingMetric],
        relevance_threshold: int,
        g_max: int = GREATEST_GAIN,
        judged_outside: bool = True,
    ) -> None:
        """Compile the metrics.

        Args:
          metrics: from `parse_ranking_metrics`.
          relevance_threshold: the smallest gain of a relevant result, 1..g_max.
          g_max: the greatest gain of the labelling scale, for err and nerr.
          judged_outside: whether documents are judged by qrels or a pool, for mrr.

        Raises:
          UsageError: the threshold is outside 1..g_max.
        """
        if not 1 <= relevance_threshold <= g_max:
            raise UsageError(
                f"relevance_threshold is {relevance_threshold}, but must be between 1 (an "
                f"unjudged result has gain 0 and is not relevant) and g_max = {g_max}."
            )
        self.metrics = tuple(metrics)
        self.relevance_threshold = relevance_threshold
        self.names = tuple(metric.name for metric in self.metrics)
        families = [FAMILIES[metric.family] for metric in self.metrics]
        self.greatest_cutoff = greatest_cutoff(self.metrics)
        self.needs_aspects = any(family.of_aspects for family in families)
        self.best_label = min(g_max, GREATEST_GAIN)
        self._steps: tuple[_Step, ...] = tuple(
            (family.function, metric.k if metric.p is None else metric.p)
            for family, metric in zip(families, self.metrics, strict=True)
        )
        self._bounded = tuple(
            step if family.bounded else None
            for step, family in zip(self._steps, families, strict=True)
        )
        graded = zip(self.metrics, families, strict=True)
        self.options = RankedListOptions(
            threshold=relevance_threshold,
            stop_probabilities=tuple(((1 << gain) - 1) / (1 << g_max) for gain in range(g_max + 1)),
            depth=_depth(self.metrics),
            gain_depth=_depth(metric for metric, family in graded if family.graded),
            judged_outside=judged_outside,
        )

    def evaluate(
        self,
        labels: Sequence[int],
        pool: Sequence[int],
        scores: Sequence[float | None] | None = None,
        call_ends: Sequence[int] = (),
        aspects: ListAspects | None = None,
    ) -> tuple[Value, ...]:
        """The value of each metric, None where it is undefined.

        Args:
          labels: by rank, a gain >= 0, UNJUDGED (-1) or HELD_COPY (-2). HELD_COPY is a later copy
            that keeps its place: non-relevant, with gain 0, not in the pool; bpref, auc and
            rbp_residual skip it, judged counts it as judged.
          pool: the gains of all judged documents, retrieved or not, in any order.
          scores: by rank, the retriever's scores, used only by auc.
          call_ends: the last rank of each search call, ascending, within which auc compares
            results; empty = all are of one call.
          aspects: what the results cover, for strec and alpha_ndcg; None if unknown.

        Raises:
          UsageError: err or nerr is requested and a gain is above g_max.
          ValueError: the number of scores differs from that of labels.
        """
        ranked = RankedList(labels, pool, scores, self.options, call_ends, aspects)
        return tuple([function(ranked, argument) for function, argument in self._steps])

    def best_case(self, labels: Sequence[int], pool: Sequence[int]) -> tuple[Value, ...]:
        """The value of each metric if every unjudged result had the best label.

        The worst case, in which they are worthless, is the value itself. None if a metric has no
        such bounds (those that need the unknown number of relevant documents: recall, f1,
        r_precision, bpref, map, ndcg, nerr; and auc, rbp_residual, judged), and if it is undefined
        for the list.

        Args:
          labels, pool: as in `evaluate`.

        Raises:
          UsageError: err is requested and a gain is above g_max.
        """
        as_is = RankedList(labels, pool, None, self.options)
        with_best_labels = [self.best_label if label == UNJUDGED else label for label in labels]
        best_of_unjudged = [self.best_label] * labels.count(UNJUDGED)
        best = RankedList(with_best_labels, [*pool, *best_of_unjudged], None, self.options)
        return tuple([_if_defined(step, as_is, best) for step in self._bounded])


def _if_defined(step: _Step | None, as_is: RankedList, best: RankedList) -> Value:
    if step is None:
        return None
    function, argument = step
    return None if function(as_is, argument) is None else function(best, argument)


def _depth(metrics: Iterable[RankingMetric]) -> int | None:
    """The greatest cutoff; None if any metric needs the whole list."""
    cutoffs = [metric.k for metric in metrics]
    return None if None in cutoffs else max(filter(None, cutoffs), default=0)
