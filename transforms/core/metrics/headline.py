"""The few metrics that short tables and verdicts are about, as the metrics declare it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from goodgain.transforms.core.metric import Metric, Place
from goodgain.transforms.core.metrics.by_name import metric_by_name, own_metric
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED

MOST_IN_TABLE = 8
_AT_N = [metric for group in GROUPS for metric in group.at_n]


@cache
def metrics_declared_for(place: Place) -> tuple[str, ...]:
    """The metrics at N that are declared for a place, as they are declared."""
    return tuple(metric.name for metric in _AT_N if place in metric.headline)


@cache
def headline(place: Place) -> tuple[str, ...]:
    """The metrics at N that are declared for a place; those with no better direction last."""
    return _rank(_AT_N, place)


def headline_among(place: Place, names: Collection[str]) -> tuple[str, ...]:
    """The same of these names alone, with those of costs and outcomes, then users' own metrics."""
    named = (group.metric(name) for name in names for group in NAMED)
    declared = (metric for metric in _AT_N if metric.name in names)
    return _rank([*declared, *filter(None, (*named, *map(own_metric, names)))], place)


def shorten_table(names: Sequence[str]) -> tuple[str, ...]:
    """At most eight of the metrics at N for a table, in their order.

    What only some data have, like outcomes or documents that the agent opened, stays; metrics that
    say nearly the same as others give way, as they declare it.
    """
    staying = sorted(names, key=lambda name: metric_by_name(name).gives_way)[:MOST_IN_TABLE]
    return tuple(name for name in names if name in staying)


def _rank(metrics: list[Metric], place: Place) -> tuple[str, ...]:
    shown = [metric for metric in metrics if place in metric.headline]
    return tuple(
        metric.name for metric in sorted(shown, key=lambda metric: metric.direction == "neither")
    )
