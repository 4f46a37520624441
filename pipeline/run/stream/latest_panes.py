"""The rows of a stream's datasets that no later pane of their window replaces."""

from __future__ import annotations

from typing import Any

import msgspec

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.run.stream.datasets import MEANS, WARNINGS
from goodgain.transforms.core.warnings.codes import NONE as NO_WARNING

_KEY = ("window_start", "metric", "i", "population")


def read_latest_means(folder: str) -> list[Row]:
    """The rows of `means` that are not superseded by a later pane, sorted by window."""
    latest: dict[tuple[Any, ...], Row] = {}
    for row in read_dataset(folder, MEANS.name):
        slice_ = msgspec.json.encode(row["slice"], order="sorted")
        key = (slice_, *(row[name] for name in _KEY))
        before = latest.get(key)
        if before is None or before["pane"] < row["pane"]:
            latest[key] = row
    return sorted(latest.values(), key=lambda row: row["window_start"])


def read_latest_warnings(folder: str) -> list[Row]:
    """The current rows of `warnings`, sorted by window; a window without warnings has none."""
    latest: dict[int, list[Row]] = {}
    for row in read_dataset(folder, WARNINGS.name):
        of_window = latest.setdefault(row["window_start"], [])
        if of_window and of_window[0]["pane"] < row["pane"]:
            of_window.clear()
        if not of_window or of_window[0]["pane"] == row["pane"]:
            of_window.append(row)
    return [row for start in sorted(latest) for row in latest[start] if row["code"] != NO_WARNING]
