"""The texts of a page's plots, menus and cells; its script shows them as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from goodgain.pipeline.document.columns import texts_of
from goodgain.pipeline.document.numbers import (
    clipped_interval,
    count_text,
    difference_text,
    interval_text,
    mean_interval_text,
    number,
    value_text,
)
from goodgain.pipeline.views.means import MEANS
from goodgain.transforms.core.metrics.by_name import metric_by_name

Row = Mapping[str, Any]
# The names of the texts of `mean_texts`, in order.
MEAN_TEXTS = (
    *(column.column.part for column in MEANS if column.column.part),
    "p10",
    "p90",
    "missing",
)


def round_value(value: float | None) -> float | None:
    """A value with six significant digits, so that the page stays small."""
    return None if value is None else float(f"{value:.6g}")


def mean_texts(row: Row) -> dict[str, str]:
    """What the page tells of a row of `means` at N: its columns, percentiles and nulls."""
    name, undefined = row["metric"], row["undefined"]
    return {
        **texts_of(MEANS, row),
        **{part: value_text(name, row.get(part)) for part in ("p10", "p90")},
        "missing": f"undefined for {count_text(undefined)}" if undefined else "",
    }


def point_texts(row: Row) -> list[str]:
    """What the page tells of a mean at iteration i: the mean, its interval and n."""
    name = row["metric"]
    return [
        value_text(name, row["mean"]),
        mean_interval_text(name, *clipped_interval(row)),
        count_text(row["n"]),
    ]


def change_texts(metric: str, row: Any, n: int) -> list[str]:
    """What the page tells of a difference: the difference, its interval and n.

    Args:
      row: has `difference`, `ci_low` and `ci_high`, as keys or as attributes.
    """
    part = row.__getitem__ if isinstance(row, Mapping) else lambda name: getattr(row, name)
    return [
        difference_text(metric, part("difference")),
        interval_text(metric, part("ci_low"), part("ci_high")),
        count_text(n),
    ]


def bin_texts(metric: str, start: float, width: float, count: int, single: bool) -> list[str]:
    """The values of each bin of a histogram."""
    if single:
        return [count_text(start + at + 0.5) for at in range(count)]
    limits = [start + at * width for at in range(count + 1)]
    return [mean_interval_text(metric, low, high) for low, high in pairwise(limits)]


def stops_paying(pay: Sequence[float | None], average: float | None, name: str) -> str:
    """Which iterations at the end gain less per unit of cost than all iterations together.

    Args:
      pay: gain per unit of cost by i - 1; None where the cost is unknown or 0.
      name: of the cost.
    """
    if average is None:
        return f"No {name} was reported, or all of it is 0."
    of_all = f"than all iterations together, {number(average)}."
    last_that_pays = max(
        (at for at, gain in enumerate(pay, start=1) if gain is None or gain >= average), default=0
    )
    first = last_that_pays + 1
    if first > len(pay):
        return (
            f"The last iteration still gains at least as much per unit of {name} as all iterations "
            f"together, {number(average)}."
        )
    if first == len(pay):
        return f"Iteration {first} gains less per unit of {name} {of_all}"
    return f"Iterations {first} to {len(pay)} gain less per unit of {name} {of_all}"


def unit_of(metric: str) -> str:
    """The unit of a difference."""
    declared = metric_by_name(metric)
    return "pp" if declared.in_percent else declared.unit
