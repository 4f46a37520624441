"""The outcome of a stream: latest means and warnings by window, and the balance of records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from goodgain.pipeline.results.folder import read_dataset
from goodgain.pipeline.results.formats import Row
from goodgain.pipeline.results.manifest import OUTCOMES
from goodgain.pipeline.run.stream.datasets import MEANS, WARNINGS
from goodgain.pipeline.run.stream.live_counters import LiveCounters
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.warnings.codes import NONE as NO_WARNING
from goodgain.transforms.core.wording import counted

_IN_EVERY_MEAN = "CG"
_KEY = ("window_start", "metric", "i", "population")


def facts_of(output: str, counters: LiveCounters) -> dict[str, Any]:
    """What became of the records, and the latest means at N of every slice.

    Args:
      output: folder of the stream's outputs.
    """
    totals, still_open = counters.totals, counters.read - counters.out
    return {
        "output": output,
        "means": [row for row in latest_means(output) if row["i"] is None],
        "warnings": latest_warnings(output),
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
    rows = (row for row in means if is_of_all(row) and row["metric"] == _IN_EVERY_MEAN)
    in_windows: int = sum(row["n"] + row["undefined"] for row in rows)
    return max(0, in_means - in_windows)


def is_of_all(row: Row) -> bool:
    """Whether a mean is over all conversations that searched, at N."""
    return not row["slice"] and row["i"] is None and row["population"] == "all"


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
