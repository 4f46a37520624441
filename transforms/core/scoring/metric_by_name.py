"""Looks up the declaration of any metric: of conversations, iterations, pools, ranking, costs."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics
from goodgain.transforms.core.scoring.costs import cost_metric
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

# Conversations and iterations both have `calls`; this finds that of conversations.
_DECLARED = {
    metric.name: metric
    for metric in (
        *POOL_ITERATION_METRICS,
        *ITERATION_METRICS,
        *POOL_METRICS,
        *CONVERSATION_METRICS,
        GAUC,
        GAUC_WEIGHTED,
    )
}


@cache
def metric_by_name(name: str) -> Metric:
    """The declaration of a metric.

    Raises:
      UsageError: there is no such metric.
    """
    declared = _DECLARED.get(name) or cost_metric(name)
    return declared or parse_ranking_metrics([name])[0].declaration


def labels(names: Iterable[str]) -> str:
    """The labels of metrics in a list, like "Gain (CG), Good and new results (SRE)"."""
    return ", ".join(metric_by_name(name).label for name in names)
