"""Resumes a stream: which records to read again, and which of their rows are already in files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from goodgain.pipeline.outputs import datasets
from goodgain.pipeline.outputs.folder import UNFINISHED
from goodgain.pipeline.outputs.formats import FORMATS, Row
from goodgain.pipeline.streaming.checkpoint import read_progress
from goodgain.pipeline.streaming.config import StreamConfig
from goodgain.pipeline.streaming.live_counters import StreamTotals, totals_of
from goodgain.pipeline.streaming.panes import pane_of
from goodgain.pipeline.streaming.written_rows import WrittenRows
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.filesystems import delete, files_below, files_named, join, open_plain

CONVERSATIONS = "conversations"
# Of each pane, the file of `conversations` is written last: without it, those of these datasets are
# incomplete.
_WRITTEN_FIRST = (datasets.ITERATIONS.name, "calls", datasets.DUPLICATES.name)
_EVERYTHING = 1 << 62  # ms; longer than any stream


def restart_plan(
    config: StreamConfig, journal: Journal, progress: int | None
) -> tuple[int, int | None]:
    """How far back a restart must read to recompute everything that is not yet in files.

    A window of means without its last pane at the recorded progress needs all of its conversations,
    and each of these needs all of its records.

    Args:
      progress: the watermark before which everything is in files, in ms; None if unknown.

    Returns:
      Two times in ms: how far before the journal's watermark to read, since files whose records are
      all older are not read; and from when on rows are recomputed completely, None for all.
    """
    watermark = journal.watermark_state.watermark
    if watermark is None or progress is None:
        return _EVERYTHING, None
    safe = min(watermark, progress)
    return watermark - safe + needed_span(config), safe - _means_span(config)


def needed_span(config: StreamConfig) -> int:
    """How far before what is in files a restart reads, in ms."""
    slack = config.out_of_orderness + config.allowed_lateness + config.gap
    return _means_span(config) + config.max_open + slack


def oldest_needed(state_folder: Path, span: int, watermark: int) -> int | None:
    """The time from which records must be read again if the stream restarts now or later.

    Args:
      watermark: of the journal, in ms.

    Returns:
      In ms of event time; None if it is not known what is in files.
    """
    progress = read_progress(state_folder)
    return None if progress is None else min(watermark, progress) - span


def _means_span(config: StreamConfig) -> int:
    return config.window + config.gap + config.allowed_lateness


def read_written(folder: str, complete_from: int | None) -> tuple[WrittenRows, StreamTotals]:
    """Read the rows of earlier starts, after deleting their incomplete files.

    Args:
      complete_from: as in `WrittenRows`.

    Raises:
      OSError: a file cannot be read.
    """
    delete(join(folder, UNFINISHED))
    _delete_incomplete(folder)
    written_rows, totals = WrittenRows(complete_from), StreamTotals()
    for dataset in (CONVERSATIONS, datasets.LATE.name, datasets.REJECTED.name):
        for rows in _rows_of_files(folder, dataset):
            totals = totals.plus(totals_of(dataset, rows))
            if dataset == CONVERSATIONS:
                written_rows.add_conversations(rows)
            elif dataset == datasets.LATE.name:
                written_rows.add_late(rows)
            else:
                written_rows.add_rejected(rows)
    return written_rows, totals


def last_start(folder: str) -> int:
    """The greatest start number in the names of output files; 0 if there are none."""
    prefix = folder.rstrip("/") + "/"
    parts_of_paths = (path.removeprefix(prefix).split("/") for path in files_below(folder))
    names = (parts[1] for parts in parts_of_paths if len(parts) == 2)
    return max((pane.start for name in names if (pane := pane_of(name))), default=0)


def _delete_incomplete(folder: str) -> None:
    """Delete files whose counterpart in `conversations` is missing because of a crash."""
    complete = set(_names(folder, CONVERSATIONS))
    for dataset in _WRITTEN_FIRST:
        for name in _names(folder, dataset):
            if name not in complete:
                delete(join(folder, dataset, name))


def _names(folder: str, dataset: str) -> list[str]:
    paths = files_named(join(folder, dataset), "part-*")
    names = [path.rpartition("/")[2] for path in paths]
    return sorted(name for name in names if pane_of(name) is not None)


def _rows_of_files(folder: str, dataset: str) -> Iterator[list[Row]]:
    suffixes = {one.suffix: one for one in FORMATS.values()}
    for name in _names(folder, dataset):
        file_format = next(one for suffix, one in suffixes.items() if name.endswith(suffix))
        with open_plain(join(folder, dataset, name)) as file:
            yield list(file_format.read(file))
