"""What became of a stream, when it has ended: its latest means, and the balance of records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import to_builtins

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.run.stream.latest_panes import read_latest_means, read_latest_warnings
from goodgain.pipeline.run.stream.stream_counts import StreamCounts
from goodgain.pipeline.settings.option_types import instant_text
from goodgain.pipeline.settings.stream_config import StreamConfig

_IN_EVERY_MEAN = "CG"


def facts_of(config: StreamConfig, counts: StreamCounts) -> dict[str, Any]:
    """What became of the records, and the latest means at N of every slice."""
    return {
        "output": config.output,
        "means": [row for row in read_latest_means(config.output) if row["i"] is None],
        "warnings": read_latest_warnings(config.output),
        "conversations": {
            "closed": counts.totals.get("conversations.total", 0),
            "in_means": counts.totals.get("conversations.in_means", 0),
            "open": counts.open,
            "missed_by_means": counts.missed,
        },
        "records": counts.records,
        **({"outcome_rows": to_builtins(counts.outcomes)} if counts.outcomes else {}),
        "continue_since": continue_since(config, counts),
    }


def continue_since(config: StreamConfig, counts: StreamCounts) -> str | None:
    """The time from which another stream can go on; None if it has to read everything."""
    if counts.watermark is None:
        return None
    window, since = config.open_window(counts.watermark), config.since_window
    # What lies before --since is of another stream, whose files may be gone.
    return instant_text(window if since is None else max(window, since))


def count_without_means(means: Iterable[Row], in_means: int, since: int | None = None) -> int:
    """The number of conversations that are not yet in the means of a window.

    Args:
      means: rows of the latest panes.
      in_means: all closed conversations that count in means.
      since: start of the first window that they can belong to, in ms; None = any.
    """
    rows = (
        row
        for row in means
        if is_of_all(row)
        and row["metric"] == _IN_EVERY_MEAN
        and (since is None or row["window_start"] >= since)
    )
    in_windows: int = sum(row["n"] + row["undefined"] for row in rows)
    return max(0, in_means - in_windows)


def is_of_all(row: Row) -> bool:
    """Whether a mean is over all conversations that searched, at N."""
    return not row["slice"] and row["i"] is None and row["population"] == "all"
