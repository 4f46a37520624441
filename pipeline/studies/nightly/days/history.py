"""The record of each day: its verdict, means and counts; and the history, a table of all days.

The entry of a published day is `day.json` in its folder. `history.jsonl` holds one entry per line,
ascending by day, rebuilt from the folders each time; `history.md` is the same for people. A day
that failed has no folder, so its entry is only in the history.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import asdict, replace

from goodgain.pipeline.document.numbers import value_text
from goodgain.pipeline.document.safe_text import printable
from goodgain.pipeline.results.atomic_files import write_whole
from goodgain.pipeline.studies.nightly.days.days import DayFolders, LateFiles, days_text
from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.transforms.core.metrics.by_name import is_metric_name, metric_by_name, own_metric
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.metrics.own import OWN_METRICS, own_metrics_of

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
            continue  # `current_entries` reads the entry from the day's folder
    return entries


def _decode(line: bytes) -> DayEntry:
    """An entry, whose users' metrics are known by name from then on.

    Without metrics that nothing describes: those of users in entries of earlier versions.
    """
    entry = msgspec.json.decode(line, type=DayEntry)
    if entry.own_metrics:
        own_metrics_of({OWN_METRICS: map(asdict, entry.own_metrics)})
    means, changes = (
        {name: part for name, part in parts.items() if own_metric(name) or is_metric_name(name)}
        for parts in (entry.means, entry.changes)
    )
    return replace(entry, means=means, changes=changes)


def current_entries(folders: DayFolders, failed: DayEntry | None = None) -> list[DayEntry]:
    """One entry for each day, ascending.

    Args:
      failed: entry of a day that has just failed; a published entry of the same day wins.
    """
    known = [*read_history(folders.output), *([failed] if failed else [])]
    by_day: dict[datetime.date, DayEntry] = {
        entry.day: entry for entry in known if entry.verdict == "failed"
    }
    for day in folders.published_days():
        entry = read_entry(folders.published_folder(day))
        if entry is not None:
            by_day[day] = entry
    return [by_day[day] for day in sorted(by_day)]


def write_history(
    folders: DayFolders, entries: Sequence[DayEntry], late: Sequence[LateFiles] = ()
) -> None:
    """Write both files, each atomically."""
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    write_whole(folders.output / HISTORY, lines)
    write_whole(folders.output / TABLE, history_table(entries, late).encode())


def history_table(entries: Iterable[DayEntry], late: Sequence[LateFiles] = ()) -> str:
    """The history in Markdown, the latest day first."""
    entries = sorted(entries, key=lambda entry: entry.date, reverse=True)
    columns: dict[str, Callable[[DayEntry], str]] = {
        "day": lambda entry: entry.date,
        "verdict": lambda entry: entry.verdict,
        "n": lambda entry: f"{entry.means['CG'].n if 'CG' in entry.means else 0:,}",
        **{metric_by_name(name).label: partial(_mean, name) for name in headline("card")},
        "rejected": lambda entry: _share(entry.counts, "rejected", "records"),
        "unlabelled": lambda entry: _share(entry.counts, "unlabelled", "results"),
        "warnings": lambda entry: ", ".join(warning.code for warning in entry.warnings),
        "pool": lambda entry: entry.pool.digest[:8] if entry.pool else "",
        "compared with": lambda entry: days_text(entry.baseline),
        "why": lambda entry: "; ".join((*entry.reasons, *entry.notes)),
    }
    if not any(entry.pool for entry in entries):
        del columns["pool"]
    lines = ["# History", "", _line(columns), _line(["---"] * len(columns))]
    lines += [_line(cell(entry) for cell in columns.values()) for entry in entries]
    if late:
        lines += ["", "Days whose input has changed since their run:", ""]
        lines += [f"* {_escape(str(change))}" for change in late]
    return "\n".join(lines) + "\n"


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_escape, cells)) + " |"


def _escape(text: str) -> str:
    """Escape table cells and HTML in a text."""
    return printable(text).replace("|", "\\|").replace("<", "&lt;")


def _mean(name: str, entry: DayEntry) -> str:
    one = entry.means.get(name)
    if one is None or one.mean is None:
        return ""
    if one.ci_low is None or one.ci_high is None:
        return value_text(name, one.mean)
    clip = metric_by_name(name).clip
    low, high = (value_text(name, clip(end)) for end in (one.ci_low, one.ci_high))
    return f"{value_text(name, one.mean)} ({low} to {high})"


def _share(counts: Mapping[str, int], part: str, whole: str) -> str:
    if not counts.get(whole):
        return ""
    return f"{counts.get(part, 0):,} ({100 * counts.get(part, 0) / counts[whole]:.1f} %)"
