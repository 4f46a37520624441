"""The summary at the end of a stream: latest means by window, and the balance of records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from rich.console import Console
from rich.text import Text

from goodgain.pipeline.document.console import (
    message_console,
    plain_table,
    print_json,
    print_line,
    result_console,
)
from goodgain.pipeline.document.numbers import minute, value_text
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.results.data_warnings import warning_text
from goodgain.pipeline.results.folder import read_dataset
from goodgain.pipeline.results.formats import Row
from goodgain.pipeline.results.manifest import OUTCOMES
from goodgain.pipeline.run.stream.datasets import MEANS, WARNINGS
from goodgain.pipeline.run.stream.live_counters import LiveCounters
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.metrics.by_name import cautions, metric_by_name
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.warnings.codes import NONE as NO_WARNING
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import counted

_SHOWN_METRICS = ("CG", "DCG", "RAG", "SRE", "SRR", "N")
_SHOWN_WINDOWS = 7
_KEY = ("window_start", "metric", "i", "population")


def print_findings(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print only the warnings and notes of `print_summary`, on stderr."""
    console = message_console()
    has_means = bool(latest_means(config.output))
    warnings = _latest_warnings(config.output) if has_means else _running_warnings(counters)
    for warning in warnings:
        print_line(console, warning)
    for line in _notes(counters, journal):
        print_line(console, line)


