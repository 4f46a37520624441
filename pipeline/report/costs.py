"""Costs at N in the report; the page's script draws them by iteration (SPEC 5)."""

from __future__ import annotations

from math import floor, log10

from msgspec import Struct

from goodgain.pipeline.report.definitions import Definition
from goodgain.pipeline.report.numbers import number
from goodgain.pipeline.report.slices import Row, SliceMeans
from goodgain.transforms.core.scoring.costs import COST, COST_METRICS, cost_metric

_LEAST_PLAIN = 1e-6  # smaller values are written with an exponent
_LARGE = 0.1  # from this value on, three decimals are enough


class CostFacts(Struct, frozen=True):
    """The costs of a run.

    Attributes:
      names: names of the costs that conversations reported; never empty.
      rows: each metric at N with its row of `means`, cost by cost, then those at budgets.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Definition, Row], ...]


def cost_facts(everything: SliceMeans | None) -> CostFacts | None:
    """The costs to show; None if no conversation in the means reported any."""
    rows = everything.at_end if everything else {}
    names = _names(rows)
    if not names:
        return None
    kinds = [one.name.removesuffix("NAME") for one in COST_METRICS]
    wanted = [kind + name for name in names for kind in kinds if kind + name in rows]
    # Then those within budgets, like CG@tokens<=3000.
    wanted += [name for name in rows if cost_metric(name) and name not in wanted and "@" in name]
    return CostFacts(names, tuple((_define(name), rows[name]) for name in wanted))


def _names(rows: dict[str, Row]) -> tuple[str, ...]:
    return tuple(
        metric.removeprefix(COST)
        for metric, row in sorted(rows.items())
        if metric.startswith(COST) and cost_metric(metric) and row["n"]
    )


def _define(name: str) -> Definition:
    metric = cost_metric(name)
    if metric is None:
        raise ValueError(f"{name!r} is not a metric of costs")
    return Definition(metric, "end", metric.label)


def cost_amount(value: float | None) -> str:
    """A value like `number`, but with three significant digits below 0.1; a dash for none."""
    size = abs(value or 0.0)
    if value is None or not size or size >= _LARGE:
        return number(value)
    if size < _LEAST_PLAIN:
        digits, _, power = f"{value:.2e}".partition("e")
        return f"{digits}e{int(power)}"
    return f"{value:.{2 - floor(log10(size))}f}"
