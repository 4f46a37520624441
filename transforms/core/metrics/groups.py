"""All groups of metrics, but those of ranked lists, of budgets and of users."""

from __future__ import annotations

from collections.abc import Collection

from goodgain.transforms.core.metrics.aspects import ASPECTS
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.group import DOT_IN_COLUMNS, MetricGroup
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.outcomes import OUTCOMES
from goodgain.transforms.core.metrics.pool import POOL
from goodgain.transforms.core.metrics.usage import USAGE

GROUPS = (GAINS, POOL, USAGE, ASPECTS)
NAMED = (COSTS, OUTCOMES)
_STARTS = tuple(
    metric.name.partition(".")[0]
    for group in NAMED
    for metric in (*group.example.at_n, *group.example.by_i)
)


def groups_in(columns: Collection[str]) -> tuple[MetricGroup, ...]:
    """The groups whose metrics are among the columns of a dataset of conversations."""
    named = [group.of(name) for group in NAMED for name in group.names_in(columns)]
    return (*(group for group in GROUPS if group.is_in(columns)), *named)


def column_of(metric: str) -> str:
    """A metric's column where dots are forbidden: `cost_i__usd` for `cost_i.usd`."""
    start, dot, name = metric.partition(".")
    return f"{start}{DOT_IN_COLUMNS}{name}" if dot and start in _STARTS else metric


def metric_of(column: str) -> str:
    """The inverse of `column_of`."""
    start, separator, name = column.partition(DOT_IN_COLUMNS)
    return f"{start}.{name}" if separator and start in _STARTS else column
