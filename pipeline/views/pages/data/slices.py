"""The means of a run, arranged by slice for the report's plots and tables (SPEC 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, takewhile
from typing import Any, Generic, TypeVar

from msgspec import Struct

from goodgain.pipeline.document.numbers import count_text, number, value_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.wanted_means import ALL_MEANS, MeansWanted
from goodgain.pipeline.views.pages.data.texts import (
    mean_texts,
    point_texts,
    round_value,
    stops_paying,
)
from goodgain.transforms.core.means.slices import EVERYTHING, SliceKey, slice_key
from goodgain.transforms.core.metrics.costs import COST_I

Row = Mapping[str, Any]
MOST_ITERATIONS = 50
_MOST_SLICES = 60
_MOST_SLICE_ITERATIONS = 600  # bounds the size of the page
_LONGEST_VALUE = 60
_NO_VALUE = "(none)"
LEAST_N_FOR_BAND = 10  # conversations for a band, which misleads with fewer
_DRAWN_AT_END = ("mean", "ci_low", "ci_high", "p50")
_SIZE_METRIC = "N"  # defined for every conversation in the means
_SIZES = MeansWanted(metrics=frozenset((_SIZE_METRIC,)), at_end=True)


class SliceRows(Struct):
    """Rows of a dataset about the conversations that share some attributes.

    Attributes:
      attributes: the shared attributes; {} = all conversations.
      curves: rows by population, then metric, in the order of i.
    """

    attributes: dict[str, str]
    at_end: dict[str, Row] = {}
    curves: dict[str, dict[str, list[Row]]] = {}

    def add(self, row: Row) -> None:
        """Add a row, unless its i is beyond the last one shown."""
        if row["i"] is None:
            self.at_end[row["metric"]] = row
        elif row["i"] <= MOST_ITERATIONS:
            of_population = self.curves.setdefault(row["population"], {})
            of_population.setdefault(row["metric"], []).append(row)

    @property
    def label(self) -> str:
        """The attribute values that the conversations share, as text."""
        return (
            ", ".join(
                f"{shorten(name, _LONGEST_VALUE)} = {slice_value(value)}"
                for name, value in self.attributes.items()
            )
            or "All conversations"
        )


class SliceMeans(SliceRows):
    """The means of the conversations that share some attributes.

    Attributes:
      everyone: like `at_end`, including conversations that never searched; empty if there are none.
    """

    everyone: dict[str, Row] = {}

    @property
    def n(self) -> int:
        """The number of conversations."""
        return _size(self.at_end[_SIZE_METRIC])


_Slice = TypeVar("_Slice", bound=SliceRows)


class Slices(Struct, Generic[_Slice], frozen=True):
    """The slices that a report shows.

    Attributes:
      shown: all conversations first, then by dimension; empty if none searched.
      left_out: how many more the dataset has.
      iterations_left_out: how many values of i it has beyond the last one shown.
    """

    shown: tuple[_Slice, ...]
    left_out: int = 0
    iterations_left_out: int = 0

    @property
    def everything(self) -> _Slice | None:
        """The slice of all conversations; None if none searched."""
        return self.shown[0] if self.shown else None

    @property
    def dimensions(self) -> dict[tuple[str, ...], list[int]]:
        """Indexes in `shown` by dimension."""
        by_dimension: dict[tuple[str, ...], list[int]] = {}
        for at, one in enumerate(self.shown):
            if one.attributes:
                by_dimension.setdefault(tuple(one.attributes), []).append(at)
        return by_dimension


def slice_value(value: str) -> str:
    """The value of an attribute as text for the report."""
    return shorten(value, _LONGEST_VALUE) or _NO_VALUE


def read_slices(
    read: Callable[[MeansWanted], Iterable[Row]], dimensions: Sequence[Sequence[str]]
) -> Slices[SliceMeans]:
    """Arrange the rows of `means`.

    If there are more slices than fit on a page, only the largest are kept.

    Args:
      read: returns the requested rows, those of all conversations first.
      dimensions: the requested attribute names, in the order to show them.
    """
    order = {frozenset(names): tuple(names) for names in dimensions}
    sizes = {slice_key(row["slice"]): row for row in read(_SIZES) if row["population"] == "all"}
    overall = takewhile(lambda row: not row["slice"], read(ALL_MEANS))
    last_i = max((row["i"] or 0 for row in overall), default=0)
    searched = [key for key, row in sizes.items() if _size(row)]
    # The slice of all conversations has no attributes, so it always comes first.
    searched.sort(key=lambda key: (key != EVERYTHING, -_size(sizes[key]), key))
    slices_shown = min(
        _MOST_SLICES, max(1, _MOST_SLICE_ITERATIONS // max(1, min(last_i, MOST_ITERATIONS)))
    )
    slices: dict[SliceKey, SliceMeans] = {}
    for key in searched[:slices_shown]:
        attributes = sizes[key]["slice"]
        names = order.get(frozenset(attributes), tuple(sorted(attributes)))
        slices[key] = SliceMeans({name: attributes[name] for name in names})
    for row in read(MeansWanted(slices=frozenset(slices))):
        _add(slices[slice_key(row["slice"])], row)
    for curves in (curves for slice_ in slices.values() for curves in slice_.curves.values()):
        for curve in curves.values():
            curve.sort(key=lambda row: int(row["i"]))
    return Slices(
        shown=tuple(sorted(slices.values(), key=lambda one: _sort_key(one, list(order)))),
        left_out=len(searched) - len(slices),
        iterations_left_out=max(0, last_i - MOST_ITERATIONS),
    )


def _size(row: Row) -> int:
    """The number of conversations in a slice, from its row of `_SIZE_METRIC`."""
    return int(row["n"] + row["undefined"])


def _add(one: SliceMeans, row: Row) -> None:
    if row["population"] == "everyone":
        if row["i"] is None:
            one.everyone[row["metric"]] = row
        return  # curves show only conversations that searched
    if row["population"] == "calls":
        return
    if row["i"] is None and row["population"] == "reached":
        return  # only conversations that spent the budget; the page shows all
    one.add(row)


def _sort_key(one: SliceMeans, order: list[frozenset[str]]) -> tuple[bool, int, str]:
    names = frozenset(one.attributes)
    return bool(names), order.index(names) if names in order else len(order), one.label


def slice_data(
    one: SliceMeans, histograms: Mapping[str, Sequence[int]], costs: Sequence[str] = ()
) -> dict[str, Any]:
    """A slice as the page's script needs it: numbers to draw, each with the texts to show.

    Args:
      histograms: counts by metric, then bin.
      costs: names of the costs to show.
    """
    return {
        "label": one.label,
        "values": [slice_value(value) for value in one.attributes.values()],
        "n": count_text(one.n),
        "end": {
            name: [
                *(round_value(row.get(part)) for part in _DRAWN_AT_END),
                list(mean_texts(row).values()),
            ]
            for name, row in one.at_end.items()
        },
        "curves": {population: _curves(curves) for population, curves in one.curves.items()},
        "added": _new_results(one.curves.get("reached", {})),
        "paying": {name: _paying(one, name) for name in costs},
        "histograms": {
            name: [list(counts), list(map(count_text, counts))]
            for name, counts in histograms.items()
        },
    }


def _curves(curves: Mapping[str, list[Row]]) -> dict[str, Any]:
    # Most metrics of an iteration are never null and so share the greatest n (SPEC 6).
    greatest_n: dict[int, int] = {}  # by i
    for row in chain.from_iterable(curves.values()):
        greatest_n[row["i"]] = max(row["n"], greatest_n.get(row["i"], 0))
    common_n = [greatest_n[i] for i in sorted(greatest_n)]
    return {
        "n": common_n,
        "counts": list(map(count_text, common_n)),
        **{name: _curve(rows) for name, rows in curves.items()},
    }


def _curve(rows: list[Row]) -> list[list[Any]]:
    """Means and, where there is a band, the ends of their intervals by i, and their texts."""
    numbers = [[round_value(row["mean"]) for row in rows]]
    for end in ("ci_low", "ci_high"):
        numbers.append(
            [round_value(row[end]) if row["n"] >= LEAST_N_FOR_BAND else None for row in rows]
        )
    return [*numbers, list(map(point_texts, rows))]


def _new_results(curves: Mapping[str, list[Row]]) -> list[list[Any]]:
    """By i the new good, new other and repeated results, and the texts of these and of n."""
    parts = [curves.get(name, []) for name in ("GR_i", "UR_i", "Dup_i")]
    added = []
    for good, unique, copies in zip(*parts, strict=True):
        if unique["n"]:
            # Without labels it is unknown which of the new results are good.
            other = None if good["mean"] is None else unique["mean"] - good["mean"]
            values = (good["mean"], other, copies["mean"])
            texts = [*map(number, values), count_text(unique["n"])]
            added.append([*map(round_value, values), texts])
    return added


def _paying(one: SliceMeans, name: str) -> dict[str, Any]:
    """The gain of each iteration per unit of a cost, and which iterations stop paying off."""
    reached = one.curves.get("reached", {})
    costs = reached.get(f"{COST_I}{name}", [])
    rows = [
        (gain, cost)
        for gain, cost in zip(reached.get("G_i", []), costs, strict=False)
        if gain["n"] or cost["n"]
    ]
    pay = [
        gain["mean"] / cost["mean"] if cost["mean"] and gain["mean"] is not None else None
        for gain, cost in rows
    ]
    average = one.at_end.get(f"CG_per_total.{name}", {}).get("mean")
    return {
        "pay": list(map(round_value, pay)),
        "average": round_value(average),
        "average_text": number(average),
        "sentence": stops_paying(pay, average, name)
        if any(gain["mean"] is not None for gain, _ in rows)
        else "Without labels, the gain is unknown.",
        "texts": [
            [
                number(gain["mean"]),
                value_text(cost["metric"], cost["mean"]),
                number(per_unit),
                count_text(cost["n"]),
                count_text(gain["n"]),
            ]
            for (gain, cost), per_unit in zip(rows, pay, strict=True)
        ],
    }
