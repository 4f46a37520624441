"""Groups of metrics that a run has together or not at all, like those of its pool or of a cost.

To add a family of metrics, declare its group and list it in `groups.py`: plans, columns, means,
gates, comparisons, reports and the list of metrics are made from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from msgspec import Struct

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.prefix import Prefix

Value = int | float | None  # decoding must keep whole numbers whole
Values = tuple[Value, ...]
Terms = tuple[float, float]
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_ANY_NAME = "NAME"
DOT_IN_COLUMNS = "__"  # replaces the dot before a name in Avro columns


def fits_column(name: str) -> bool:
    """Whether a user's name can be part of column names: letters, digits and single `_`."""
    return bool(_NAME.fullmatch(name)) and DOT_IN_COLUMNS not in name


class Ratio(Struct, frozen=True):
    """A mean of all conversations that is a ratio of two sums over them.

    Attributes:
      terms: from the prefix of N and the values at N, what a conversation adds to both sums; None
        if it does not count.
      like: index of the metric at N whose n, undefined and note it shares, since it has no interval
        of its own; None if it has one.
    """

    metric: Metric
    terms: Callable[[Prefix, Values], Terms | None]
    like: int | None = None


class MetricGroup(Struct, frozen=True, dict=True):
    """Metrics that a run has together or not at all.

    Attributes:
      title: what they are about, in the list of all metrics.
      at_n: those of conversations, in the order of columns.
      of_iteration: those of one iteration alone.
      ratios: the means that are ratios of sums.
      name: the user's name that they are for, like that of a cost; "" if they have none.
    """

    title: str
    at_n: tuple[Metric, ...]
    of_iteration: tuple[Metric, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    name: str = ""

    @cached_property
    def by_i(self) -> tuple[Metric, ...]:
        """Those of iterations in the order of columns: of one alone, then of all so far."""
        return self.of_iteration + tuple(metric.so_far for metric in self.at_n if metric.so_far)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All of them: by i, at N, and those that are means only."""
        return self.by_i + self.at_n + tuple(ratio.metric for ratio in self.ratios)

    def is_in(self, names: Collection[str]) -> bool:
        """Whether one of them, at N or by i, is among metrics or columns."""
        return any(metric.name in names for metric in self.at_n + self.by_i)


class NamedGroup(Struct, frozen=True, dict=True):
    """The groups of metrics for names that users give, like those of costs.

    Attributes:
      of: the group for a name; its metrics are called like `cost.NAME`.
    """

    title: str
    of: Callable[[str], MetricGroup]

    @cached_property
    def example(self) -> MetricGroup:
        """The group for NAME."""
        return self.of(_ANY_NAME)

    def metric(self, name: str) -> Metric | None:
        """The declaration of a metric; None if there is none called like this."""
        start, dot, own = name.partition(".")
        if f"{start}{dot}" not in self._starts or not fits_column(own):
            return None
        return next(metric for metric in self.of(own).metrics if metric.name == name)

    def names_in(self, metrics: Iterable[str]) -> tuple[str, ...]:
        """The users' names that are in names of metrics or columns, in their order."""
        named = (metric.partition(".")[2] for metric in metrics if self.metric(metric) is not None)
        return tuple(dict.fromkeys(named))

    @cached_property
    def _starts(self) -> frozenset[str]:
        return frozenset(metric.name.removesuffix(_ANY_NAME) for metric in self.example.metrics)
