"""The summary that the nightly job prints at its end."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from goodgain.pipeline.document.console import metric_table
from goodgain.pipeline.document.numbers import difference_text, interval_text, value_text
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.folder import REPORT
from goodgain.pipeline.studies.comparison.measures import HEADLINE
from goodgain.pipeline.studies.nightly.config import NightlyConfig
from goodgain.pipeline.studies.nightly.days.history import TABLE, DayChange, DayEntry
from goodgain.pipeline.studies.nightly.job import NightlyResult
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name
from goodgain.transforms.core.scoring.registry import cautions
from goodgain.transforms.core.wording import counted


def print_result(console: Console, result: NightlyResult, config: NightlyConfig) -> None:
    """Print the verdict on each day, its headline metrics, and which days need a new run."""
    output = config.output
    for entry in result.entries:
        _print_day(console, entry, output)
    if not result.entries:
        _print(console, "No day to run.")
    for late in result.late:
        _print(console, f"Input changed since the run of {late}; run it again with --rerun-late.")
    _print(console, f"History: {output}/{TABLE}")


def print_warnings(console: Console, result: NightlyResult) -> None:
    """Print only the warnings about the data of each day."""
    for entry in result.entries:
        for warning in entry.warnings:
            _print(console, f"{entry.date}: {warning_text(warning)}")


def _print_day(console: Console, entry: DayEntry, output: str) -> None:
    _print(console, f"{entry.date}: {entry.verdict}")
    for line in (*entry.reasons, *entry.notes):
        _print(console, line, indent="  ")
    for warning in entry.warnings:
        _print(console, warning_text(warning), indent="  ")
    if not entry.means:
        return
    _print_means(console, entry)
    _print(console, f"Report: {output}/date={entry.date}/{REPORT}")


def _print_means(console: Console, entry: DayEntry) -> None:
    table = metric_table("mean", "n", "baseline", "difference", "95 % interval")
    table.add_column("verdict", no_wrap=True)
    for name in HEADLINE:
        mean, change = entry.means.get(name), entry.changes.get(name)
        if mean is None:
            continue
        row = [metric_by_name(name).label, value_text(name, mean.mean), f"{mean.n:,}"]
        if change is not None and not change.is_of(mean):
            table.add_row(*row)
            row = ["  of those compared", value_text(name, change.mean), f"{change.n:,}"]
        table.add_row(*row, *_change(name, change))
    console.print(table)
    for line in _remarks(entry):
        _print(console, line, indent="  ")
    for caution, labels in cautions(HEADLINE).items():
        _print(console, f"{', '.join(labels)}: {caution}", indent="  ")


def _remarks(entry: DayEntry) -> Iterator[str]:
    """Notes on differences: which do not cover all conversations of the day, or are not shown."""
    about: dict[str, list[str]] = {}
    for name, change in entry.changes.items():
        notes = [change.about]
        if not change.about and name in entry.means and change.n != entry.means[name].n:
            notes.append(
                f"baseline and difference are over the {counted(change.n, 'conversation')} of the "
                f"day, and {change.n_base:,} of the baseline, that can be compared"
            )
        if change.shown_by_itself:
            notes.append("not shown once the verdict is corrected for the number of metrics")
        for note in filter(None, notes):
            about.setdefault(note, []).append(metric_by_name(name).label)
    for text, labels in about.items():
        yield f"{', '.join(labels)}: {text}."


def _change(metric: str, change: DayChange | None) -> tuple[str, ...]:
    if change is None:
        return ()
    return (
        value_text(metric, change.base),
        difference_text(metric, change.difference),
        interval_text(metric, change.ci_low, change.ci_high),
        change.verdict,
    )


def _print(console: Console, line: str, indent: str = "") -> None:
    console.print(indent + printable(line), soft_wrap=True)
