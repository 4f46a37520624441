"""The means of a run for readers: a table, whose pages have more columns, and notes on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Sentence,
    TableBlock,
    TableColumn,
    count,
    mean,
    mean_interval,
    sentences,
    term,
    value,
)
from goodgain.pipeline.document.numbers import clipped_interval, mean_interval_text, mean_text
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.unlabelled_arms import NO_LABEL
from goodgain.transforms.core.metrics.by_name import describe_cautions, list_labels, metric_by_name
from goodgain.transforms.core.metrics.headline import (
    headline_among,
    metrics_declared_for,
    shorten_table,
)
from goodgain.transforms.core.metrics.own_names import asked_for
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import explain_missing_interval, format_count, group_by_text

Row = Mapping[str, Any]
_BOUNDS = ("worst", "best")
OWN_IDEAL = (
    "own ideal: the ideal list has only what this run found; comparable between runs only with "
    "the same judgments ("
    + Remedy("qrels")
    + " or "
    + Remedy("pool")
    + "; of aspects "
    + Remedy("aspect_qrels")
    + ")."
)


def _value(part: str) -> Any:
    return lambda row: value(row["metric"], row.get(part))


MEANS: tuple[CellColumn[Row], ...] = (
    CellColumn(
        TableColumn("unit", wide=True), lambda row: Cell(metric_by_name(row["metric"]).unit)
    ),
    numbers("mean", "mean", mean),
    numbers("95 % interval", "interval", mean_interval),
    numbers("median", "p50", _value("p50")),
    numbers("unlabelled at worst", "worst", _value("worst"), wide=True),
    numbers("at best", "best", _value("best"), wide=True),
    numbers("n", "n", lambda row: count(row["n"])),
    numbers("undefined", "undefined", lambda row: count(row["undefined"]), wide=True),
)


def means_table(
    rows: Iterable[Row], manifest: RunManifest, caption: str = "", live: bool = True
) -> TableBlock:
    """Means at N with intervals, from rows of `means`.

    Args:
      caption: for pages.
      live: whether a page shows those of the slice that the reader chose.
    """
    rows = list(rows)

    def name(row: Row) -> Cell:
        own = manifest.has_own_ideal(metric_by_name(row["metric"]))
        return term(row["metric"], "own ideal" if own else "")

    bounded = any(row.get(part) is not None for row in rows for part in _BOUNDS)
    further = [column for column in MEANS if bounded or column.column.part not in _BOUNDS]
    columns = [CellColumn(TableColumn("metric", widest=36), name), *further]
    return table_of(columns if live else [column.fixed for column in columns], rows, caption)


def choose_metrics(rows: Mapping[str, Row], manifest: RunManifest) -> list[str]:
    """The metrics that a short table shows: at most eight of the headline, then those asked for.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.
    """
    headline = headline_among("table", rows)
    asked = [name for name in asked_for(manifest.options.metrics) if name in rows]
    if any(lacks_labels(rows[name]) for name in (*headline, *asked)):
        known = (name for name in headline if not lacks_labels(rows[name]))
        headline = tuple(dict.fromkeys((*metrics_declared_for("unlabelled"), *known)))
        asked = [name for name in asked if not lacks_labels(rows[name])]
    return list(dict.fromkeys((*shorten_table(headline), *asked)))


def lacks_labels(row: Row) -> bool:
    """Whether a mean is unknown for lack of labels."""
    return row["mean"] is None and row["note"] == NO_LABEL


def means_part(rows: Mapping[str, Row], manifest: RunManifest, report: str = "") -> Iterator[Block]:
    """The short table of means, with notes.

    Args:
      rows: the rows of `means` over all conversations at N, by metric.
      report: path of the report; "" = there is none.
    """
    if not any(row["n"] or row["undefined"] for row in rows.values()):
        conversations = manifest.conversations.total
        reason = "every conversation is excluded" if conversations else "there is no conversation"
        yield Sentence(f"There are no means, since {reason}.")
        return
    names = choose_metrics(rows, manifest)
    yield means_table([rows[name] for name in names], manifest)
    if any(manifest.has_own_ideal(metric_by_name(name)) for name in names):
        yield Sentence(OWN_IDEAL)
    yield from _notes([rows[name] for name in names])
    yield from _lacking_part(rows.values())
    known = {name for name, row in rows.items() if row["mean"] is not None}
    if further := len(known.difference(names)):
        yield Sentence(
            f"The means of {format_count(further, 'more metric')} are in the dataset `means`"
            + (" and in the report." if report else ".")
        )


def _notes(rows: Sequence[Row]) -> Iterator[Sentence]:
    """Why means have no interval, for which conversations they are null, and how they mislead."""
    lacking = (row for row in rows if row["ci_low"] is None and row["note"])
    noted = group_by_text((row["note"], row["metric"]) for row in lacking)
    for note, names in noted.items():
        why = explain_missing_interval(note, list_labels(names))
        yield Sentence(f"{why[0].upper()}{why[1:]}.")
    yield from undefined_part({row["metric"]: row["undefined"] for row in rows})
    yield from sentences(describe_cautions(row["metric"] for row in rows))


def undefined_part(undefined: Mapping[str, int]) -> Iterator[Sentence]:
    """How many conversations have no value, by metric."""
    without = [
        f"{metric_by_name(name).label} ({number:,})" for name, number in undefined.items() if number
    ]
    if without:
        yield Sentence(f"Conversations without a value: {', '.join(without)}.")


def _lacking_part(rows: Iterable[Row]) -> Iterator[Sentence]:
    lacking = sum(lacks_labels(row) for row in rows)
    if lacking:
        yield Sentence(
            f"No result has a label, so gain and {format_count(lacking, 'metric')} that need "
            "labels are unknown: give `gain` in the traces, "
            + Remedy("labels")
            + ", "
            + Remedy("qrels")
            + " or a "
            + Remedy("pool")
            + "."
        )


def everyone_part(at_end: Sequence[Row]) -> Iterator[Sentence]:
    """The headline with the conversations that never searched, if there are any."""
    rows = {row["metric"]: row for row in at_end if row["population"] == "everyone"}
    means = [
        f"{metric_by_name(name).label} "
        f"{mean_text(name, row['mean'], row['n'], row['undefined'])} "
        f"({mean_interval_text(name, *clipped_interval(row))})"
        for name in headline_among("everyone", rows)
        if (row := rows.get(name)) and row["mean"] is not None
    ]
    if means:
        yield Sentence(
            "Including conversations without search, with gain 0 (population everyone): "
            f"{', '.join(means)}."
        )
