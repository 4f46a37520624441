"""Looks up any metric by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.budgets import budget_metric
from goodgain.transforms.core.metrics.costs import (
    CG_PER,
    CG_PER_TOTAL,
    COST,
    COST_AT_I,
    COST_I,
    cost_metric,
    cost_metrics,
)
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS, ITERATION_METRICS
from goodgain.transforms.core.metrics.pool import POOL_ITERATION_METRICS, POOL_METRICS
from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics

# The declared metrics at N, and those of iterations; each has `calls`.
AT_END = {metric.name: metric for metric in CONVERSATION_METRICS + POOL_METRICS}
BY_ITERATION = {metric.name: metric for metric in ITERATION_METRICS + POOL_ITERATION_METRICS}
_DECLARED = {**BY_ITERATION, **AT_END, GAUC.name: GAUC, GAUC_WEIGHTED.name: GAUC_WEIGHTED}


_OWN: dict[str, Metric] = {}  # those of users, by name


def remember(own: Metric) -> None:
    """Make a user's metric known by its name; one with a function stays if it is known already."""
    known = _OWN.get(own.name)
    if own.function is not None or known is None or known.function is None:
        for metric in (own, own.so_far):
            if metric is not None:
                _OWN[metric.name] = metric


def is_own_metric(name: str) -> bool:
    """Whether a name is that of a user's metric."""
    return name in _OWN


def is_metric_name(name: str) -> bool:
    """Whether a name is that of a metric, other than one of a user."""
    try:
        return _shipped(name) is not None
    except UsageError:
        return False


def metric_by_name(name: str) -> Metric:
    """The declaration of a metric.

    Raises:
      UsageError: there is no such metric.
    """
    return _OWN.get(name) or _shipped(name)


@cache
def _shipped(name: str) -> Metric:
    declared = _DECLARED.get(name) or cost_metric(name) or budget_metric(name)
    return declared or parse_ranking_metrics([name])[0].declaration


def at_i(metric: str) -> str | None:
    """The metric of iterations with the same function as one at N; None if there is none."""
    so_far = metric_by_name(metric).so_far
    return None if so_far is None else so_far.name


def labels(names: Iterable[str]) -> str:
    """The labels of metrics in a list, like "Gain (CG), Good and new results (SRE)"."""
    return ", ".join(metric_by_name(name).label for name in names)


def cautions(names: Iterable[str]) -> dict[str, list[str]]:
    """The distinct cautions about metrics, each with the labels of its metrics."""
    found: dict[str, list[str]] = {}
    declared = {**_DECLARED, **_OWN}
    for metric in filter(None, map(declared.get, dict.fromkeys(names))):
        if metric.caution:
            found.setdefault(metric.caution, []).append(metric.label)
    return found


# One of each kind, with NAME for the name of a cost and B for an amount.
COST_METRICS = (
    *cost_metrics((COST_I, COST_AT_I, COST, CG_PER, CG_PER_TOTAL), ["NAME"]),
    *(metric for measure in ("CG", "GR") if (metric := budget_metric(f"{measure}@NAME<=B"))),
)
