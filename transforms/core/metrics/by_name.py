"""Looks up any metric by its name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.budgets import budget_metric
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED
from goodgain.transforms.core.metrics.outcomes import OUTCOMES
from goodgain.transforms.core.metrics.repeats import parse_repeats
from goodgain.transforms.core.ranking.families import GAUC, GAUC_WEIGHTED
from goodgain.transforms.core.ranking.names import parse_ranking_metrics
from goodgain.transforms.core.wording import group_by_text

# The declared metrics; those of iterations share no name with those at N but `calls`.
_BY_ITERATION = {metric.name: metric for group in GROUPS for metric in group.by_i}
_DECLARED = {
    **_BY_ITERATION,
    **{metric.name: metric for group in GROUPS for metric in group.at_n},
    **{metric.name: metric for metric in (GAUC, GAUC_WEIGHTED)},
}
DECLARED_NAMES = tuple(_DECLARED)


_OWN: dict[str, Metric] = {}  # those of users, by name


def remember(own: Metric) -> None:
    """Make a user's metric known by its name.

    One without a function, as manifests have it, replaces only one that was declared otherwise.
    """
    known = _OWN.get(own.name)
    if own.function is not None or known is None or known.described != own.described:
        for metric in (own, own.so_far):
            if metric is not None:
                _OWN[metric.name] = metric


def own_metric(name: str) -> Metric | None:
    """The declaration of a user's metric that is known; None for other names."""
    return _OWN.get(name)


def is_metric_name(name: str) -> bool:
    """Whether a name is that of a metric, other than one of a user."""
    try:
        return (OUTCOMES.metric(name) or _find_shipped(name)) is not None
    except UsageError:
        return False


def metric_by_name(name: str) -> Metric:
    """The declaration of a metric.

    Raises:
      UsageError: there is no such metric.
    """
    # Outcomes are not cached, since those of another run may be better when lower.
    return _OWN.get(name) or OUTCOMES.metric(name) or _find_shipped(name)


@cache
def _find_shipped(name: str) -> Metric:
    named = (group.metric(name) for group in NAMED if group is not OUTCOMES)
    declared = _DECLARED.get(name) or next(filter(None, named), None) or budget_metric(name)
    declared = declared or _repeats_metric(name)
    return declared or parse_ranking_metrics([name])[0].declaration


def _repeats_metric(name: str) -> Metric | None:
    """The declaration of a mean over repeats, like `pass^3[CG >= 5]`; None for other names."""
    repeats = parse_repeats(name)
    return repeats and repeats.metric(metric_by_name(repeats.condition.metric).needs_labels)


def is_by_i(name: str) -> bool:
    """Whether a metric of iterations has this name; `calls` is also one at N."""
    return name in _BY_ITERATION or metric_by_name(name).by_i


def name_so_far(metric: str) -> str | None:
    """The metric of iterations with the same function as one at N; None if there is none."""
    so_far = metric_by_name(metric).so_far
    return None if so_far is None else so_far.name


def list_labels(names: Iterable[str]) -> str:
    """The labels of metrics in a list, like "Gain (CG), Good and new results (SRE)"."""
    return ", ".join(metric_by_name(name).label for name in names)


def describe_cautions(names: Iterable[str]) -> list[str]:
    """How better values of metrics may mislead: a line for each caution, with its metrics."""
    declared = {**_DECLARED, **_OWN}
    metrics = filter(None, map(declared.get, dict.fromkeys(names)))
    by_caution = group_by_text((metric.caution, metric.label) for metric in metrics)
    return [f"{', '.join(labels)}: {caution}" for caution, labels in by_caution.items() if caution]
