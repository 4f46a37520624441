"""Resumes a stream: which records to read again, and which of their rows are already in files.

After a restart the source reads again all records that can still matter, with the same watermarks,
and everything is recomputed; rows that earlier starts have written are filtered out. Which these
are is global to the process, so the graph must run in this process, as on Prism with LOOPBACK
workers. Other engines restore streams themselves.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import xxhash
from msgspec.structs import asdict

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.folder import UNFINISHED
from goodgain.pipeline.results.formats import FORMATS, Row
from goodgain.pipeline.run.stream.checkpoint import read_progress
from goodgain.pipeline.run.stream.live_counters import StreamTotals, totals_of
from goodgain.pipeline.run.stream.panes import pane_of
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.streaming.closing import event_time
from goodgain.transforms.core.streaming.journal import Journal
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.windowed_means import (
    MissedByMeans,
    WindowedMeanRow,
    WindowWarnings,
    window_start,
)
from goodgain.transforms.filesystems import delete, files_below, files_named, join, open_plain

CONVERSATIONS = "conversations"
# Of each pane, the file of `conversations` is written last: without it, those of these datasets are
# incomplete.
_WRITTEN_FIRST = ("iterations", "calls", datasets.DUPLICATES.name)
_Span = tuple[int | None, int | None]
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
    known, totals = WrittenRows(complete_from), StreamTotals()
    for dataset in (CONVERSATIONS, datasets.LATE.name, datasets.REJECTED.name):
        for rows in _rows_of_files(folder, dataset):
            totals = totals.plus(totals_of(dataset, rows))
            if dataset == CONVERSATIONS:
                known.add_conversations(rows)
            elif dataset == datasets.LATE.name:
                known.add_late(rows)
            else:
                known.add_rejected(rows)
    return known, totals


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


class WrittenRows:
    """The rows already in files.

    A row that was written twice is filtered out twice. Conversations are the same if their ids and
    either their first or their last timestamps agree: a restart may read one only in part, or
    accept a record that was late before; the written row stays. It may also read only the late
    records of a conversation, or only its flags for rejected records.

    Attributes:
      complete_from: from when on rows are recomputed completely after a restart, in ms of event
        time; None for all. Windows that start earlier had their last pane, and conversations that
        started earlier are closed, and both may now lack records.
    """

    def __init__(self, complete_from: int | None = None) -> None:
        self.complete_from = complete_from
        self._lock = threading.Lock()
        self._spans: dict[str, list[_Span]] = defaultdict(list)
        self._ids: set[str] = set()
        self._rows: Counter[bytes] = Counter()
        self._late: set[tuple[str, int | None]] = set()

    def add_conversations(self, rows: Iterable[Row]) -> None:
        """Add rows of `conversations`."""
        for row in rows:
            self._ids.add(row["conversation_id"])
            self._spans[row["conversation_id"]].append(
                (row["first_timestamp"], row["last_timestamp"])
            )

    def add_late(self, rows: Sequence[Row]) -> None:
        """Add rows of `late`."""
        self._rows.update(map(_digest, rows))
        self._late.update((row["conversation_id"], row["timestamp"]) for row in rows)

    def add_rejected(self, rows: Sequence[Row]) -> None:
        """Add rows of `rejected`."""
        self._rows.update(map(_digest, rows))

    def lacks(self, element: Any) -> bool:
        """Whether an element's rows must still be written; call it once per element."""
        with self._lock:
            if isinstance(element, ConversationScore):
                row = element.conversation
                span = (row.first_timestamp, row.last_timestamp)
                return not (
                    self._take_span(row.conversation_id, span)
                    or self._is_remainder(row.conversation_id, span)
                )
            if isinstance(element, LateRow | RejectedRecord):
                digest = _digest(asdict(element))
                self._rows[digest] -= 1
                return self._rows[digest] < 0
        if isinstance(element, WindowedMeanRow | MissedByMeans | WindowWarnings):
            return not self.had_last_pane(element.window_start)
        raise TypeError(f"{type(element).__name__} is not written by a stream.")

    def lacks_live(self, element: LiveIteration, timestamp: int) -> bool:
        """Whether a live row of this time, in ms, must still be written."""
        first = self.complete_from
        if first is None or timestamp >= first:
            return True
        return element.row.conversation_id not in self._ids

    def had_last_pane(self, window_start: int) -> bool:
        """Whether the window with this start, in ms, had its last pane before this restart."""
        first = self.complete_from
        return first is not None and window_start < first

    def _is_remainder(self, conversation_id: str, span: _Span) -> bool:
        """Whether this is the rest of a conversation whose other records are not read again."""
        first, last = span
        if first is None or last is None:
            return self.complete_from is not None and conversation_id in self._ids
        ends = {(conversation_id, first), (conversation_id, last)}
        return self.had_last_pane(last) and ends <= self._late

    def _take_span(self, conversation_id: str, span: _Span) -> bool:
        spans = self._spans.get(conversation_id, [])
        for known in spans:
            if known[0] == span[0] or known[1] == span[1]:
                spans.remove(known)
                return True
        return False


def _digest(row: Row) -> bytes:
    if "source" in row:  # the folder may have been renamed
        row = {**row, "source": row["source"].rpartition("/")[2]}
    return xxhash.xxh3_128_digest(_encoder.encode(row))


_encoder = msgspec.msgpack.Encoder(order="sorted")
_written_rows = WrittenRows()


def begin(known: WrittenRows) -> None:
    """Set the rows that this process must not write again."""
    global _written_rows
    _written_rows = known


def is_new(element: Any) -> bool:
    """See `WrittenRows.lacks`; for the rows of this process."""
    return _written_rows.lacks(element)


def is_new_live(element: LiveIteration, timestamp: int) -> bool:
    """See `WrittenRows.lacks_live`; for the rows of this process."""
    return _written_rows.lacks_live(element, timestamp)


def missed_before(score: ConversationScore, window: int) -> Iterator[MissedByMeans]:
    """Report a new conversation whose window had its last pane before this start.

    It is in no mean, since the means of its window are not recomputed.

    Args:
      window: the length of windows in ms.
    """
    time = event_time(score)
    start = None if time is None else window_start(time, window)
    if (
        start is not None
        and _written_rows.had_last_pane(start)
        and score.counts["conversations.in_means"]
    ):
        yield MissedByMeans(start, start + window, {}, 1)