def print_document(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print what `print_summary` shows as JSON, with the latest means at N of every slice."""
    totals, still_open = counters.totals, counters.read - counters.out
    print_json(
        {
            "output": config.output,
            "means": [row for row in latest_means(config.output) if row["i"] is None],
            "warnings": latest_warnings(config.output),
            "conversations": {
                "closed": totals.conversations,
                "in_means": totals.in_means,
                "open": counters.open,
                "missed_by_means": counters.missed,
            },
            "records": {
                "read": totals.records + still_open,
                **{name: getattr(totals, name) for name in OUTCOMES},
                "open": still_open,
            },
        }
    )


def print_summary(config: StreamConfig, counters: LiveCounters, journal: Journal) -> None:
    """Print the summary of a stream."""
    console = result_console()
    means = latest_means(config.output)
    for warning in _latest_warnings(config.output) if means else ():
        print_line(console, warning)
    print_means(console, means, counters, config.cluster)
    totals = counters.totals
    waiting = without_means(means, totals.in_means)
    yet = f" ({waiting:,} of them in no window's means yet)" if waiting else ""
    print_line(
        console,
        f"\nConversations: {totals.conversations:,} closed, of which {totals.in_means:,} in the "
        f"means{yet}; {counters.open:,} still open.",
    )
    still_open = counters.read - counters.out
    read = totals.records + still_open
    print_line(
        console,
        f"Records: {read:,} read = {totals.scored:,} scored + {totals.earlier_turn:,} of earlier "
        f"turns + {totals.redelivered:,} redelivered + {totals.rejected:,} rejected + "
        f"{totals.late:,} late + {still_open:,} still open.",
    )
    for line in _notes(counters, journal):
        print_line(console, line)
    print_line(console, f"Outputs: {config.output}; start again with the same options to continue.")


def _latest_warnings(output: str) -> Iterator[Text]:
    """Data warnings of the latest windows, to print before the numbers that they put in doubt."""
    rows = latest_warnings(output)
    windows = sorted({row["window_start"] for row in rows})[-_SHOWN_WINDOWS:]
    for row in rows:
        if row["window_start"] in windows:
            warning = DataWarning(*(row[name] for name in DataWarning.__struct_fields__))
            text = printable(f"{minute(row['window_start'])}: {warning_text(warning)}")
            yield Text(text, style="yellow")


def _running_warnings(counters: LiveCounters) -> Iterator[Text]:
    for warning in counters.warnings:
        yield Text(printable(warning_text(warning)), style="yellow")


def _notes(counters: LiveCounters, journal: Journal) -> Iterator[str]:
    """What the user should look into."""
    source = journal.totals()
    ahead = "records had times too far ahead of the others to move the watermark; check clocks."
    changed = "files changed after they were read; the changes were not read."
    missed = "conversations closed after the last means of their window, so they are in no mean."
    notes = ((source.ahead, ahead), (source.changed, changed), (counters.missed, missed))
    for number, what in notes:
        if number:
            yield f"Note: {number:,} {what}"


def check_balance(counters: LiveCounters, journal: Journal) -> None:
    """Compare the records accounted for with those that the source has read.

    Skipped while a file is being read: the source has not counted it yet.

    Raises:
      BalanceError: records are missing in the files, or are in them twice.
    """
    read = counters.totals.records + counters.read - counters.out
    source_totals = journal.totals()
    expected = source_totals.records + source_totals.changed
    if not journal.uncovered and read != expected:
        raise BalanceError(
            f"{counted(expected, 'record was', 'records were')} read but "
            f"{counted(read, 'is', 'are')} accounted for; outputs may lack "
            "some or contain some twice; compare with `goodgain run` on the same files."
        )


def without_means(means: Iterable[Row], in_means: int) -> int:
    """The number of conversations that are not yet in the means of a window.

    Args:
      means: rows of the latest panes.
      in_means: all closed conversations that count in means.
    """
    rows = (row for row in means if _is_of_all(row) and row["metric"] == _SHOWN_METRICS[0])
    in_windows: int = sum(row["n"] + row["undefined"] for row in rows)
    return max(0, in_means - in_windows)


def _is_of_all(row: Row) -> bool:
    return not row["slice"] and row["i"] is None and row["population"] == "all"


def print_means(
    console: Console, means: list[dict[str, Any]], counters: LiveCounters, cluster: str | None
) -> None:
    """Print the means by window, with notes.

    Args:
      counters: running means, shown if there are no rows yet.
    """
    windows: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in means:
        if _is_of_all(row):
            windows[row["window_start"]][row["metric"]] = row
    if not windows:
        _print_running(console, counters)
        return
    labels = [metric_by_name(name).label for name in _SHOWN_METRICS]
    table = plain_table("window", "n", *labels, "")
    shown = [(start, windows[start]) for start in sorted(windows)[-_SHOWN_WINDOWS:]]
    for start, by_metric in shown:
        headline = by_metric[_SHOWN_METRICS[0]]
        table.add_row(
            minute(start),
            f"{headline['n'] + headline['undefined']:,}",
            *(value_text(name, by_metric[name]["mean"]) for name in _SHOWN_METRICS),
            "" if headline["is_last"] else "open",
        )
    console.print(table)
    last = sum(one[_SHOWN_METRICS[0]]["is_last"] for one in windows.values())
    print_line(console, f"\nWindows: {last:,} complete, {len(windows) - last:,} still open.")
    for caution, labels in cautions(_SHOWN_METRICS).items():
        print_line(console, f"{', '.join(labels)}: {caution}")
    if cluster is not None:
        # The intervals depend on the number of clusters.
        by_window = ", ".join(
            f"{minute(start)}: {by_metric[_SHOWN_METRICS[0]]['clusters'] or 0:,}"
            for start, by_metric in shown
        )
        print_line(console, f"Clusters by {cluster}: {by_window}.")


def _print_running(console: Console, counters: LiveCounters) -> None:
    if not counters.means:
        print_line(
            console,
            "No means yet: no conversation that counts in them has closed since this start.",
        )
        return
    for warning in _running_warnings(counters):
        print_line(console, warning)
    table = plain_table("mean so far", *(metric_by_name(name).label for name in counters.means))
    means = (value_text(name, mean) for name, mean in counters.means.items())
    table.add_row(f"{counters.closed:,} closed", *means)
    console.print(table)
    print_line(
        console,
        "\nWindows: none has means yet; these are over the conversations closed since this start.",
    )


def latest_means(folder: str) -> list[Row]:
    """The rows of `means` that are not superseded by a later pane or start, sorted by window."""
    latest: dict[tuple[Any, ...], Row] = {}
    for row in read_dataset(folder, MEANS.name):
        slice_ = msgspec.json.encode(row["slice"], order="sorted")
        key = (slice_, *(row[name] for name in _KEY))
        before = latest.get(key)
        if before is None or _order(before) < _order(row):
            latest[key] = row
    return sorted(latest.values(), key=lambda row: row["window_start"])


def latest_warnings(folder: str) -> list[Row]:
    """The current rows of `warnings`, sorted by window; a window without warnings has none."""
    latest: dict[int, list[Row]] = {}
    for row in read_dataset(folder, WARNINGS.name):
        of_window = latest.setdefault(row["window_start"], [])
        if of_window and _order(of_window[0]) < _order(row):
            of_window.clear()
        if not of_window or _order(of_window[0]) == _order(row):
            of_window.append(row)
    return [row for start in sorted(latest) for row in latest[start] if row["code"] != NO_WARNING]


def _order(row: Row) -> tuple[int, int]:
    return row["start"], row["pane"]
