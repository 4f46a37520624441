"""Costs of the iterations of a turn, and gain per cost (SPEC 5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.exact_sum import Parts, exact_parts
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.records.search_call import LARGEST_COST
from goodgain.transforms.core.scoring.rows import IterationRow

COST_I, COST_AT_I, COST = "cost_i.", "cost_at_i.", "cost."
CG_PER, CG_PER_TOTAL = "CG_per.", "CG_per_total."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DOT_IN_COLUMNS = "__"  # replaces the dot of a name in Avro columns
_WITHIN_BUDGET = 1 + 1e-9  # tolerance for rounding when a sum is compared with a budget
_BUDGET_REACHED = 1 - 1e-9

Costs = dict[str, float | None]


class Budget(Struct, frozen=True):
    """An amount of a cost within which gains are computed.

    Attributes:
      cost: name of the cost.
      limit: the amount.

    Example: see `Scoring`.
    """

    cost: str
    limit: float

    def metric(self, measure: str) -> str:
        """The name of a measure at this budget, like `CG@tokens<=1000`."""
        return f"{measure}@{self.cost}<={self.limit:.12g}"


class AtBudget(Struct, frozen=True, array_like=True):
    """A measure of a conversation at a budget.

    Attributes:
      value: None if the conversation does not report the cost.
      reached: whether the conversation spent that much.
    """

    metric: str
    value: int | None
    reached: bool


def is_cost_name(name: str) -> bool:
    """Whether a name can be part of column names: letters, digits and single `_`."""
    return bool(_NAME.fullmatch(name)) and _DOT_IN_COLUMNS not in name


def parse_budget(text: str) -> tuple[Budget, ...]:
    """Parse the budgets of an option, like `tokens=1000,5000`.

    Raises:
      UsageError: the text is not a budget.
    """
    name, _, limits = text.partition("=")
    try:
        amounts = [float(limit) for limit in limits.split(",")]
    except ValueError:
        amounts = []
    if not is_cost_name(name) or not amounts or not all(0 < one <= LARGEST_COST for one in amounts):
        raise UsageError(f"{text!r} is not a budget: write it like tokens=1000,5000.")
    return tuple(Budget(name, amount) for amount in amounts)


def budget_of(metric: str) -> str | None:
    """The option of a metric's budget: `tokens=300` for `CG@tokens<=300`; None without one."""
    measure, _, budget = metric.partition("@")
    name, within, amount = budget.partition("<=")
    return f"{name}={amount}" if measure in _MEASURES and within and is_cost_name(name) else None


def with_costs(
    iterations: Sequence[IterationRow],
    call_costs: Sequence[Sequence[Mapping[str, float]]],
    names: Sequence[str],
) -> list[IterationRow]:
    """The rows of a turn's iterations with their costs, and the sums of these up to each.

    If a call lacks a cost, its iteration's cost is unknown, and the sum from there on.

    Args:
      call_costs: for each iteration, the costs of its calls.
    """
    by_iteration: list[Costs] = [{} for _ in iterations]
    for name in names:
        spent: Parts | None = ()
        for columns, calls in zip(by_iteration, call_costs, strict=True):
            costs = [of_call[name] for of_call in calls if name in of_call]
            known = len(costs) == len(calls)
            spent = exact_parts((*spent, *costs)) if known and spent is not None else None
            columns[COST_I + name] = fsum(costs) if known else None
            columns[COST_AT_I + name] = None if spent is None else fsum(spent)
    return [replace(row, costs=costs) for row, costs in zip(iterations, by_iteration, strict=True)]


def empty_iteration_costs(costs: Costs) -> Costs:
    """The costs of an empty iteration after the end: 0, with the sums of the last iteration."""
    return {column: cost if column.startswith(COST_AT_I) else 0.0 for column, cost in costs.items()}


def conversation_costs(iterations: Sequence[IterationRow], names: Sequence[str]) -> Costs:
    """The costs of a conversation, and its gain per unit of each, by column."""
    row: Costs = {}
    for name in names:
        cost = iterations[-1].costs[COST_AT_I + name] if iterations else None
        row[COST + name] = cost
        row[CG_PER + name] = _ratio(iterations[-1].CG_at_i, cost) if cost else None
    return row


def _ratio(gain: int, cost: float) -> float | None:
    ratio = gain / max(cost, 1 / LARGEST_COST)
    return ratio if ratio <= LARGEST_COST else None


