"""The gaps in a comparison, as text: withheld verdicts, null values, and the worst case."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from goodgain.pipeline.comparison.rows import ComparisonRow
from goodgain.pipeline.terminal.console import plain_table
from goodgain.pipeline.terminal.metric_values import difference_text, value_text
from goodgain.transforms.core.scoring.metric_by_name import labels, metric_by_name

_EVERYONE = (
    "conversations that did not search count with gain 0 (population everyone), since the arms "
    "differ in how often they searched at all."
)


def withheld_lines(rows: Sequence[ComparisonRow]) -> list[str]:
    """The metrics that are not comparable, by reason, and a note if the population is unusual."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            by_reason.setdefault(row.reason, []).append(row.metric)
    lines = [
        f"Not comparable: {named_of(metrics, rows)}: {reason}."
        for reason, metrics in by_reason.items()
    ]
    if everyone := [row.metric for row in rows if row.population == "everyone"]:
        lines.append(f"{named_of(everyone, rows)}: {_EVERYONE}")
    return lines


def named_of(metrics: Sequence[str], rows: Sequence[ComparisonRow]) -> str:
    """The labels of metrics; if they are all of several in a table, only that."""
    if len(metrics) > 1 and len(metrics) == len(rows):
        return "All of these metrics"
    return labels(metrics)


def nulls_table(rows: Sequence[ComparisonRow], paired: bool) -> Table | None:
    """How often each metric is null in base and candidate, and the worst case; None if never."""
    shown = [
        row
        for row in rows
        if row.undefined_in_base or row.undefined_in_candidate or row.undefined_in_both
    ]
    if not shown:
        return None
    table = plain_table()
    table.add_column("null", overflow="fold")
    headings = ["in base", "in cand.", *(["in both"] if paired else [])]
    for heading in (*headings, "worst base", "cand.", "diff."):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in shown:
        counts = [row.undefined_in_base, row.undefined_in_candidate]
        if paired:
            counts.append(row.undefined_in_both)
        table.add_row(
            Text(metric_by_name(row.metric).label),
            *(f"{count:,}" for count in counts),
            value_text(row.metric, row.worst_base_mean),
            value_text(row.metric, row.worst_candidate_mean),
            difference_text(row.metric, row.worst_difference),
        )
    return table


NULLS_EXPLAINED = (
    "null: conversations on which a metric has no value; they are in no mean above. worst: the "
    "means if each of them had the metric's worst value."
)
