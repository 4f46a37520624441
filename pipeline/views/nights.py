"""The document of a call of the nightly job: the verdict on each day, and its headline."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    Sentence,
    TableColumn,
    count,
    difference,
    document,
    interval,
    sentences,
    table,
    term,
    value,
    verdict,
)
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.folder import REPORT
from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days.entry import DayChange, DayEntry
from goodgain.pipeline.studies.nightly.days.history import TABLE
from goodgain.pipeline.studies.nightly.job import NightlyResult
from goodgain.transforms.core.metrics.by_name import describe_cautions, metric_by_name
from goodgain.transforms.core.metrics.headline import headline_among
from goodgain.transforms.core.wording import format_count, group_by_text

_COLUMNS = (
    TableColumn("metric"),
    *(
        TableColumn(heading, right=True, whole=True)
        for heading in ("mean", "n", "baseline", "difference", "95 % interval")
    ),
    TableColumn("verdict", whole=True),
)


def nights_document(result: NightlyResult, config: NightlyConfig) -> Document:
    """The verdict on each day, its headline metrics, and which days need a new run."""
    output = config.output
    return document(
        *(_day(entry, output) for entry in result.entries),
        None if result.entries else Sentence("No day to run."),
        (
            Sentence(f"Input changed since the run of {late}; run it again with --rerun-late.")
            for late in result.late
        ),
        Sentence(f"History: {output}/{TABLE}"),
    )


def nights_warnings(result: NightlyResult) -> Document:
    """Only the warnings about the data of each day."""
    return document(
        Sentence(f"{entry.date}: {warning_text(warning)}", "warning")
        for entry in result.entries
        for warning in entry.warnings
    )


def _day(entry: DayEntry, output: str) -> Iterator[Block]:
    yield Heading(f"{entry.date}: {entry.verdict}")
    yield from sentences((*entry.reasons, *entry.notes), indent=1)
    yield from sentences(map(warning_text, entry.warnings), "warning", indent=1)
    if not entry.means:
        return
    shown = headline_among("comparison", entry.means)
    yield table(_COLUMNS, [row for name in shown for row in _rows(entry, name)])
    yield from sentences(_remarks(entry), indent=1)
    yield from sentences(describe_cautions(shown), indent=1)
    yield Sentence(f"Report: {output}/date={entry.date}/{REPORT}")


def _rows(entry: DayEntry, name: str) -> Iterator[tuple[Cell, ...]]:
    """The mean of a metric and its change, in two rows if they are of different conversations."""
    mean, change = entry.means[name], entry.changes.get(name)
    of_mean = (term(name), value(name, mean.mean), count(mean.n))
    if change is None:
        yield of_mean
    elif change.is_of(mean):
        yield (*of_mean, *_change(name, change))
    else:
        yield of_mean
        compared = Cell("  of those compared")
        yield (compared, value(name, change.mean), count(change.n), *_change(name, change))


def _change(metric: str, change: DayChange) -> tuple[Cell, ...]:
    return (
        value(metric, change.base),
        difference(metric, change.difference),
        interval(metric, change.ci_low, change.ci_high),
        verdict(change.verdict),
    )


def _remarks(entry: DayEntry) -> Iterator[str]:
    """Notes on differences: which do not cover all conversations of the day, or are not shown."""
    said = ((note, metric_by_name(name).label) for name, note in _notes(entry) if note)
    for text, labels in group_by_text(said).items():
        yield f"{', '.join(labels)}: {text}."


def _notes(entry: DayEntry) -> Iterator[tuple[str, str]]:
    """Notes on the difference of each metric; "" for none."""
    for name, change in entry.changes.items():
        yield name, change.about
        if not change.about and name in entry.means and change.n != entry.means[name].n:
            yield (
                name,
                f"baseline and difference are over the {format_count(change.n, 'conversation')} of "
                f"the day, and {change.n_base:,} of the baseline, that can be compared",
            )
        if change.shown_by_itself:
            yield name, "not shown once the verdict is corrected for the number of metrics"
