"""Gain and costs of both arms, for the plots of a comparison's page (SPEC 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from goodgain.pipeline.comparison.report.slices import ComparedSlice
from goodgain.pipeline.report.slices import Row, SliceMeans, slice_data
from goodgain.transforms.core.scoring.costs import costs_of

_MOST_ROWS = 8_000  # bounds the size of the page


class ArmCosts(Struct, frozen=True):
    """Gain and costs of both arms.

    Attributes:
      names: names of the costs; empty if none are compared.
      by_slice: the plot data by arm, in the order of the slices, for as many slices as fit on the
        page.
    """

    names: tuple[str, ...]
    by_slice: tuple[dict[str, Any], ...]


def arm_costs(rows: Iterable[Row], slices: Sequence[ComparedSlice]) -> ArmCosts:
    """Arrange the rows of the dataset `arms` by the slices of the page."""
    by_slice: dict[frozenset[tuple[str, str]], dict[str, SliceMeans]] = {}
    names: dict[str, None] = {}
    for row in rows:
        names[row["metric"]] = None
        arms = by_slice.setdefault(frozenset(row["slice"].items()), {})
        arms.setdefault(row["arm"], SliceMeans(row["slice"])).add(row)
    plotted: list[dict[str, Any]] = []
    rows_left = _MOST_ROWS
    for slice_ in slices:
        arms = by_slice.get(frozenset(slice_.attributes.items()), {})
        rows_left -= sum(map(_size, arms.values()))
        if plotted and rows_left < 0:
            break
        plotted.append({name: slice_data(one, {}) for name, one in arms.items()})
    return ArmCosts(tuple(costs_of(names)), tuple(plotted))


def _size(one: SliceMeans) -> int:
    curves = chain.from_iterable(curves.values() for curves in one.curves.values())
    return len(one.at_end) + sum(map(len, curves))
