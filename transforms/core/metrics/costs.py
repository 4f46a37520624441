"""The metrics of costs: what was spent, and gain per unit of it (SPEC 5)."""

from __future__ import annotations

from functools import lru_cache

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.group import MetricGroup, NamedGroup, Ratio, Terms, Values
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.records.search_call import LARGEST_COST
from goodgain.transforms.core.remedy import Remedy

COST_I, COST_AT_I, COST = "cost_i.", "cost_at_i.", "cost."
CG_PER, CG_PER_TOTAL = "CG_per.", "CG_per_total."
UNKNOWN_COST = "a call of the turn has no such cost"
_TITLE = "of costs, for each NAME that calls have; within a budget B with " + Remedy("budget")


@lru_cache
def costs_of(name: str) -> MetricGroup:
    """The metrics of the cost of this name."""

    def spent(prefix: Prefix) -> float | None:
        return prefix.spent[name]

    def spent_in_iteration(prefix: Prefix) -> float | None:
        return prefix.spent_last[name]

    def gain_per_unit(prefix: Prefix) -> float | None:
        amount = prefix.spent[name]
        if not amount:
            return None
        ratio = prefix.gain / max(amount, 1 / LARGEST_COST)
        return ratio if ratio <= LARGEST_COST else None

    def gain_and_cost(whole: Prefix, at_n: Values) -> Terms | None:
        amount = whole.spent[name]
        return None if amount is None else (whole.gain, amount)

    so_far = Metric(
        COST_AT_I + name, name, "What it cost so far.", "lower", "a call so far has no such cost",
        f"sum of {name} over the calls of iterations 1..i", words="Cost so far", idle=True,
        function=spent, by_i=True,
    )  # fmt: skip
    in_iteration = Metric(
        COST_I + name, name, "What the iteration cost.", "lower",
        "a call of the iteration has no such cost",
        f"sum of {name} over the calls of iteration i", words="Cost", idle=True,
        function=spent_in_iteration, by_i=True,
    )  # fmt: skip
    cost = Metric(
        COST + name, name, "What the last turn cost.", "lower", UNKNOWN_COST,
        f"sum of {name} over the calls of the last turn", words="Cost", idle=True,
        function=spent, so_far=so_far, headline=("predictor",),
    )  # fmt: skip
    per_unit = Metric(
        CG_PER + name, f"gain per unit of {name}", "Good, new material per unit of its cost.",
        "higher", f"{UNKNOWN_COST}, or it is 0", f"CG / cost.{name}; its mean is a mean of ratios",
        needs_labels=True, words=f"Gain per unit of {name}", idle=False, function=gain_per_unit,
    )  # fmt: skip
    in_total = Metric(
        CG_PER_TOTAL + name, f"gain per unit of {name}", "All gain over all costs.", "higher",
        "nothing was spent", f"sum of CG / sum of cost.{name}: a ratio of means",
        needs_labels=True, words=f"Total gain per unit of {name}", mean_only=True,
    )  # fmt: skip
    return MetricGroup(
        _TITLE, (cost, per_unit), (in_iteration,), (Ratio(in_total, gain_and_cost),), name
    )


COSTS = NamedGroup(_TITLE, costs_of)
