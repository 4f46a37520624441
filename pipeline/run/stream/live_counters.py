"""Counts of a stream, for the live view and the final balance of records (SPEC 3).

Only transforms in the process that called `begin` are counted. With workers in other processes the
counts stay at zero; use the engine's own pages there.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from msgspec import Struct
from msgspec.structs import astuple

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.formats import Row
from goodgain.pipeline.results.manifest import OUTCOMES
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans, data_warnings
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.sources.streamed import ReadRecords

_RUNNING_MEANS = ("CG", "DCG", "RAG", "SRE", "SRR", "N")
_WITHOUT_LABELS = tuple(name for name in _RUNNING_MEANS if not metric_by_name(name).needs_labels)
_COUNTS = ("read", "out", "closed", "late", "rejected", "missed")
_RECORDS_OUT = ("records.scored", "records.earlier_turn", "records.redelivered")


class StreamTotals(Struct, frozen=True):
    """Records by outcome, and conversations, summed over the rows in the files of a stream.

    Attributes:
      in_means: conversations that searched and had no rejected records.
    """

    scored: int = 0
    earlier_turn: int = 0
    redelivered: int = 0
    rejected: int = 0
    late: int = 0
    conversations: int = 0
    in_means: int = 0

    def plus(self, other: StreamTotals) -> StreamTotals:
        """The sums."""
        return StreamTotals(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def records(self) -> int:
        """All records accounted for."""
        return sum(getattr(self, name) for name in OUTCOMES)


def totals_of(dataset: str, rows: Sequence[Row]) -> StreamTotals:
    """The totals of the rows of one dataset; zero if its records are counted elsewhere."""
    if dataset == datasets.LATE.name:
        return StreamTotals(late=len(rows))
    if dataset == datasets.REJECTED.name:
        return StreamTotals(rejected=sum(row["records"] for row in rows))
    if dataset != "conversations":
        return StreamTotals()
    return StreamTotals(
        scored=sum(row["calls"] for row in rows),
        earlier_turn=sum(row["earlier_turn"] for row in rows),
        redelivered=sum(row["redelivered"] for row in rows),
        conversations=len(rows),
        in_means=sum(row["N"] > 0 and not row["rejected_records"] for row in rows),
    )


class LiveCounters(Struct, frozen=True):
    """The state of a running stream.

    Attributes:
      read: records read since this start, including those read again after a restart.
      out: number of these with a final outcome (SPEC 3).
      closed, open: number of closed conversations, and of open ones that have records.
      missed: number of conversations in no mean, since they closed after the last pane of their
        window.
      means: running means over the conversations closed since this start, by metric; those of
        metrics that need labels only if some result has one.
      totals: counts of everything in files, over all starts.
      warnings: data warnings about the conversations of `means` (SPEC 10).
    """

    read: int
    out: int
    open: int
    closed: int
    late: int
    rejected: int
    missed: int
    means: Mapping[str, float]
    totals: StreamTotals
    warnings: Sequence[DataWarning] = ()


class _State:
    def __init__(self, totals: StreamTotals, scoring: Scoring | None) -> None:
        self.lock = threading.Lock()
        self.scoring = scoring
        self.counts: Counter[str] = Counter()
        self.open: set[str] = set()
        self.sums: Counter[str] = Counter()
        self.data_counts: Counter[str] = Counter()
        self.totals = totals


_state: _State | None = None


def begin(totals: StreamTotals, scoring: Scoring) -> None:
    """Reset the counts; `totals` starts from the files of earlier starts."""
    global _state
    _state = _State(totals, scoring)


def now() -> LiveCounters:
    """The current counts; all zero if `begin` was not called."""
    state = _state or _State(StreamTotals(), None)
    with state.lock:
        counts, in_means = state.counts, state.counts["in_means"]
        names = _RUNNING_MEANS if counts["labelled"] else _WITHOUT_LABELS
        means = {name: state.sums[name] / in_means for name in names} if in_means else {}
        warnings = (
            data_warnings(state.data_counts, state.scoring) if in_means and state.scoring else ()
        )
        return LiveCounters(
            open=len(state.open),
            **{name: counts[name] for name in _COUNTS},
            means=means,
            totals=state.totals,
            warnings=warnings,
        )


def written(dataset: str, rows: Sequence[Row]) -> None:
    """Count rows that were written to a file."""
    if _state is not None:
        with _state.lock:
            _state.totals = _state.totals.plus(totals_of(dataset, rows))


def _count(state: _State, element: Any) -> None:
    counts = state.counts
    if isinstance(element, ReadRecords):
        counts["read"] += element.records
        state.open.update(element.conversation_ids)
    elif isinstance(element, RejectedRecord):
        counts["rejected"] += element.records
        counts["out"] += element.records
    elif isinstance(element, LateRow):
        counts["late"] += 1
        counts["out"] += 1
        state.open.discard(element.conversation_id)
    elif isinstance(element, MissedByMeans):
        counts["missed"] += 0 if element.slice else element.conversations
    elif isinstance(element, ConversationScore):
        counts["closed"] += 1
        counts["out"] += sum(element.counts[name] for name in _RECORDS_OUT)
        state.open.discard(element.conversation.conversation_id)
        if element.counts["conversations.in_means"]:
            counts["in_means"] += 1
            state.data_counts.update(element.counts)
            counts["labelled"] += element.conversation.R - element.conversation.unlabelled
            for name in _RUNNING_MEANS:
                state.sums[name] += getattr(element.conversation, name)


class CountLive(beam.PTransform):
    """Counts records, rows and scores, and passes them on."""

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        """Apply the transform."""
        passed = elements | "Count" >> beam.ParDo(_CountLive())
        passed.element_type = elements.element_type
        return passed


class _CountLive(beam.DoFn):
    def process(self, element: Any) -> Iterator[Any]:
        if _state is not None:
            with _state.lock:
                _count(_state, element)
        yield element
