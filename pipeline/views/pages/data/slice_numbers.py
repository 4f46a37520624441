"""A slice as the script of a run's report draws it: numbers, each with the texts to show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from goodgain.pipeline.document.numbers import count_text, number, value_text
from goodgain.pipeline.views.pages.data.slices import LEAST_N_FOR_BAND, Row, SliceMeans, slice_value
from goodgain.pipeline.views.pages.data.texts import (
    mean_texts,
    point_texts,
    round_value,
    stops_paying,
)
from goodgain.transforms.core.metrics.costs import COST_I

_DRAWN_AT_END = ("mean", "ci_low", "ci_high", "p50")


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
            for name, row in ((name, _reliable(one, row)) for name, row in one.at_end.items())
        },
        "curves": {population: _curves(curves) for population, curves in one.curves.items()},
        "added": _new_results(one.curves.get("reached", {})),
        "paying": {name: _paying(one, name) for name in costs},
        "histograms": {
            name: [list(counts), list(map(count_text, counts))]
            for name, counts in histograms.items()
        },
    }


def _reliable(slice_: SliceMeans, row: Row) -> Row:
    """A mean at N; of a slice of a few conversations without the interval, which misleads."""
    if not slice_.attributes or row["n"] >= LEAST_N_FOR_BAND:
        return row
    return {**row, "ci_low": None, "ci_high": None}


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


def _paying(slice_: SliceMeans, name: str) -> dict[str, Any]:
    """The gain of each iteration per unit of a cost, and which iterations stop paying off."""
    reached = slice_.curves.get("reached", {})
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
    average = slice_.at_end.get(f"CG_per_total.{name}", {}).get("mean")
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
