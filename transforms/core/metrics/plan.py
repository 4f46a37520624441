"""The plan of a run: which values a conversation has, in order, and which means are made of them.

A conversation's score is a tuple of values at N and one for each iteration, in the order of the
plan. Datasets, sums and means read them by the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from msgspec import Struct

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.budgets import Budget
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.group import MetricGroup, Ratio, Terms, Value, Values
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.outcomes import OUTCOMES
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.repeats import PassCondition, check_conditions
from goodgain.transforms.core.ranking.binary import count_judged
from goodgain.transforms.core.ranking.families import GAUC, GAUC_WEIGHTED
from goodgain.transforms.core.ranking.names import RankingMetric

Population = Literal["reached", "all", "everyone", "calls"]


class MeanOf(NamedTuple):
    """What a mean is of; i None = at N.

    Attributes:
      population: see `MeanRow`.
    """

    metric: str
    i: int | None
    population: Population


class PlanCell(NamedTuple):
    """A value of each conversation that has means: a metric at N, at an i, or within a budget.

    Attributes:
      budget: whether it is the value within a budget, which a conversation may not reach.
    """

    metric: Metric
    i: int | None
    budget: bool = False


class MetricPlan(Struct, frozen=True, dict=True):
    """The values of a conversation, and the means over conversations.

    Attributes:
      at_n, by_i: the metrics at N, and those of each iteration, in the order of the values.
      max_i: last i at which means are computed.
      ranking: the metrics of search calls.
      budgets: the amounts at which gains are reported.
      ratios: the means that are ratios of sums.
      renamed: by index in `at_n`, means that are also reported under another name.
      own: those of the metrics at N that are users' own.
      conditions: what repeats are to pass.
      pass_k: numbers of repeats; () = 1 and the median size of a cluster.
    """

    at_n: tuple[Metric, ...]
    by_i: tuple[Metric, ...]
    max_i: int
    ranking: tuple[Metric, ...] = ()
    budgets: tuple[Budget, ...] = ()
    ratios: tuple[Ratio, ...] = ()
    renamed: tuple[tuple[int, Metric], ...] = ()
    own: tuple[Metric, ...] = ()
    conditions: tuple[PassCondition, ...] = ()
    pass_k: tuple[int, ...] = ()

    @cached_property
    def costs(self) -> tuple[str, ...]:
        """The names of the costs."""
        return COSTS.names_in(metric.name for metric in self.at_n)

    @cached_property
    def outcomes(self) -> tuple[int, ...]:
        """Which of the values at N are outcomes."""
        return tuple(
            at for at, metric in enumerate(self.at_n) if OUTCOMES.metric(metric.name) is not None
        )

    @cached_property
    def conditioned(self) -> tuple[int, ...]:
        """For each condition, the index of its metric at N."""
        names = [metric.name for metric in self.at_n]
        return tuple(names.index(condition.metric) for condition in self.conditions)

    @cached_property
    def columns(self) -> str:
        """The names of the metrics at N, with spaces between."""
        return " ".join(metric.name for metric in self.at_n)

    @cached_property
    def iteration_columns(self) -> str:
        """The names of the metrics of an iteration, with spaces between."""
        return " ".join(metric.name for metric in self.by_i)

    @cached_property
    def cells(self) -> tuple[PlanCell, ...]:
        """Everything that has means over conversations: at N, at i = 1..max_i, at budgets."""
        return (
            *(PlanCell(metric, None) for metric in self.at_n),
            *(PlanCell(metric, i) for i in range(1, self.max_i + 1) for metric in self.by_i),
            *(PlanCell(metric, None, True) for budget in self.budgets for metric in budget.metrics),
        )

    def values_at_n(self, prefix: Prefix) -> Values:
        """The values of the metrics at N."""
        return tuple([function(prefix) for function in self._at_n])

    def values_by_i(self, prefix: Prefix) -> Values:
        """The values of the metrics of an iteration."""
        return tuple([function(prefix) for function in self._by_i])

    def counts_at_n(self, empty: Prefix) -> Values:
        """The values at N in the row of a conversation without search: null, except for counts."""
        return tuple(
            value if metric.counted else None
            for metric, value in zip(self.at_n, self.values_at_n(empty), strict=True)
        )

    def idle_at_n(self, empty: Prefix) -> Values:
        """The values at N of a conversation without search, for the population `everyone`."""
        return _if_idle(self.at_n, self.values_at_n(empty))

    def idle_by_i(self, empty: Prefix) -> Values:
        """The same of an iteration, which is empty."""
        return _if_idle(self.by_i, self.values_by_i(empty))

    @cached_property
    def _at_n(self) -> list[Callable[[Prefix], Value]]:
        return list(_functions(self.at_n))

    @cached_property
    def _by_i(self) -> list[Callable[[Prefix], Value]]:
        return list(_functions(self.by_i))


def _if_idle(metrics: Sequence[Metric], values: Values) -> Values:
    return tuple(
        value if metric.in_everyone else None for metric, value in zip(metrics, values, strict=True)
    )


def keep_bounded(metrics: Sequence[Metric], best: Values, actual: Values) -> Values:
    """Values in the best case; null where a metric has no bounds, or is undefined as it is."""
    return tuple(
        value if metric.bounded and known is not None else None
        for metric, value, known in zip(metrics, best, actual, strict=True)
    )


def _functions(metrics: Sequence[Metric]) -> Iterator[Callable[[Prefix], Value]]:
    for metric in metrics:
        if metric.function is None:
            raise ValueError(f"{metric.name} has no value per conversation")
        yield metric.function


@lru_cache
def plan_of(
    ranking: tuple[RankingMetric, ...],
    max_i: int,
    groups: tuple[MetricGroup, ...] = (),
    budgets: tuple[Budget, ...] = (),
    own: tuple[Metric, ...] = (),
    conditions: tuple[PassCondition, ...] = (),
    pass_k: tuple[int, ...] = (),
) -> MetricPlan:
    """The plan of a run.

    Args:
      ranking: the requested ranking metrics.
      groups: the groups of metrics that it has beside those of gains, which every run has.
      own: metrics of the user.
      conditions, pass_k: what repeats are to pass, and how many of them.

    Raises:
      UsageError: a condition is on a metric that conversations do not have.
    """
    declared = tuple(metric.declaration for metric in ranking)
    groups = (GAINS, *(group for group in groups if group != GAINS))
    named = [group for group in groups if group.name]
    at_n = (
        *(metric for group in groups if not group.name for metric in group.at_n),
        *declared,
        *(metric for group in named for metric in group.at_n),
        *own,
    )
    by_i = (
        *(metric for group in groups for metric in group.by_i),
        *(metric.so_far for metric in own if metric.so_far),
    )
    check_conditions(conditions, at_n)
    auc = next((at for at, metric in enumerate(at_n) if metric.name == _AUC), None)
    return MetricPlan(
        at_n,
        by_i,
        max_i,
        declared,
        budgets,
        (
            *(() if auc is None else (_weighted_auc(auc),)),
            *(ratio for group in groups for ratio in group.ratios),
        ),
        () if auc is None else ((auc, GAUC),),
        own,
        conditions,
        pass_k,
    )


_AUC = "auc"


def _weighted_auc(at: int) -> Ratio:
    def terms(whole: Prefix, at_n: Values) -> Terms | None:
        auc = at_n[at]
        if auc is None:
            return None
        judged = count_judged(whole.turn.labels)
        return judged * auc, judged

    return Ratio(GAUC_WEIGHTED, terms, at)
