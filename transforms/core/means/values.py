"""The values of one conversation for the means (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

import xxhash
from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.means.cost_values import CostValues, cost_values, indexed_costs
from goodgain.transforms.core.scoring.computed import iteration_values, rows_beyond, values_at_end
from goodgain.transforms.core.scoring.data_counts import ordered_counts
from goodgain.transforms.core.scoring.metric_by_name import value_without_search
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    NO_SEARCH,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)
from goodgain.transforms.core.scoring.rows import ConversationRow, IterationRow
from goodgain.transforms.core.scoring.score import ConversationScore

_CONVERSATION_NAMES = tuple(metric.name for metric in CONVERSATION_METRICS)
_CONVERSATION_BOUNDED = tuple(metric.bounded for metric in CONVERSATION_METRICS)
_ITERATION_BOUNDED = tuple(metric.bounded for metric in ITERATION_METRICS)
_Values = tuple[float | None, ...]
_POOL_NAMES = tuple(metric.name for metric in POOL_METRICS)
_pool_values = attrgetter(*_POOL_NAMES)
_pool_iteration_values = attrgetter(*(metric.name for metric in POOL_ITERATION_METRICS))


class ConversationValues(Struct, frozen=True, array_like=True):
    """The values of one conversation for the means.

    Attributes:
      at_end: values of the conversation metrics, the ranking metrics, and any pool metrics.
      reached: for each i from 1 to min(N, max_i), values of the iteration metrics, then of pool
        metrics.
      beyond: the same for each i from N + 1 to max_i, as if empty iterations followed.
      judged: number of judged results in the ranked list.
      calls: by search call, values of the ranking metrics; empty if calls are not evaluated.
      counted: the counts behind warnings, in the order of COUNTED.
      best: the same values in the best case, null if a metric has no bounds; None if not requested.
      searched: whether there was a search; without one there is only `at_end`, with gain 0.
      cluster: digest of the cluster; "" if the conversation is a cluster of its own; None if
        conversations count as independent.
      costs: costs, and gain per cost; None if no cost is requested.
    """

    at_end: _Values
    reached: list[_Values]
    beyond: list[_Values]
    judged: int
    calls: list[_Values] = []
    counted: tuple[int, ...] = ()
    best: ConversationValues | None = None
    searched: bool = True
    cluster: str | None = None
    costs: CostValues | None = None


def metric_names(ranking_metrics: Sequence[str], pooled: bool = False) -> tuple[str, ...]:
    """Names of the metrics at N in the order of their values: of SPEC 5, 8, and 9 with a pool."""
    return (*_CONVERSATION_NAMES, *ranking_metrics, *(_POOL_NAMES if pooled else ()))


def conversation_values(
    score: ConversationScore, max_i: int, cluster_by: str | None = None
) -> ConversationValues | None:
    """The values for the means; None for a conversation with rejected records (SPEC 6).

    A conversation that did not search is only in the population `everyone`.

    Args:
      cluster_by: attribute whose values are the clusters; None = no clusters.
    """
    row = score.conversation
    cluster = None if cluster_by is None else _digest(_cluster_of(score, cluster_by))
    if row.rejected_records:
        return None
    if not row.N:
        return ConversationValues(
            (*_without_search(values_at_end(row)), *score.unsearched),
            reached=[],
            beyond=[],
            judged=0,
            searched=False,
            cluster=cluster,
            costs=cost_values(score, max_i),
        )
    values = _values(row, score.iterations, [call.ranking for call in score.calls], max_i)
    best = score.best and _values(
        score.best.conversation, score.best.iterations, score.best.calls, max_i
    )
    return replace(
        values,
        judged=score.judged,
        counted=ordered_counts(score.counts),
        best=best and _without_unbounded(best),
        cluster=cluster,
        costs=cost_values(score, max_i),
    )


def _without_search(at_end: _Values) -> Iterator[float | None]:
    """The values of a conversation that did not search in the population `everyone`."""
    for metric, value in zip(CONVERSATION_METRICS, at_end, strict=True):
        if value_without_search(metric.name) is None:
            yield None
        else:
            yield 0 if metric.undefined == NO_SEARCH else value


def cluster_counts(score: ConversationScore, cluster_by: str) -> dict[str, int]:
    """A conversation's contribution to the count of those in the means without a cluster."""
    alone = score.counts["conversations.in_means"] and not _cluster_of(score, cluster_by)
    return {"conversations.without_cluster": int(bool(alone))}


