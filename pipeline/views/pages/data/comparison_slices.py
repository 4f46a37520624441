"""The rows of a comparison by slice, and its pairs, as the page's plots and tables need them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

from msgspec import convert

from goodgain.pipeline.document.numbers import count_text
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.views.comparison_tables import Columns, texts_of_comparison
from goodgain.pipeline.views.pages.data.slice_numbers import slice_data as means_data
from goodgain.pipeline.views.pages.data.slices import (
    LEAST_N_FOR_BAND,
    MOST_ITERATIONS,
    Row,
    SliceMeans,
    SliceRows,
    Slices,
    slice_value,
)
from goodgain.pipeline.views.pages.data.texts import change_texts, round_value
from goodgain.transforms.core.metrics.by_name import name_so_far
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.wording import format_count

_MOST_SLICES = 60
_MOST_ROWS = 5_000  # bounds the size of the page
_MOST_ARM_ROWS = 8_000  # likewise
_VERDICT = "verdict"
# The columns of a row at N that the page draws, in the order of its data.
PARTS = (
    "base_mean", "difference", "ci_low", "ci_high", "good", "same", "bad", "deviation", _VERDICT,
)  # fmt: skip
_AS_IS = ("good", "same", "bad", _VERDICT)  # not rounded


class ComparedSlice(SliceRows):
    """The comparison of the conversations that share some attributes."""

    @property
    def n(self) -> tuple[int, int]:
        """The largest n of any metric, in base and candidate."""
        rows = list(self.at_end.values()) or [curve[0] for curve in _all_curves(self)]
        return (
            max((row["n_base"] for row in rows), default=0),
            max((row["n_candidate"] for row in rows), default=0),
        )


def arrange(rows: Iterable[Row], declared: Sequence[str], correction: str) -> Slices[ComparedSlice]:
    """Arrange the rows of `comparison`; if there are too many slices, only the largest are shown.

    Args:
      declared: the declared family; if it has metrics by iteration, only those are shown.
    """
    slices: dict[tuple[tuple[str, str], ...], ComparedSlice] = {}
    last_i = 0
    for row in rows:
        key = tuple(row["slice"].items())
        one = slices.setdefault(key, ComparedSlice(dict(key)))
        one.add(row if row["i"] is not None else {**row, **_further_columns(row, correction)})
        last_i = max(last_i, row["i"] or 0)
    for slice_ in slices.values():
        slice_.curves = {name: _curves(curves, declared) for name, curves in slice_.curves.items()}
    shown = _largest(list(slices.values()))
    return Slices(
        shown=tuple(shown),
        left_out=len(slices) - len(shown),
        iterations_left_out=max(0, last_i - MOST_ITERATIONS),
    )


def _further_columns(row: Row, correction: str) -> dict[str, float | None]:
    """Further columns; the interval is the one that decides the verdict."""
    added = {"p_corrected": row[f"p_{correction}"], "deviation": _deviation(row)}
    if row["verdict_ci_low"] is not None:
        added |= {"ci_low": row["verdict_ci_low"], "ci_high": row["verdict_ci_high"]}
    return added


def _deviation(row: Row) -> float | None:
    """The standard deviation that the effect size divides by; None without an interval."""
    effect, difference = row["effect_size"], row["difference"]
    if row["stderr"] is None or effect is None:
        return None
    if effect and difference:
        return float(difference / effect)
    # A difference of exactly 0 has effect size 0 whatever the deviation: use the standard error.
    of_means = 1 / row["n_base"] + (0 if row["design"] == "paired" else 1 / row["n_candidate"])
    return float(row["stderr"] / sqrt(of_means))


def _curves(curves: dict[str, list[Row]], declared: Sequence[str]) -> dict[str, list[Row]]:
    """Curves of the family's metrics or their counterparts by i; all curves if there are none."""
    for curve in curves.values():
        curve.sort(key=lambda row: int(row["i"]))
    same = set(map(name_so_far, declared))
    chosen = {name: curve for name, curve in curves.items() if name in declared or name in same}
    return chosen or curves


