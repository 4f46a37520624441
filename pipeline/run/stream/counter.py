"""Counts of a stream, for the live view and the final balance of records (SPEC 3)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.given_parts import outcome_rows
from goodgain.pipeline.run.stream.stream_counts import StreamCounts, totals_of
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
_RECORDS_OUT = ("records.scored", "records.earlier_turn", "records.redelivered")


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
