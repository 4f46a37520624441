"""What one conversation adds to the means (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterator

import xxhash
from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.means.slices import SliceKey, slice_key
from goodgain.transforms.core.metrics.group import Terms, Values
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.scoring.conversation_score import AtBudget, ConversationScore
from goodgain.transforms.core.scoring.data_counts import order_counts
from goodgain.transforms.core.scoring.id_checks import ContradictedId


class ConversationValues(Struct, frozen=True, array_like=True):
    """The values of one conversation for the means, in the order of the plan.

    Attributes:
      n: number of iterations; 0 = it did not search, and is only in the population `everyone`.
      at_n: values at N.
      by_i: for each i from 1 to max_i, values of the iteration; beyond N those of empty ones.
      budgets: gains at the requested budgets.
      ratios: what it adds to each ratio of sums; None if it does not count.
      calls: by search call, values of the ranking metrics; empty if calls are not evaluated.
      ranking: number of ranking metrics.
      outcomes: which of the values at N are outcomes.
      counted: the counts behind warnings, in the order of COUNTED.
      cluster: digest of the cluster; "" if the conversation is a cluster of its own; None if
        conversations count as independent.
      best: the same values in the best case; None if not requested.
      contradicted_ids: examples for a warning.
      passes: for each condition of repeats, 1 if it is met, else 0; null without the metric.
    """

    n: int
    at_n: Values
    by_i: list[Values]
    budgets: list[AtBudget] = []
    ratios: list[Terms | None] = []
    calls: list[Values] = []
    ranking: int = 0
    outcomes: tuple[int, ...] = ()
    counted: tuple[int, ...] = ()
    cluster: str | None = None
    best: ConversationValues | None = None
    contradicted_ids: list[ContradictedId] = []
    passes: list[float | None] = []


def values_by_slice(
    score: ConversationScore, plan: MetricPlan, options: MeansOptions
) -> Iterator[tuple[SliceKey, ConversationValues]]:
    """The values for the means under the key of each slice; none with rejected records (SPEC 6).

    Args:
      plan: that of the score.
    """
    values = conversation_values(score, plan, options.cluster)
    if values is None:
        return
    attributes = score.conversation.attributes
    for names in ((), *options.slice):
        yield slice_key({name: attributes.get(name, "") for name in names}), values


def conversation_values(
    score: ConversationScore, plan: MetricPlan, cluster_by: str | None = None
) -> ConversationValues | None:
    """The values for the means; None for a conversation with rejected records (SPEC 6).

    Args:
      plan: that of the score.
      cluster_by: attribute whose values are the clusters; None = no clusters.
    """
    row = score.conversation
    if row.rejected_records:
        return None
    n = len(score.numbers)
    best = None
    if score.best is not None:
        best = ConversationValues(
            n,
            score.best.at_n,
            score.best.by_i[: plan.max_i],
            [_drop_bounds(at_budget) for at_budget in score.budgets],
            calls=score.best.calls,
        )
    at_n = row.values if n else score.idle
    return ConversationValues(
        n,
        at_n,
        score.by_i[: plan.max_i],
        score.budgets,
        score.ratios,
        [call.values for call in score.calls],
        len(plan.ranking),
        plan.outcomes,
        order_counts(score.counts) if n else (),
        None if cluster_by is None else _digest(_cluster_of(score, cluster_by)),
        best,
        score.contradicted_ids,
        [
            condition.passes(at_n[at])
            for condition, at in zip(plan.conditions, plan.conditioned, strict=True)
        ],
    )


def _drop_bounds(at_budget: AtBudget) -> AtBudget:
    """Gains within a budget have no bounds."""
    return replace(at_budget, values=(None,) * len(at_budget.values))


def cluster_counts(score: ConversationScore, cluster_by: str) -> dict[str, int]:
    """A conversation's contribution to the count of those in the means without a cluster."""
    alone = score.counts["conversations.in_means"] and not _cluster_of(score, cluster_by)
    return {"conversations.without_cluster": int(bool(alone))}


def _cluster_of(score: ConversationScore, cluster_by: str) -> str:
    return score.conversation.attributes.get(cluster_by, "")


def _digest(cluster: str) -> str:
    return xxhash.xxh3_128_hexdigest(cluster.encode()) if cluster else ""


class Places(Struct, frozen=True):
    """Where the values of a conversation stand in the list of `list_values`.

    A value of a cell is in the part `reached` if the conversation got to its iteration or budget,
    else in `beyond`, or in `idle` if it did not search.

    Attributes:
      cells, ratios, ranking: the number of cells, of ratios and of metrics of calls in the plan.
    """

    cells: int
    ratios: int
    ranking: int

    def reached(self, cell: int) -> int:
        """The place of a cell's value if the conversation got there."""
        return cell

    def beyond(self, cell: int) -> int:
        """The place of a cell's value if it did not get there."""
        return self.cells + cell

    def idle(self, cell: int) -> int:
        """The place of a cell's value if it did not search."""
        return 2 * self.cells + cell

    def call(self, at: int) -> int:
        """The place of the values of search calls of a metric."""
        return 3 * self.cells + 4 * self.ratios + at

    def terms(self, at: int, idle: bool) -> tuple[int, int]:
        """The places of both terms of a ratio."""
        first = 3 * self.cells + 4 * at + 2 * idle
        return first, first + 1

    def passes(self, at: int, idle: bool) -> int:
        """The place of the passes of a condition."""
        return 3 * self.cells + 4 * self.ratios + self.ranking + 2 * at + idle


def list_values(values: ConversationValues) -> list[list[float]]:
    """The values that a conversation adds to each mean, in the order of `Places`."""
    cells = [*map(_list, _cells(values))]
    nothing: list[list[float]] = [[]] * len(cells)
    parts = [nothing, nothing, cells]
    if values.n:
        got_there = list(_are_reached(values))
        parts = [
            [cell if got else [] for cell, got in zip(cells, got_there, strict=True)],
            [[] if got else cell for cell, got in zip(cells, got_there, strict=True)],
            nothing,
        ]
    columns = zip(*values.calls, strict=True) if values.calls else [()] * values.ranking
    calls = [[value for value in column if value is not None] for column in columns]
    terms: list[list[float]] = []
    for pair in values.ratios:
        listed = [[], []] if pair is None else [[pair[0]], [pair[1]]]
        terms += [*listed, [], []] if values.n else [[], [], *listed]
    passes: list[list[float]] = []
    for passed in values.passes:
        passes += [_list(passed), []] if values.n else [[], _list(passed)]
    return [*parts[0], *parts[1], *parts[2], *terms, *calls, *passes]


def _cells(values: ConversationValues) -> Iterator[float | None]:
    yield from values.at_n
    for of_iteration in values.by_i:
        yield from of_iteration
    for at_budget in values.budgets:
        yield from at_budget.values


def _are_reached(values: ConversationValues) -> Iterator[bool]:
    """For each cell, whether the conversation got to its iteration or budget."""
    yield from [True] * len(values.at_n)
    for i, of_iteration in enumerate(values.by_i, start=1):
        yield from [i <= values.n] * len(of_iteration)
    for at_budget in values.budgets:
        yield from [at_budget.reached] * len(at_budget.values)


def _list(value: float | None) -> list[float]:
    return [] if value is None else [value]
