"""The few metrics that short tables and verdicts are about, as the metrics declare it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache

from goodgain.transforms.core.metric import Metric, Place
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED


@cache
def headline(place: Place) -> tuple[str, ...]:
    """The metrics at N that are declared for a place; those with no better direction last."""
    return _in_order([metric for group in GROUPS for metric in group.at_n], place)


def headline_among(place: Place, names: Collection[str]) -> tuple[str, ...]:
    """The same of these names alone, with metrics of users' names, like those of costs."""
    named = (group.metric(name) for name in names for group in NAMED)
    declared = (metric for group in GROUPS for metric in group.at_n if metric.name in names)
    return _in_order([*declared, *filter(None, named)], place)


def _in_order(metrics: list[Metric], place: Place) -> tuple[str, ...]:
    shown = [metric for metric in metrics if place in metric.headline]
    return tuple(
        metric.name for metric in sorted(shown, key=lambda one: one.direction == "neither")
    )
