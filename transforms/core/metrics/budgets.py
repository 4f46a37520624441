"""Gain within an amount of a cost: metrics of the longest prefix that keeps within it (SPEC 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.costs import UNKNOWN_COST
from goodgain.transforms.core.metrics.gains import DECLARED
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.records.search_call import LARGEST_COST

_MEASURES = ("CG", "GR")
_WITHIN_BUDGET = 1 + 1e-9  # tolerance for rounding when a sum is compared with a budget
_BUDGET_REACHED = 1 - 1e-9


class Budget(Struct, frozen=True):
    """An amount of a cost within which gains are computed.

    Attributes:
      cost: name of the cost.
      limit: the amount.
    """

    cost: str
    limit: float

    def metric(self, measure: str) -> str:
        """The name of a measure at this budget, like `CG@tokens<=1000`."""
        return f"{measure}@{self.cost}<={self.limit:.12g}"

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics at this budget."""
        return tuple(_declare(self.metric(measure), measure) for measure in _MEASURES)

    def prefix(self, prefixes: Sequence[Prefix]) -> Prefix | None:
        """The longest prefix within the budget; None if it is unknown what the turn cost.

        Args:
          prefixes: those of 0 to N iterations.
        """
        if prefixes[-1].spent[self.cost] is None:
            return None
        most = self.limit * _WITHIN_BUDGET
        costs = ((prefix, prefix.spent[self.cost]) for prefix in prefixes)
        return [prefix for prefix, spent in costs if spent is not None and spent <= most][-1]

    def is_reached(self, whole: Prefix) -> bool:
        """Whether the turn spent that much."""
        spent = whole.spent[self.cost]
        return spent is not None and spent >= self.limit * _BUDGET_REACHED


def parse_budgets(texts: Iterable[str]) -> tuple[Budget, ...]:
    """The budgets of options like `tokens=1000,5000`, each once, in their order.

    Raises:
      UsageError: a text is not a budget.
    """
    return tuple(dict.fromkeys(budget for text in texts for budget in _parse_budget(text)))


def _parse_budget(text: str) -> tuple[Budget, ...]:
    name, _, limits = text.partition("=")
    try:
        amounts = [float(limit) for limit in limits.split(",")]
    except ValueError:
        amounts = []
    if (
        not fits_column(name)
        or not amounts
        or not all(0 < amount <= LARGEST_COST for amount in amounts)
    ):
        raise UsageError(f"{text!r} is not a budget: write it like tokens=1000,5000.")
    return tuple(Budget(name, amount) for amount in amounts)


def budget_of(metric: str) -> str | None:
    """The option of a metric's budget: `tokens=300` for `CG@tokens<=300`; None without one."""
    measure, _, budget = metric.partition("@")
    name, within, amount = budget.partition("<=")
    return f"{name}={amount}" if measure in _MEASURES and within and fits_column(name) else None


def budget_metric(name: str) -> Metric | None:
    """The declaration of a measure at a budget, like `CG@tokens<=1000`; None for other names."""
    measure, separator, budget = name.partition("@")
    if measure in _MEASURES and separator and fits_column(budget.partition("<=")[0]):
        return _declare(name, measure)
    return None


def budget_examples() -> tuple[Metric, ...]:
    """The metrics of a budget of B for the cost NAME."""
    return tuple(_declare(f"{measure}@NAME<=B", measure) for measure in _MEASURES)


def _declare(name: str, measure: str) -> Metric:
    whole = DECLARED[measure]
    return replace(
        whole,
        name=name,
        meaning=f"{measure} within the budget.",
        undefined=UNKNOWN_COST,
        formula=f"{measure}@i at the last i within the budget, 0 before the first",
        words=f"{whole.words} within the budget",
        whole=False,
        bounded=False,
        counted=False,
        so_far=None,
        mean_only=True,
        headline=(),
    )
