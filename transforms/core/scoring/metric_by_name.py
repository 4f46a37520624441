"""Looks up any metric: of conversations, iterations, pools, ranking, costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics
from goodgain.transforms.core.scoring.costs import CG_PER, COST, COST_AT_I, COST_I, cost_metric
from goodgain.transforms.core.scoring.registry import AT_END, BY_ITERATION

# Conversations and iterations both have `calls`; this finds that of conversations.
_DECLARED = {**BY_ITERATION, **AT_END, GAUC.name: GAUC, GAUC_WEIGHTED.name: GAUC_WEIGHTED}


@cache
def metric_by_name(name: str) -> Metric:
    """The declaration of a metric.

    Raises:
      UsageError: there is no such metric.
    """
    declared = _DECLARED.get(name) or cost_metric(name)
    return declared or parse_ranking_metrics([name])[0].declaration


def value_without_search(name: str) -> float | None:
    """A metric's value for a conversation that did not search; None if it has none.

    Gain and costs are 0. Other metrics that are better when lower have no value, since 0 would be
    their best one; nor has gain per unit of a cost. Ranking metrics have the value of an empty
    list.

    Raises:
      UsageError: there is no such metric.
    """
    if name.startswith((COST, COST_I, COST_AT_I)):
        return 0.0
    return None if metric_by_name(name).direction == "lower" or name.startswith(CG_PER) else 0.0


def at_i(metric: str) -> str:
    """The metric of iterations with the same meaning as one at N."""
    if metric.startswith(COST):
        return COST_AT_I + metric.removeprefix(COST)
    return f"{metric}_at_i"


def labels(names: Iterable[str]) -> str:
    """The labels of metrics in a list, like "Gain (CG), Good and new results (SRE)"."""
    return ", ".join(metric_by_name(name).label for name in names)
