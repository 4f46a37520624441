"""Costs at N in the report; the page's script draws them by iteration (SPEC 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

from goodgain.pipeline.report.definitions import Definition
from goodgain.pipeline.report.numbers import number
from goodgain.pipeline.report.slices import Row
from goodgain.transforms.core.scoring.costs import COST, COST_METRICS, cost_metric

_LEAST_PLAIN = 1e-6  # smaller values are written with an exponent
_LARGE = 0.1  # from this value on, three decimals are enough


def costs_at_end(rows: Mapping[str, Row]) -> dict[str, Sequence[Any]] | None:
    """The costs to show; None if no conversation in the means reported any.

    Args:
      rows: the rows of `means` of all conversations at N, by metric.

    Returns:
      `names` of the costs, and `rows`: each metric with its row, cost by cost, then those within
      budgets, like CG@tokens<=3000.
    """
    names = [
        metric.removeprefix(COST)
        for metric, row in sorted(rows.items())
        if metric.startswith(COST) and cost_metric(metric) and row["n"]
    ]
    if not names:
        return None
    kinds = [one.name.removesuffix("NAME") for one in COST_METRICS]
    wanted = [kind + name for name in names for kind in kinds if kind + name in rows]
    wanted += [name for name in rows if name not in wanted and "@" in name]
    metrics = filter(None, map(cost_metric, wanted))
    return {
        "names": names,
        "rows": [(Definition(one, "end"), rows[one.name]) for one in metrics],
    }


def cost_amount(value: float | None) -> str:
    """A value like `number`, but with three significant digits below 0.1; a dash for none."""
    size = abs(value or 0.0)
    if value is None or not size or size >= _LARGE:
        return number(value)
    if size < _LEAST_PLAIN:
        digits, _, power = f"{value:.2e}".partition("e")
        return f"{digits}e{int(power)}"
    return f"{value:.{2 - floor(log10(size))}f}"