def _cluster_of(score: ConversationScore, cluster_by: str) -> str:
    return score.conversation.attributes.get(cluster_by, "")


def _digest(cluster: str) -> str:
    return xxhash.xxh3_128_hexdigest(cluster.encode()) if cluster else ""


def _values(
    row: ConversationRow, iterations: Sequence[IterationRow], calls: list[_Values], max_i: int
) -> ConversationValues:
    last = replace(iterations[-1], costs={})  # `cost_values` extends the costs
    return ConversationValues(
        at_end=(
            *values_at_end(row),
            *row.ranking,
            *(() if row.pool is None else _pool_values(row.pool)),
        ),
        reached=[_of_iteration(iteration) for iteration in iterations[:max_i]],
        beyond=[_of_iteration(row) for row in rows_beyond([*iterations[:-1], last], max_i)],
        judged=0,
        calls=calls,
    )


def _of_iteration(row: IterationRow) -> _Values:
    values = iteration_values(row)
    return values if row.pool is None else values + _pool_iteration_values(row.pool)


def _without_unbounded(values: ConversationValues) -> ConversationValues:
    """The values with null for metrics that have no bounds."""
    pooled = len(_POOL_NAMES) if len(values.reached[0]) > len(ITERATION_METRICS) else 0
    ranking = len(values.at_end) - len(_CONVERSATION_BOUNDED) - pooled
    bounded = _CONVERSATION_BOUNDED + (True,) * ranking + (False,) * pooled
    by_iteration = _ITERATION_BOUNDED + (False,) * (len(POOL_ITERATION_METRICS) if pooled else 0)
    return replace(
        values,
        at_end=_null_unless(bounded, values.at_end),
        reached=[_null_unless(by_iteration, one) for one in values.reached],
        beyond=[_null_unless(by_iteration, one) for one in values.beyond],
    )


def _null_unless(keep: Sequence[bool], values: _Values) -> _Values:
    return tuple([value if kept else None for kept, value in zip(keep, values, strict=True)])


class ValueIndexes(Struct, frozen=True):
    """The indexes of the values of each mean among those of a conversation.

    Attributes:
      ranking: number of ranking metrics.
    """

    ranking: int
    max_i: int
    pooled: bool

    @property
    def metrics_at_n(self) -> int:
        """The number of metrics at N."""
        pooled = len(POOL_METRICS) if self.pooled else 0
        return len(CONVERSATION_METRICS) + self.ranking + pooled

    @property
    def metrics_by_iteration(self) -> int:
        """The number of metrics of an iteration."""
        return len(ITERATION_METRICS) + (len(POOL_ITERATION_METRICS) if self.pooled else 0)

    def reached(self, i: int, at: int) -> int:
        """The index of an iteration metric if N >= i."""
        return self.metrics_at_n + 2 * ((i - 1) * self.metrics_by_iteration + at)

    def all(self, i: int, at: int) -> int:
        """The index of an iteration metric whatever N is."""
        return self.reached(i, at) + 1

    def unsearched(self, at: int) -> int:
        """The index of a metric at N for conversations that never searched."""
        return self.reached(self.max_i + 1, 0) + at

    def calls(self, at: int) -> int:
        """The index of a ranking metric over search calls."""
        return self.unsearched(self.metrics_at_n) + at

    @property
    def costs(self) -> int:
        """The index of the first cost."""
        return self.calls(self.ranking)


def indexed_values(values: ConversationValues, max_i: int, pooled: bool) -> list[list[float]]:
    """The values that a conversation adds to each mean, in the order of `ValueIndexes`."""
    at_end = [_listed(value) for value in values.at_end]
    pool = len(POOL_METRICS) if pooled else 0
    index = ValueIndexes(len(at_end) - len(CONVERSATION_METRICS) - pool, max_i, pooled)
    nothing: list[list[float]] = [[]]
    costs = [] if values.costs is None else indexed_costs(values.costs, max_i)
    if not values.searched:
        before, after = nothing * index.unsearched(0), nothing * index.ranking
        return [*before, *at_end, *after, *costs]
    by_index = list(at_end)
    for row in values.reached:
        for value in row:
            by_index += [_listed(value)] * 2
    for row in values.beyond:
        for value in row:
            by_index += [[], _listed(value)]
    calls = [
        [value for call in values.calls if (value := call[at]) is not None]
        for at in range(index.ranking)
    ]
    return [*by_index, *(nothing * len(at_end)), *calls, *costs]


def _listed(value: float | None) -> list[float]:
    return [] if value is None else [value]
