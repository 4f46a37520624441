"""The document of a stream at its end: latest means by window, and the balance of records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from goodgain.pipeline.document.console import message_console, print_json, result_console
from goodgain.pipeline.document.model import (
    Block,
    Column,
    Document,
    Sentence,
    count,
    document,
    sentences,
    table,
    value,
)
from goodgain.pipeline.document.numbers import minute
from goodgain.pipeline.document.terminal import show
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.formats import Row
from goodgain.pipeline.run.stream.live_counters import LiveCounters
from goodgain.pipeline.run.stream.summary import (
    facts_of,
    is_of_all,
    latest_means,
    latest_warnings,
    without_means,
)
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.metrics.by_name import cautions, metric_by_name
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.warnings.warning import DataWarning

_SHOWN_METRICS = ("CG", "DCG", "RAG", "SRE", "SRR", "N")
_SHOWN_WINDOWS = 7


def print_summary(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print the document of a stream."""
    show(stream_document(config, counters, journal), result_console())


def print_findings(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print only its warnings and notes, on stderr."""
    has_means = bool(latest_means(config.output))
    findings = document(
        _latest_warnings(config.output) if has_means else _running_warnings(counters),
        _notes(counters, journal),
    )
    show(findings, message_console())


def print_facts(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print what the document says as JSON, with the latest means at N of every slice."""
    print_json(facts_of(config.output, counters))


def stream_document(config: StreamConfig, counters: LiveCounters, journal: Journal) -> Document:
    """The latest means by window, and what became of the records."""
    means = latest_means(config.output)
    totals = counters.totals
    waiting = without_means(means, totals.in_means)
    yet = f" ({waiting:,} of them in no window's means yet)" if waiting else ""
    still_open = counters.read - counters.out
    return document(
        _latest_warnings(config.output) if means else (),
        means_part(means, counters, config.cluster),
        Sentence(
            f"Conversations: {totals.conversations:,} closed, of which {totals.in_means:,} in the "
            f"means{yet}; {counters.open:,} still open.",
            apart=True,
        ),
        Sentence(
            f"Records: {totals.records + still_open:,} read = {totals.scored:,} scored + "
            f"{totals.earlier_turn:,} of earlier turns + {totals.redelivered:,} redelivered + "
            f"{totals.rejected:,} rejected + {totals.late:,} late + {still_open:,} still open."
        ),
        _notes(counters, journal),
        Sentence(f"Outputs: {config.output}; start again with the same options to continue."),
    )


def means_part(
    means: Sequence[Row], counters: LiveCounters, cluster: str | None
) -> Iterator[Block]:
    """The means by window, with notes.

    Args:
      counters: running means, shown if there are no rows yet.
    """
    windows: dict[int, dict[str, Row]] = defaultdict(dict)
    for row in means:
        if is_of_all(row):
            windows[row["window_start"]][row["metric"]] = row
    if not windows:
        yield from _running_part(counters)
        return
    shown = [(start, windows[start]) for start in sorted(windows)[-_SHOWN_WINDOWS:]]
    yield table(
        ("window", "n", *_columns(_SHOWN_METRICS), Column("")),
        [
            (
                minute(start),
                count(rows["CG"]["n"] + rows["CG"]["undefined"]),
                *(value(name, rows[name]["mean"]) for name in _SHOWN_METRICS),
                "" if rows["CG"]["is_last"] else "open",
            )
            for start, rows in shown
        ],
    )
    last = sum(rows["CG"]["is_last"] for rows in windows.values())
    yield Sentence(f"Windows: {last:,} complete, {len(windows) - last:,} still open.")
    for caution, labels in cautions(_SHOWN_METRICS).items():
        yield Sentence(f"{', '.join(labels)}: {caution}")
    if cluster is not None:
        # The intervals depend on the number of clusters.
        by_window = ", ".join(
            f"{minute(start)}: {rows['CG']['clusters'] or 0:,}" for start, rows in shown
        )
        yield Sentence(f"Clusters by {cluster}: {by_window}.")


def _running_part(counters: LiveCounters) -> Iterator[Block]:
    if not counters.means:
        yield Sentence(
            "No means yet: no conversation that counts in them has closed since this start."
        )
        return
    yield from _running_warnings(counters)
    means = [value(name, mean) for name, mean in counters.means.items()]
    yield table(
        ("mean so far", *_columns(counters.means)), [(f"{counters.closed:,} closed", *means)]
    )
    yield Sentence(
        "Windows: none has means yet; these are over the conversations closed since this start."
    )


def _columns(metrics: Iterable[str]) -> list[Column]:
    return [Column(metric_by_name(name).label, right=True) for name in metrics]


def _latest_warnings(output: str) -> Iterator[Sentence]:
    """Data warnings of the latest windows, to show before the numbers that they put in doubt."""
    rows = latest_warnings(output)
    windows = sorted({row["window_start"] for row in rows})[-_SHOWN_WINDOWS:]
    for row in rows:
        if row["window_start"] in windows:
            warning = DataWarning(*(row[name] for name in DataWarning.__struct_fields__))
            yield Sentence(f"{minute(row['window_start'])}: {warning_text(warning)}", "warning")


def _running_warnings(counters: LiveCounters) -> list[Sentence]:
    return sentences(map(warning_text, counters.warnings), "warning")


def _notes(counters: LiveCounters, journal: Journal) -> Iterator[Sentence]:
    """What the user should look into."""
    source = journal.totals()
    ahead = "records had times too far ahead of the others to move the watermark; check clocks."
    changed = "files changed after they were read; the changes were not read."
    missed = "conversations closed after the last means of their window, so they are in no mean."
    notes = ((source.ahead, ahead), (source.changed, changed), (counters.missed, missed))
    for number, what in notes:
        if number:
            yield Sentence(f"Note: {number:,} {what}")
