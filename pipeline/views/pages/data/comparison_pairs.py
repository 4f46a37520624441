"""The pairs of a comparison as the script of its page needs them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from goodgain.pipeline.document.numbers import count_text, difference_text, value_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.views.pages.data.slices import Row
from goodgain.pipeline.views.pages.data.texts import round_value

_MOST_POINTS = 1_000
_MOST_POINTS_IN_ALL = 4_000
_LONGEST_KEY = 40


def pairs_by_metric(
    rows: Iterable[Row], metrics: Sequence[str]
) -> dict[str, dict[str, int | list[Any]]]:
    """The pairs of each metric as the page's script needs them, in the order of `metrics`.

    Returns:
      By metric, the `count` of its pairs and, of all of them or evenly spaced ones, the largest
      difference first: `ranks` from 1, `keys`, `difference`, and `texts` of rank, base, candidate
      and difference.
    """
    by_metric: dict[str, list[tuple[float, str, float, float]]] = {name: [] for name in metrics}
    for row in rows:
        point = (row["difference"], row["key"], row["base"], row["candidate"])
        by_metric.setdefault(row["metric"], []).append(point)
    by_metric = {name: points for name, points in by_metric.items() if points}
    most = min(_MOST_POINTS, _MOST_POINTS_IN_ALL // max(1, len(by_metric)))
    return {name: _thin(name, points, max(2, most)) for name, points in by_metric.items()}


def _thin(
    metric: str, points: list[tuple[float, str, float, float]], most: int
) -> dict[str, int | list[Any]]:
    points.sort(key=lambda point: (-point[0], point[1]))
    indexes = list(range(len(points)))
    if len(points) > most:  # evenly spaced, including the first and the last
        indexes = [round(at * (len(points) - 1) / (most - 1)) for at in range(most)]
    shown = [points[index] for index in indexes]
    return {
        "count": len(points),
        "ranks": [index + 1 for index in indexes],
        "keys": [shorten(key, _LONGEST_KEY) for _, key, _, _ in shown],
        "difference": [round_value(difference) for difference, _, _, _ in shown],
        "texts": [
            [
                count_text(index + 1),
                value_text(metric, base),
                value_text(metric, candidate),
                difference_text(metric, difference),
            ]
            for index, (difference, _, base, candidate) in zip(indexes, shown, strict=True)
        ],
    }