def _largest(slices: list[ComparedSlice]) -> list[ComparedSlice]:
    """The largest slices, as many as fit on the page, in the given order."""
    by_size = sorted(
        slices, key=lambda slice_: (bool(slice_.attributes), -sum(slice_.n), slice_.label)
    )
    shown: list[int] = []
    rows_left = _MOST_ROWS
    for slice_ in by_size[:_MOST_SLICES]:
        points = sum(map(len, _all_curves(slice_)))
        rows_left -= len(slice_.at_end) + points // 2  # points have fewer numbers
        if shown and rows_left < 0:
            break
        shown.append(id(slice_))
    return [slice_ for slice_ in slices if id(slice_) in shown]


def _all_curves(rows: SliceRows) -> list[list[Row]]:
    return [curve for curves in rows.curves.values() for curve in curves.values()]


def read_comparison_row(row: Row) -> ComparisonRow:
    """A row of the dataset `comparison` as tables show it."""
    return convert(row, ComparisonRow)


def slice_data(compared: ComparedSlice, paired: bool, columns: Columns) -> dict[str, Any]:
    """A slice as the page's script needs it: numbers to draw, each with the texts to show.

    `end` holds `PARTS` in their order, then the texts.

    Args:
      columns: those of the page's tables.
    """
    base, candidate = compared.n
    return {
        "label": compared.label,
        "names": list(compared.attributes),
        "values": [slice_value(value) for value in compared.attributes.values()],
        "n": format_count(base, "pair")
        if paired
        else f"{count_text(base)} and {format_count(candidate, 'conversation')}",
        "end": {
            name: [
                *(row[part] if part in _AS_IS else round_value(row[part]) for part in PARTS),
                list(texts_of_comparison(read_comparison_row(row), columns).values()),
            ]
            for name, row in compared.at_end.items()
        },
        "curves": {
            population: {name: _curve(curve) for name, curve in curves.items()}
            for population, curves in compared.curves.items()
        },
    }


def _curve(curve: list[Row]) -> dict[str, list[Any]]:
    """Differences and, where there is a band, the ends of their intervals by i, and their texts."""
    fewest = [min(row["n_base"], row["n_candidate"]) for row in curve]
    ends = {
        end: [
            round_value(row[end]) if n >= LEAST_N_FOR_BAND else None
            for n, row in zip(fewest, curve, strict=True)
        ]
        for end in ("ci_low", "ci_high")
    }
    return {
        "i": [row["i"] for row in curve],
        "difference": [round_value(row["difference"]) for row in curve],
        **ends,
        "n": fewest,
        "texts": [
            [*change_texts(row["metric"], row, n), row[_VERDICT]]
            for n, row in zip(fewest, curve, strict=True)
        ],
    }


def arm_costs(
    rows: Iterable[Row], slices: Sequence[ComparedSlice]
) -> tuple[Sequence[str], list[dict[str, Any]]]:
    """Gain and costs of both arms, from the rows of the dataset `arms` (SPEC 5).

    Returns:
      The names of the costs, empty if none are compared; and the plot data by arm, in the order of
      the slices, for as many slices as fit on the page.
    """
    by_slice: dict[frozenset[tuple[str, str]], dict[str, SliceMeans]] = {}
    names: dict[str, None] = {}
    for row in rows:
        names[row["metric"]] = None
        arms = by_slice.setdefault(frozenset(row["slice"].items()), {})
        arms.setdefault(row["arm"], SliceMeans(row["slice"])).add(row)
    costs = COSTS.names_in(names)
    plotted: list[dict[str, Any]] = []
    rows_left = _MOST_ARM_ROWS
    for slice_ in slices:
        arms = by_slice.get(frozenset(slice_.attributes.items()), {})
        rows_left -= sum(len(arm.at_end) + sum(map(len, _all_curves(arm))) for arm in arms.values())
        if plotted and rows_left < 0:
            break
        plotted.append({name: means_data(arm, {}, costs) for name, arm in arms.items()})
    return costs, plotted