def at_budgets(iterations: Sequence[IterationRow], budgets: Sequence[Budget]) -> list[AtBudget]:
    """CG and GR at each budget: those of the last iteration within it."""
    measures = []
    for budget in budgets:
        column = COST_AT_I + budget.cost
        spent = [row.costs.get(column) for row in iterations]
        total = spent[-1] if spent else None
        within = [
            row
            for row, cost in zip(iterations, spent, strict=True)
            if cost is not None and cost <= budget.limit * _WITHIN_BUDGET
        ]
        reached = total is not None and total >= budget.limit * _BUDGET_REACHED
        for measure in ("CG", "GR"):
            value = None
            if total is not None:
                value = getattr(within[-1], f"{measure}_at_i") if within else 0
            measures.append(AtBudget(budget.metric(measure), value, reached))
    return measures


def column_of(metric: str) -> str:
    """A cost's column name for formats that forbid dots: `cost_i__usd` for `cost_i.usd`."""
    start = _prefix_of(metric, ".")
    return metric if start is None else f"{start}{_DOT_IN_COLUMNS}{metric[len(start) + 1 :]}"


def metric_of(column: str) -> str:
    """The inverse of `column_of`."""
    start = _prefix_of(column, _DOT_IN_COLUMNS)
    return column if start is None else f"{start}.{column[len(start) + len(_DOT_IN_COLUMNS) :]}"


def _prefix_of(name: str, separator: str) -> str | None:
    starts = (start[:-1] for start in (COST_I, COST_AT_I, COST, CG_PER))
    return next((start for start in starts if name.startswith(start + separator)), None)


def iteration_columns(names: Sequence[str]) -> list[str]:
    """The columns of `iterations` for costs of these names."""
    return [start + name for name in names for start in (COST_I, COST_AT_I)]


def conversation_columns(names: Sequence[str]) -> list[str]:
    """The columns of `conversations` for costs of these names."""
    return [start + name for name in names for start in (COST, CG_PER)]


def costs_of(columns: Iterable[str]) -> list[str]:
    """The names of the costs among the columns of `conversations`."""
    starting = (name.removeprefix(COST) for name in columns if name.startswith(COST))
    return [name for name in starting if is_cost_name(name)]


def cost_metric(name: str) -> Metric | None:
    """The declaration of a cost's column or mean; None for other names."""
    for start, of in _DECLARED.items():
        if name.startswith(start) and is_cost_name(name[len(start) :]):
            return of(name, name[len(start) :])
    measure, separator, budget = name.partition("@")
    if measure in _MEASURES and separator and is_cost_name(budget.partition("<=")[0]):
        unit, words = _MEASURES[measure]
        return Metric(
            name, unit, f"{measure} within the budget.", "higher", _UNKNOWN_COST,
            f"{measure}@i at the last i within the budget, 0 before the first",
            needs_labels=True, words=f"{words} within the budget",
        )  # fmt: skip
    return None


_MEASURES = {"CG": ("gain", "Gain"), "GR": ("results", "Good results")}  # unit and words
_UNKNOWN_COST = "a call of the turn has no such cost"
_DECLARED: Mapping[str, Callable[[str, str], Metric]] = {
    COST_I: lambda name, cost: Metric(
        name, cost, "What the iteration cost.", "lower", "a call of the iteration has no such cost",
        f"sum of {cost} over the calls of iteration i", words="Cost",
    ),
    COST_AT_I: lambda name, cost: Metric(
        name, cost, "What it cost so far.", "lower", "a call so far has no such cost",
        f"sum of {cost} over the calls of iterations 1..i", words="Cost so far",
    ),
    COST: lambda name, cost: Metric(
        name, cost, "What the last turn cost.", "lower", _UNKNOWN_COST,
        f"sum of {cost} over the calls of the last turn", words="Cost",
    ),
    CG_PER: lambda name, cost: Metric(
        name, f"gain per unit of {cost}", "Good, new material per unit of its cost.", "higher",
        f"{_UNKNOWN_COST}, or it is 0", f"CG / cost.{cost}; its mean is a mean of ratios",
        needs_labels=True, words=f"Gain per unit of {cost}",
    ),
    CG_PER_TOTAL: lambda name, cost: Metric(
        name, f"gain per unit of {cost}", "All gain over all costs.", "higher",
        "nothing was spent", f"sum of CG / sum of cost.{cost}: a ratio of means",
        needs_labels=True, words=f"Total gain per unit of {cost}",
    ),
}  # fmt: skip

# One of each kind, with NAME for the name of a cost and B for an amount.
COST_METRICS = tuple(
    metric
    for name in (*(start + "NAME" for start in _DECLARED), *(f"{one}@NAME<=B" for one in _MEASURES))
    if (metric := cost_metric(name))
)
