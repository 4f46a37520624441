"""Counts of a stream, for the live view and the final balance of records (SPEC 3)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from msgspec import Struct

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.balance import OUTCOMES, check_records, records_in
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.given_parts import check_outcome_rows, outcome_rows
from goodgain.pipeline.results.manifest_model import RowCounts
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.score_rows import LateRow
from goodgain.transforms.core.scoring.score_sums import ScoreSums
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import StillOpen
from goodgain.transforms.core.streaming.windowed_means import MissedByMeans
from goodgain.transforms.core.warnings.check_inputs import CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.sources.stream_packing import ReadRecords
from goodgain.transforms.stream_end import InProcess

_HEADLINE = headline("stream")
_COUNTS = ("read", "still_open", "closed", "late", "rejected", "missed", "ahead", "changed")
_OF_ROWS = ("outcomes.joined", "outcomes.repeated")
_OUTCOMES = (*OUTCOMES, "open", "before_since")
_ADVICE = (
    "outputs may lack some or contain some twice; compare with `goodgain run` on the same files."
)
_RECORDS_OUT = ("records.scored", "records.earlier_turn", "records.redelivered")


def totals_of(dataset: str, rows: Sequence[Row]) -> dict[str, int]:
    """The counts of the rows of one dataset, by dotted name; none if they are counted elsewhere."""
    if dataset == datasets.LATE.name:
        return {"records.late": len(rows)}
    if dataset == datasets.REJECTED.name:
        return {"records.rejected": sum(row["records"] for row in rows)}
    if dataset != "conversations":
        return {}
    return {
        "records.scored": sum(row["scored"] for row in rows),
        "records.earlier_turn": sum(row["earlier_turn"] for row in rows),
        "records.redelivered": sum(row["redelivered"] for row in rows),
        "conversations.total": len(rows),
        "conversations.in_means": sum(row["N"] > 0 and not row["rejected_records"] for row in rows),
    }


class StreamCounts(Struct, frozen=True):
    """The state of a running stream.

    Attributes:
      read: records read.
      still_open: number of these in conversations that were open when the stream was stopped.
      skipped: number of these whose rows belong to windows before `--since`.
      closed, open: number of closed conversations, and of open ones that have records.
      missed: number of conversations in no mean, since they closed after the last pane of their
        window.
      ahead: number of records too far ahead of the others to move the watermark.
      changed: how often a file was found to have changed after it was taken.
      watermark: of the source, in ms; None if there is none yet.
      means: running means over the closed conversations, by metric; None if no conversation has a
        value. Those of metrics that need labels only if some result has one.
      totals: counts of the rows in files, by dotted name.
      warnings: data warnings about the conversations of `means` (SPEC 10).
      outcomes: what became of the rows of files of outcomes; None without such files.
    """

    read: int = 0
    still_open: int = 0
    skipped: int = 0
    open: int = 0
    closed: int = 0
    late: int = 0
    rejected: int = 0
    missed: int = 0
    ahead: int = 0
    changed: int = 0
    watermark: int | None = None
    means: Mapping[str, float | None] = {}
    totals: Mapping[str, int] = {}
    warnings: Sequence[DataWarning] = ()
    outcomes: RowCounts | None = None

    @property
    def records(self) -> dict[str, int]:
        """The records that were read, and those in files, by outcome."""
        more = {"read": self.read, "open": self.still_open, "before_since": self.skipped}
        return records_in(
            {**self.totals, **{f"records.{name}": count for name, count in more.items()}}, _OUTCOMES
        )


def check_balance(counts: StreamCounts) -> None:
    """Compare the records that a stream has read with those in its files, when it has ended.

    Raises:
      BalanceError: records are missing in the files, or are in them twice; or rows of outcomes do
        not add up.
    """
    if counts.outcomes:
        check_outcome_rows(counts.outcomes)
    check_records(counts.records, _ADVICE)


class StreamCounter(InProcess):
    """Counts the elements of a stream whose steps all run in this process.

    Args:
      metrics: those of the running means, beside the headline.
    """

    def __init__(self, scoring: Scoring, metrics: Iterable[str] = ()) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._scoring = scoring
        self._metrics = tuple(map(metric_by_name, dict.fromkeys((*_HEADLINE, *metrics))))
        self._counts: Counter[str] = Counter()
        self._open: set[str] = set()
        self._sums: Counter[str] = Counter()
        self._defined: Counter[str] = Counter()
        self._in_means = ScoreSums()
        self._outcome_counts: Counter[str] = Counter()
        self._watermark: int | None = None
        self._totals: Counter[str] = Counter()

    def now(self) -> StreamCounts:
        """The current counts."""
        with self._lock:
            counts, in_means = self._counts, self._counts["in_means"]
            return StreamCounts(
                open=len(self._open),
                skipped=counts["skipped"],
                **{name: counts[name] for name in _COUNTS},
                watermark=self._watermark,
                means=self._means() if in_means else {},
                totals=dict(self._totals),
                warnings=self._warnings() if in_means else (),
                outcomes=outcome_rows(self._outcome_counts) if self._outcome_counts else None,
            )

    def _means(self) -> dict[str, float | None]:
        sums, defined = self._sums, self._defined
        return {
            metric.name: sums[metric.name] / defined[metric.name] if defined[metric.name] else None
            for metric in self._metrics
            if self._counts["labelled"] or not metric.needs_labels
        }

    def _warnings(self) -> list[DataWarning]:
        found = self._in_means
        return warnings_of(
            CheckInputs.of_scores(
                found.counts, self._scoring, contradicted_ids=found.contradicted_ids
            )
        )

    def count(self, element: Any) -> None:
        """Count an element by its type."""
        with self._lock:
            self._count(element)

    def count_skipped(self, element: Any) -> None:
        """Count the records whose rows are not written, since they lie before `--since`."""
        with self._lock:
            self._counts["skipped"] += _records_in(element)

    def count_written(self, dataset: str, rows: Sequence[Row]) -> None:
        """Count rows that were written to a file."""
        with self._lock:
            self._totals.update(totals_of(dataset, rows))

    def _count(self, element: Any) -> None:
        counts = self._counts
        if isinstance(element, ReadRecords):
            counts["read"] += element.records
            counts["ahead"] += element.ahead
            counts["changed"] += element.changed
            if element.watermark is not None:
                self._watermark = element.watermark
            self._open.update(element.conversation_ids)
        elif isinstance(element, RejectedRecord):
            counts["rejected"] += element.records
        elif isinstance(element, dict):
            self._outcome_counts.update(element)
        elif isinstance(element, UnusedRow):
            self._outcome_counts["outcomes.rejected"] += 1
        elif isinstance(element, LateRow):
            counts["late"] += 1
            self._open.discard(element.conversation_id)
        elif isinstance(element, StillOpen):
            counts["still_open"] += element.records
        elif isinstance(element, MissedByMeans):
            counts["missed"] += 0 if element.slice else element.conversations
        elif isinstance(element, ConversationScore):
            counts["closed"] += 1
            self._open.discard(element.conversation.conversation_id)
            self._outcome_counts.update(
                {name: element.counts[name] for name in _OF_ROWS if name in element.counts}
            )
            if element.counts["conversations.in_means"]:
                self._add_to_means(element)

    def _add_to_means(self, score: ConversationScore) -> None:
        row = score.conversation
        self._counts["in_means"] += 1
        self._counts["labelled"] += row.R - row.unlabelled
        self._in_means.add(score)
        for metric in self._metrics:
            if (value := row[metric.name]) is not None:
                self._sums[metric.name] += value
                self._defined[metric.name] += 1


def _records_in(element: Any) -> int:
    """The number of records whose outcome an element is."""
    if isinstance(element, ConversationScore):
        return sum(element.counts[name] for name in _RECORDS_OUT)
    if isinstance(element, RejectedRecord):
        return element.records
    return isinstance(element, LateRow)


@dataclass(eq=False, repr=False)
class Count(beam.PTransform):
    """Counts elements, and passes them on.

    Attributes:
      counter: None = they are only passed on.
    """

    counter: StreamCounter | None

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        """Apply the transform."""
        if self.counter is None:
            return elements
        passed = elements | "Count" >> beam.ParDo(_Count(self.counter))
        passed.element_type = elements.element_type
        return passed


@dataclass(eq=False, repr=False)
class _Count(beam.DoFn):
    counter: StreamCounter

    def process(self, element: Any) -> Iterator[Any]:
        self.counter.count(element)
        yield element
