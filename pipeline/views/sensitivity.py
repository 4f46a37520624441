"""A comparison under other policies for duplicates, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from goodgain.pipeline.document.columns import CellColumn, table_of
from goodgain.pipeline.document.model import (
    Document,
    Heading,
    Sentence,
    TableBlock,
    TableColumn,
    difference,
    document,
    interval,
    term,
    value,
    verdict,
)
from goodgain.pipeline.document.numbers import probability
from goodgain.pipeline.studies.comparison.comparison_row import SensitivityRow
from goodgain.pipeline.views.comparison_tables import whole_numbers
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.metrics.by_name import list_labels


def sensitivity_document(rows: Sequence[SensitivityRow], correction: AdjustmentMethod) -> Document:
    """For each metric the difference under every policy, and which verdicts change."""
    changed = list(dict.fromkeys(row.metric for row in rows if row.verdict_changes))
    conclusion = (
        f"Verdicts that change: {list_labels(changed)}." if changed else "No verdict changes."
    )
    return document(
        Heading("Under other policies, all conversations, at N"),
        sensitivity_table(rows, correction),
        Sentence(conclusion),
    )


def sensitivity_table(rows: Sequence[SensitivityRow], correction: AdjustmentMethod) -> TableBlock:
    """For each metric the difference under every policy, metric after metric."""
    first = {row.metric: row.policy for row in reversed(rows)}
    metrics = list(dict.fromkeys(row.metric for row in rows))
    columns: list[CellColumn[SensitivityRow]] = [
        CellColumn(
            TableColumn("metric", widest=20),
            lambda row: term(row.metric) if row.policy == first[row.metric] else "",
        ),
        CellColumn(TableColumn("policy", whole=True), lambda row: row.policy),
        whole_numbers("base", "", lambda row: value(row.metric, row.base_mean), wide=True),
        whole_numbers(
            "candidate", "", lambda row: value(row.metric, row.candidate_mean), wide=True
        ),
        whole_numbers(
            "diff.", "", lambda row: difference(row.metric, row.difference), long="difference"
        ),
        whole_numbers("interval", "", lambda row: interval(row.metric, *row.shown_interval)),
        whole_numbers("p adj.", "", lambda row: probability(getattr(row, f"p_{correction}"))),
        CellColumn(
            TableColumn("verdict", whole=True),
            lambda row: verdict(row.verdict, "(changes)" if row.verdict_changes else ""),
        ),
    ]
    caption = "Differences under other policies: all conversations, at the last iteration"
    return table_of(columns, sorted(rows, key=lambda row: metrics.index(row.metric)), caption)
