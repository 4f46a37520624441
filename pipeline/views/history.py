"""The history of the nightly job as a table, for summaries of CI."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.markdown import markdown_of
from goodgain.pipeline.document.model import (
    Cell,
    Document,
    Heading,
    Sentence,
    TableColumn,
    count,
    document,
    place,
    sentences,
    verdict,
)
from goodgain.pipeline.document.numbers import (
    NONE,
    count_text,
    mean_interval_text,
    share,
    value_text,
)
from goodgain.pipeline.studies.nightly.days.days import LateFiles, days_text
from goodgain.pipeline.studies.nightly.days.entry import DayEntry
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline


def history_markdown(entries: Sequence[DayEntry], late: Sequence[LateFiles]) -> str:
    """The history in Markdown.

    Args:
      late: days whose input has changed since their run.
    """
    return markdown_of(_history_document(entries, late))


def _history_document(entries: Sequence[DayEntry], late: Sequence[LateFiles]) -> Document:
    """One row for each day, the latest first."""
    latest_first = sorted(entries, key=lambda entry: entry.date, reverse=True)
    columns = [
        *_BEGIN,
        *(numbers(metric_by_name(name).label, "", partial(_mean, name)) for name in _SHOWN),
        *_QUALITY,
        *([_POOL] if any(entry.pool for entry in entries) else []),
        *_END,
    ]
    return document(
        Heading("History"),
        table_of(columns, latest_first),
        Sentence("Days whose input has changed since their run:") if late else None,
        sentences(map(str, late)),
    )


def _mean(name: str, entry: DayEntry) -> Cell:
    """The mean of a metric with its interval."""
    mean = entry.means.get(name)
    if mean is None:
        return Cell(NONE, "mean")
    text, interval = value_text(name, mean.mean), NONE
    if mean.mean is not None:
        interval = mean_interval_text(name, mean.ci_low, mean.ci_high)
    return Cell(text if interval == NONE else f"{text} ({interval})", "mean")


def _conversations(entry: DayEntry) -> Cell:
    return count(entry.means["CG"].n if "CG" in entry.means else 0)


def _share(part: str, whole: str, entry: DayEntry) -> Cell:
    """A count with its share of another."""
    counted, of = entry.counts.get(part, 0), entry.counts.get(whole, 0)
    return Cell(f"{count_text(counted)} ({share(counted, of)})" if of else NONE, "share")


_SHOWN = headline("card")
_BEGIN: tuple[CellColumn[DayEntry], ...] = (
    CellColumn(TableColumn("day"), lambda entry: entry.date),
    CellColumn(TableColumn("verdict"), lambda entry: verdict(entry.verdict)),
    numbers("n", "", _conversations),
)
_QUALITY: tuple[CellColumn[DayEntry], ...] = (
    numbers("rejected", "", partial(_share, "rejected", "records")),
    numbers("unlabelled", "", partial(_share, "unlabelled", "results")),
    CellColumn(
        TableColumn("warnings"),
        lambda entry: place(", ".join(warning.code for warning in entry.warnings)),
    ),
)
_POOL: CellColumn[DayEntry] = CellColumn(
    TableColumn("pool"), lambda entry: place(entry.pool.digest[:8] if entry.pool else None)
)
_END: tuple[CellColumn[DayEntry], ...] = (
    CellColumn(TableColumn("compared with"), lambda entry: place(days_text(entry.baseline))),
    CellColumn(TableColumn("why"), lambda entry: "; ".join((*entry.reasons, *entry.notes))),
)
