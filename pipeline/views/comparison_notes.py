"""The notes below the tables of a comparison: nulls, withheld verdicts, and what is unusual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goodgain.pipeline.document.columns import CellColumn, table_of
from goodgain.pipeline.document.model import (
    Block,
    Sentence,
    TableColumn,
    count,
    difference,
    sentences,
    term,
    value,
)
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow
from goodgain.pipeline.views.comparison_tables import Columns, has_nulls, whole_numbers
from goodgain.transforms.core.metrics.by_name import describe_cautions, list_labels
from goodgain.transforms.core.wording import group_by_text

_NULLS_EXPLAINED = (
    "undefined: conversations on which a metric has no value; they are in no mean above. worst: "
    "the means if each of them had the metric's worst value."
)


_EVERYONE = (
    "conversations that did not search count with gain 0 (population everyone), since the arms "
    "differ in how often they searched at all."
)


def nulls_part(rows: Sequence[ComparisonRow], paired: bool) -> Iterator[Block]:
    """How often each metric is undefined in each arm, and the worst case, if it ever is."""
    shown = list(filter(has_nulls, rows))
    if not shown:
        return
    both: CellColumn[ComparisonRow] = whole_numbers(
        "in both", "", lambda row: count(row.undefined_in_both)
    )
    columns: Columns = [
        CellColumn(TableColumn("undefined", widest=34), lambda row: term(row.metric)),
        whole_numbers("in base", "", lambda row: count(row.undefined_in_base)),
        whole_numbers("in cand.", "", lambda row: count(row.undefined_in_candidate)),
        *([both] if paired else []),
        whole_numbers("worst base", "", lambda row: value(row.metric, row.worst_base_mean)),
        whole_numbers("cand.", "", lambda row: value(row.metric, row.worst_candidate_mean)),
        whole_numbers("diff.", "", lambda row: difference(row.metric, row.worst_difference)),
    ]
    yield table_of(columns, shown)
    yield Sentence(_NULLS_EXPLAINED, "quiet", indent=1)


def withheld_part(rows: Sequence[ComparisonRow]) -> list[Sentence]:
    """The metrics that are not comparable, by reason, and a note if the population is unusual."""
    by_reason = group_by_text((row.reason, row.metric) for row in rows if row.reason is not None)
    lines = [
        f"Not comparable: {_name_metrics(metrics, rows)}: {reason}."
        for reason, metrics in by_reason.items()
    ]
    if everyone := [row.metric for row in rows if row.population == "everyone"]:
        lines.append(f"{_name_metrics(everyone, rows)}: {_EVERYONE}")
    return sentences(lines, "warning")


def notes_part(rows: Sequence[ComparisonRow]) -> list[Sentence]:
    """Notes on the tests, and how better values may mislead."""
    noted = group_by_text((row.note, row.metric) for row in rows if row.note)
    lines = [f"{_name_metrics(metrics, rows)}: {note}." for note, metrics in noted.items()]
    lines += describe_cautions(row.metric for row in rows)
    return sentences(lines, "quiet", indent=1)


def _name_metrics(metrics: Sequence[str], rows: Sequence[ComparisonRow]) -> str:
    """The labels of metrics; if they are all of several in a table, only that."""
    if len(metrics) > 1 and len(metrics) == len(rows):
        return "All of these metrics"
    return list_labels(metrics)
