"""The document of a stream at its end: latest means by window, and the balance of records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from goodgain.pipeline.document.console import message_console, print_json, result_console
from goodgain.pipeline.document.model import (
    Block,
    Document,
    Sentence,
    TableColumn,
    count,
    document,
    mean,
    sentences,
    table,
    value,
)
from goodgain.pipeline.document.numbers import minute
from goodgain.pipeline.document.terminal import show
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.run.stream.latest_panes import read_latest_means, read_latest_warnings
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.run.stream.summary import (
    continue_since,
    count_without_means,
    facts_of,
    is_of_all,
)
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.views.means import undefined_part
from goodgain.pipeline.views.outcomes import outcome_rows_text
from goodgain.pipeline.views.records import balance_sentence
from goodgain.transforms.core.metrics.by_name import describe_cautions, list_labels, metric_by_name
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.metrics.own_names import asked_for
from goodgain.transforms.core.warnings.warning import DataWarning

_HEADLINE = headline("stream")
_SHOWN_WINDOWS = 7


def print_summary(config: StreamConfig, counts: StreamCounts) -> None:
    """Print the document of a stream."""
    show(stream_document(config, counts), result_console())


def print_findings(config: StreamConfig, counts: StreamCounts) -> None:
    """Print only its warnings and notes, on stderr."""
    has_means = bool(read_latest_means(config.output))
    findings = document(
        _latest_warnings(config.output) if has_means else _running_warnings(counts),
        _notes(counts),
    )
    show(findings, message_console())


def print_facts(config: StreamConfig, counts: StreamCounts) -> None:
    """Print what the document says as JSON, with the latest means at N of every slice."""
    print_json(facts_of(config, counts))


def stream_document(config: StreamConfig, counts: StreamCounts) -> Document:
    """The latest means by window, and what became of the records."""
    means = read_latest_means(config.output)
    closed, in_means = (
        counts.totals.get(f"conversations.{name}", 0) for name in ("total", "in_means")
    )
    waiting = count_without_means(means, in_means, config.since_window)
    yet = f" ({waiting:,} of them in no window's means yet)" if waiting else ""
    later = continue_since(config, counts)
    again = f"; to go on from there, add --since {later} --overwrite" if later else ""
    return document(
        _latest_warnings(config.output) if means else (),
        means_part(means, counts, config),
        Sentence(
            f"Conversations: {closed:,} closed, of which {in_means:,} in the "
            f"means{yet}; {counts.open:,} still open.",
            apart=True,
        ),
        balance_sentence(counts.records),
        Sentence(outcome_rows_text(counts.outcomes)) if counts.outcomes else (),
        _notes(counts),
        Sentence(f"Outputs: {config.output}{again}."),
    )


def means_part(means: Sequence[Row], counts: StreamCounts, config: StreamConfig) -> Iterator[Block]:
    """The means by window: the headline, then what was asked for, with notes.

    Args:
      counts: running means, shown if there are no rows yet.
    """
    windows: dict[int, dict[str, Row]] = defaultdict(dict)
    for row in means:
        if is_of_all(row):
            windows[row["window_start"]][row["metric"]] = row
    if not windows:
        yield from _running_part(counts, config)
        return
    shown = [(start, windows[start]) for start in sorted(windows)[-_SHOWN_WINDOWS:]]
    names = list(dict.fromkeys((*_HEADLINE, *asked_for(config.metrics))))
    yield table(
        (TableColumn("window", whole=True), "n", *_columns(names), TableColumn("")),
        [
            (
                minute(start),
                count(rows["CG"]["n"] + rows["CG"]["undefined"]),
                # An earlier stream, with other metrics, may have written an earlier window.
                *(mean(rows[name]) if name in rows else value(name, None) for name in names),
                "" if rows["CG"]["is_last"] else "open",
            )
            for start, rows in shown
        ],
    )
    last = sum(rows["CG"]["is_last"] for rows in windows.values())
    yield Sentence(f"Windows: {last:,} complete, {len(windows) - last:,} still open.")
    yield from undefined_part(
        {name: sum(rows[name]["undefined"] for _, rows in shown if name in rows) for name in names}
    )
    yield from _own_ideal_part(names, config)
    yield from sentences(describe_cautions(names))
    cluster = config.cluster
    if cluster is not None:
        # The intervals depend on the number of clusters.
        by_window = ", ".join(
            f"{minute(start)}: {rows['CG']['clusters'] or 0:,}" for start, rows in shown
        )
        yield Sentence(f"Clusters by {cluster}: {by_window}.")


def _own_ideal_part(names: Iterable[str], config: StreamConfig) -> Iterator[Sentence]:
    """Which metrics are measured by what the stream itself found."""
    own = [
        metric.name
        for metric in map(metric_by_name, names)
        if metric.has_own_ideal(judged=config.pool is not None, judged_for_aspects=False)
    ]
    if own:
        yield Sentence(
            f"{list_labels(own)}: the ideal list has only what this stream found; comparable "
            "between streams only with the same --pool."
        )


def _running_part(counts: StreamCounts, config: StreamConfig) -> Iterator[Block]:
    if not counts.means:
        yield Sentence("No means yet: no conversation that counts in them has closed.")
        return
    yield from _running_warnings(counts)
    means = [value(name, number) for name, number in counts.means.items()]
    yield table(("mean so far", *_columns(counts.means)), [(f"{counts.closed:,} closed", *means)])
    yield from _own_ideal_part(counts.means, config)
    yield Sentence("Windows: none has means yet; these are over the conversations closed so far.")


def _columns(metrics: Iterable[str]) -> list[TableColumn]:
    return [TableColumn(metric_by_name(name).label, right=True) for name in metrics]


def _latest_warnings(output: str) -> Iterator[Sentence]:
    """Data warnings of the latest windows, to show before the numbers that they put in doubt."""
    rows = read_latest_warnings(output)
    windows = sorted({row["window_start"] for row in rows})[-_SHOWN_WINDOWS:]
    for row in rows:
        if row["window_start"] in windows:
            warning = DataWarning(*(row[name] for name in DataWarning.__struct_fields__))
            yield Sentence(f"{minute(row['window_start'])}: {warning_text(warning)}", "warning")


def _running_warnings(counts: StreamCounts) -> list[Sentence]:
    return sentences(map(warning_text, counts.warnings), "warning")


def _notes(counts: StreamCounts) -> Iterator[Sentence]:
    """What the user should look into."""
    ahead = "records had times too far ahead of the others to move the watermark; check clocks."
    changed = "files changed after they were read; the changes were not read."
    missed = "conversations closed after the last means of their window, so they are in no mean."
    notes = ((counts.ahead, ahead), (counts.changed, changed), (counts.missed, missed))
    for number, what in notes:
        if number:
            yield Sentence(f"Note: {number:,} {what}")
