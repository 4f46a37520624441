"""The metrics of costs: what was spent, and gain per unit of it (SPEC 5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.records.search_call import LARGEST_COST

COST_I, COST_AT_I, COST = "cost_i.", "cost_at_i.", "cost."
CG_PER, CG_PER_TOTAL = "CG_per.", "CG_per_total."
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DOT_IN_COLUMNS = "__"  # replaces the dot of a name in Avro columns
UNKNOWN_COST = "a call of the turn has no such cost"


def is_cost_name(name: str) -> bool:
    """Whether a name can be part of column names: letters, digits and single `_`."""
    return bool(_NAME.fullmatch(name)) and _DOT_IN_COLUMNS not in name


def _gain_per(prefix: Prefix, cost: str) -> float | None:
    spent = prefix.spent[cost]
    if not spent:
        return None
    ratio = prefix.gain / max(spent, 1 / LARGEST_COST)
    return ratio if ratio <= LARGEST_COST else None


_DECLARED: Mapping[str, Callable[[str, str], Metric]] = {
    COST_I: lambda name, cost: Metric(
        name, cost, "What the iteration cost.", "lower", "a call of the iteration has no such cost",
        f"sum of {cost} over the calls of iteration i", words="Cost", idle=True,
        function=lambda prefix: prefix.spent_last[cost],
    ),
    COST_AT_I: lambda name, cost: Metric(
        name, cost, "What it cost so far.", "lower", "a call so far has no such cost",
        f"sum of {cost} over the calls of iterations 1..i", words="Cost so far", idle=True,
        function=lambda prefix: prefix.spent[cost],
    ),
    COST: lambda name, cost: Metric(
        name, cost, "What the last turn cost.", "lower", UNKNOWN_COST,
        f"sum of {cost} over the calls of the last turn", words="Cost", idle=True,
        function=lambda prefix: prefix.spent[cost], so_far=cost_metric(COST_AT_I + cost),
    ),
    CG_PER: lambda name, cost: Metric(
        name, f"gain per unit of {cost}", "Good, new material per unit of its cost.", "higher",
        f"{UNKNOWN_COST}, or it is 0", f"CG / cost.{cost}; its mean is a mean of ratios",
        needs_labels=True, words=f"Gain per unit of {cost}", idle=False,
        function=lambda prefix: _gain_per(prefix, cost),
    ),
    CG_PER_TOTAL: lambda name, cost: Metric(
        name, f"gain per unit of {cost}", "All gain over all costs.", "higher",
        "nothing was spent", f"sum of CG / sum of cost.{cost}: a ratio of means",
        needs_labels=True, words=f"Total gain per unit of {cost}",
    ),
}  # fmt: skip


def cost_metric(name: str) -> Metric | None:
    """The declaration of a cost's column or mean; None for other names."""
    for start, of in _DECLARED.items():
        if name.startswith(start) and is_cost_name(name[len(start) :]):
            return of(name, name[len(start) :])
    return None


def cost_metrics(starts: Iterable[str], names: Iterable[str]) -> tuple[Metric, ...]:
    """The declarations that start like this, for each name of a cost."""
    return tuple(_DECLARED[start](start + name, name) for name in names for start in starts)


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
