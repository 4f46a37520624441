"""The values of one conversation's costs for the means (SPEC 6)."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from goodgain.transforms.core.scoring.costs import (
    CG_PER,
    COST,
    conversation_columns,
    costs_of,
    empty_iteration_costs,
    iteration_columns,
)
from goodgain.transforms.core.scoring.score import ConversationScore

# In addition to the populations of rows: the part of `all` that is not in `reached` at an i,
# conversations without search, and CG where the cost is known.
ALL, REACHED, BEYOND, IDLE, GAIN = "all", "reached", "beyond", "idle", "gain"
AT_END = -1  # the i of values at N
Key = tuple[str, int, str]


class CostValues(Struct, frozen=True, array_like=True):
    """The values of one conversation's costs for the means.

    Attributes:
      budgets: names of the metrics at budgets.
      keys: metric, i (-1 = at N) and population of each value. At an i, a value is either in
        `reached` or in `beyond`; `all` is both.
      values: null if unknown.
      ratios: name of a cost, CG and the cost, for the costs that the conversation reports.
    """

    names: tuple[str, ...]
    budgets: tuple[str, ...]
    keys: tuple[Key, ...]
    values: list[float | None]
    ratios: list[tuple[str, int, float]]


def cost_values(score: ConversationScore, max_i: int) -> CostValues | None:
    """The costs of a conversation; None if none are requested.

    A conversation that did not search has spent and gained nothing.
    """
    row = score.conversation
    if not row.costs:
        return None
    names = _names(tuple(row.costs))
    budgets = tuple(at.metric for at in score.budgets)
    if not row.N:
        spent = [0.0] * (len(names) + len(budgets))
        return CostValues(names, budgets, _idle(names, budgets), [*spent, *[None] * len(names)], [])
    reached = [at.metric for at in score.budgets if at.reached]
    by_i = score.iterations[-1].costs
    n = len(score.iterations)
    keys = _keys(tuple(row.costs), tuple(by_i), budgets, tuple(reached), n, max_i)
    values = [*row.costs.values()]
    for iteration in score.iterations[:max_i]:
        values += iteration.costs.values()
    values += [*empty_iteration_costs(by_i).values()] * max(0, max_i - n)
    values += [at.value for at in score.budgets]
    values += [at.value for at in score.budgets if at.reached]
    costs = [(name, row.costs[COST + name]) for name in names]
    ratios = [(name, row.CG or 0, cost) for name, cost in costs if cost is not None]
    return CostValues(names, budgets, keys, values, ratios)


@lru_cache
def _names(columns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(costs_of(columns))


@lru_cache(maxsize=2**10)
def _keys(
    at_end: tuple[str, ...],
    by_i: tuple[str, ...],
    budgets: tuple[str, ...],
    reached: tuple[str, ...],
    iterations: int,
    max_i: int,
) -> tuple[Key, ...]:
    """The keys for a conversation with `n` iterations; cached, so that equal keys are one object.

    Args:
      at_end, by_i: columns of the conversation.
      reached: the `budgets` that it has spent.
    """
    return (
        *((metric, AT_END, ALL) for metric in at_end),
        *(
            (metric, i, REACHED if i <= iterations else BEYOND)
            for i in range(1, max_i + 1)
            for metric in by_i
        ),
        *((metric, AT_END, ALL) for metric in budgets),
        *((metric, AT_END, REACHED) for metric in reached),
    )


@lru_cache
def _idle(names: tuple[str, ...], budgets: tuple[str, ...]) -> tuple[Key, ...]:
    """The keys for a conversation that did not search."""
    spent = (*(COST + name for name in names), *budgets)
    return tuple((metric, AT_END, IDLE) for metric in (*spent, *(CG_PER + name for name in names)))


def indexed_costs(costs: CostValues, max_i: int) -> list[list[float]]:
    """The values that a conversation adds to each mean; see `CostSums.held`."""
    index = cost_indexes(costs.names, costs.budgets, max_i)
    by_index: list[list[float]] = [[]] * len(index)
    for (metric, i, population), value in zip(costs.keys, costs.values, strict=True):
        if value is None:
            continue
        if population != BEYOND:
            by_index[index[metric, i, population]] = [value]
        if i != AT_END:
            by_index[index[metric, i, ALL]] = [value]
    for name, gain, _ in costs.ratios:
        by_index[index[name, AT_END, GAIN]] = [gain]
    return by_index


@lru_cache
def cost_indexes(names: tuple[str, ...], budgets: tuple[str, ...], max_i: int) -> dict[Key, int]:
    """The index of each value among those of a conversation."""
    keys: list[Key] = [(name, AT_END, GAIN) for name in names]
    for metric in (*conversation_columns(names), *budgets):
        keys += [(metric, AT_END, population) for population in (ALL, REACHED, IDLE)]
    for i in range(1, max_i + 1):
        for metric in iteration_columns(names):
            keys += [(metric, i, population) for population in (REACHED, ALL)]
    return {key: index for index, key in enumerate(keys)}
