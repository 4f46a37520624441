"""What conversations that did not search add to the means of an arm (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from goodgain.pipeline.results.manifest_model import RunOptions
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.metrics.prefix import Prefix, empty_prefix
from goodgain.transforms.core.metrics.turn import TopicGains, Turn, TurnAspects
from goodgain.transforms.core.ranking.aspects import TopicAspects
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator


class Unsearched:
    """The values of one run's conversations without search, for `everyone` (SPEC 6, 9).

    They are those of the empty prefix.
    """

    def __init__(self, options: RunOptions, plan: MetricPlan) -> None:
        """Read how the run was scored, from the options in its manifest."""
        evaluator = RankingEvaluator(
            (),
            options.relevance_threshold or options.good_gain_threshold,
            options.g_max,
            judged_outside=bool(options.qrels or options.pool),
        )
        # No metric is given, so that the depths are 0: but ideal orderings need the judged gains.
        self._options = replace(evaluator.options, depth=None, gain_depth=None)
        self._costs = plan.costs
        self._at_n = {metric.name: metric for metric in plan.at_n}
        self._by_i = {metric.name: metric for metric in plan.by_i}

    def at_n(self, columns: Iterable[str], row: Mapping[str, Any]) -> list[float]:
        """The values of metrics at N; NaN if there is none. Counts are those of the row."""
        prefix, metrics = self._prefix(row), map(self._at_n.__getitem__, columns)
        return [
            number_or_nan(row[metric.name])
            if metric.counted and metric.in_everyone
            else _idle_value(metric, prefix)
            for metric in metrics
        ]

    def by_i(self, columns: Iterable[str], row: Mapping[str, Any]) -> list[float]:
        """The values of metrics of an iteration, which are the same at every i."""
        prefix = self._prefix(row)
        return [_idle_value(self._by_i[name], prefix) for name in columns]

    def _prefix(self, row: Mapping[str, Any]) -> Prefix:
        best = row.get("pool_best" if "pool_best" in row else "qrels_best")
        return empty_prefix(
            Turn(
                (),
                # Only the greatest gain of the judged documents is known. It decides which values
                # of an empty list are null.
                judged=() if best is None else (best,),
                ranking=self._options,
                cost_names=self._costs,
                pool=TopicGains(row["pool_good"], row["pool_good"], ())
                if "pool_good" in row
                else None,
                aspects=TurnAspects((), TopicAspects.of_number(row["topic_aspects"]))
                if "topic_aspects" in row
                else None,
            )
        )


def _idle_value(metric: Metric, empty: Prefix) -> float:
    return number_or_nan(metric.function(empty) if metric.function and metric.in_everyone else None)


def number_or_nan(value: float | None) -> float:
    """A number; NaN for none."""
    return float("nan") if value is None else float(value)
