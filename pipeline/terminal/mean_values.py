"""Formats rows of means for people: shares in percent, intervals within the metric's range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goodgain.pipeline.terminal.values import decimal
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name


def mean_text(metric: str, value: float | None) -> str:
    """A value of a metric, or a mean of values; a dash for none."""
    if not metric_by_name(metric).in_percent:
        return decimal(value)
    return "-" if value is None else f"{100 * value:.2f} %"


def mean_interval_text(row: Mapping[str, Any]) -> str:
    """The interval of a row of means; a dash for none."""
    if row["ci_low"] is None:
        return "-"
    name = row["metric"]
    within = metric_by_name(name).within
    low, high = (mean_text(name, within(row[end])) for end in ("ci_low", "ci_high"))
    return f"{low} .. {high}"
