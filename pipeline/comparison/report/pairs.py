"""The difference of every pair, thinned out to fit on a page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from goodgain.pipeline.report.numbers import rounded
from goodgain.pipeline.terminal.safe_text import shortened

Row = Mapping[str, Any]
_MOST_POINTS = 1_000
_MOST_POINTS_IN_ALL = 4_000
_LONGEST_KEY = 40


def pairs_by_metric(
    rows: Iterable[Row], metrics: Sequence[str]
) -> dict[str, dict[str, int | list[Any]]]:
    """The pairs of each metric as the page's script needs them, in the order of `metrics`.

    Args:
      rows: rows of the dataset `differences`, in any order.

    Returns:
      By metric, the `count` of its pairs and, of all of them or evenly spaced ones, the largest
      difference first: `ranks` from 1, `keys`, and values `base`, `candidate`, `difference`.
    """
    by_metric: dict[str, list[tuple[float, str, float, float]]] = {name: [] for name in metrics}
    for row in rows:
        point = (row["difference"], row["key"], row["base"], row["candidate"])
        by_metric.setdefault(row["metric"], []).append(point)
    by_metric = {name: points for name, points in by_metric.items() if points}
    most = min(_MOST_POINTS, _MOST_POINTS_IN_ALL // max(1, len(by_metric)))
    return {name: _thinned(points, max(2, most)) for name, points in by_metric.items()}


def _thinned(
    points: list[tuple[float, str, float, float]], most: int
) -> dict[str, int | list[Any]]:
    points.sort(key=lambda point: (-point[0], point[1]))
    indexes = _evenly_spaced(len(points), most)
    shown = [points[index] for index in indexes]
    return {
        "count": len(points),
        "ranks": [index + 1 for index in indexes],
        "keys": [shortened(key, _LONGEST_KEY) for _, key, _, _ in shown],
        "base": [rounded(base) for _, _, base, _ in shown],
        "candidate": [rounded(candidate) for _, _, _, candidate in shown],
        "difference": [rounded(difference) for difference, _, _, _ in shown],
    }


def _evenly_spaced(count: int, most: int) -> list[int]:
    """At most `most` evenly spaced indexes below `count`, including the first and the last."""
    if count <= most:
        return list(range(count))
    return [round(at * (count - 1) / (most - 1)) for at in range(most)]
