"""The record of each day: its verdict, means and counts; and the history, a table of all days.

The entry of a published day is `day.json` in its folder. `history.jsonl` holds one entry per line,
ascending by day, rebuilt from the folders each time; `history.md` is the same for people. A day
that failed has no folder, so its entry is only in the history.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.studies.nightly.days.days import DayFolders
from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.by_name import is_metric_name, own_metric
from goodgain.transforms.core.metrics.outcomes import outcomes_of, remember_outcomes
from goodgain.transforms.core.metrics.own import own_metrics_of

DAY_FILE = "day.json"
HISTORY = "history.jsonl"
TABLE = "history.md"


def read_entry(folder: Path) -> DayEntry | None:
    """The entry in the folder of a day; None when there is none, or it cannot be read."""
    try:
        return _decode((folder / DAY_FILE).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def read_history(output: Path) -> list[DayEntry]:
    """The entries of the existing history, without lines that cannot be read."""
    try:
        lines = (output / HISTORY).read_bytes().splitlines()
    except OSError:
        return []
    entries = []
    for line in lines:
        try:
            entries.append(_decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # `read_current_entries` reads the entry from the day's folder
    return entries


def _decode(line: bytes) -> DayEntry:
    """An entry, whose users' metrics and outcomes are known by name from then on.

    Without metrics that nothing describes: those of users in entries of earlier versions.
    """
    entry = msgspec.json.decode(line, type=DayEntry)
    if entry.own_metrics:
        own_metrics_of(entry.own_metrics)
    if entry.outcomes:
        with suppress(UsageError):  # they are those of another version, and stay as they are named
            remember_outcomes(outcomes_of(entry.outcomes))
    means, changes = (
        {name: part for name, part in parts.items() if own_metric(name) or is_metric_name(name)}
        for parts in (entry.means, entry.changes)
    )
    return replace(entry, means=means, changes=changes)


def read_current_entries(folders: DayFolders, failed: DayEntry | None = None) -> list[DayEntry]:
    """One entry for each day, ascending.

    Args:
      failed: entry of a day that has just failed; a published entry of the same day wins.
    """
    known = [*read_history(folders.output), *([failed] if failed else [])]
    by_day: dict[datetime.date, DayEntry] = {
        entry.day: entry for entry in known if entry.verdict == "failed"
    }
    for day in folders.list_published_days():
        entry = read_entry(folders.published_folder(day))
        if entry is not None:
            by_day[day] = entry
    return [by_day[day] for day in sorted(by_day)]


def write_history(folders: DayFolders, entries: Sequence[DayEntry], table: str) -> None:
    """Write both files, each atomically.

    Args:
      table: the history for people, in Markdown.
    """
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    write_whole(folders.output / HISTORY, lines)
    write_whole(folders.output / TABLE, table.encode())
