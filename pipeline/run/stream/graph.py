"""The whole streaming pipeline on one screen: read, key, close, combine, write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from msgspec import Struct

from goodgain.pipeline.results import rows
from goodgain.pipeline.run.plan.given_tables import GivenTable
from goodgain.pipeline.run.stream import datasets
from goodgain.pipeline.run.stream.counter import Count, StreamCounter
from goodgain.pipeline.run.stream.pane_files import StreamTarget
from goodgain.pipeline.run.stream.sinks import WritePanes
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.pipeline.settings.struct_options import values_for
from goodgain.transforms.core.files.outcomes import OutcomesOfRow, OutcomeTable
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.side_table_join import ReadSideTable, SideTableRead, to_rejected_rows
from goodgain.transforms.stream_end import StreamEnd
from goodgain.transforms.times import millis_of
from goodgain.transforms.windowed_means import WindowedMeans


class StreamPlan(Struct, frozen=True):
    """Everything that the graph of a stream is built from.

    Attributes:
      source: a transform that returns `StreamedTraces`.
      end: what stops the stream, and which timers still fire then.
      outcomes: files of outcomes.
      counter: counts what passes; None if the workers are other processes.
      has_checkpoints: whether the engine goes on from a checkpoint after a failure.
    """

    config: StreamConfig
    scoring: Scoring
    source: beam.PTransform
    end: StreamEnd
    outcomes: GivenTable[OutcomesOfRow] = GivenTable(OutcomeTable())
    counter: StreamCounter | None = None
    has_checkpoints: bool = False

    @property
    def closing(self) -> Closing:
        """The rules for closing conversations."""
        return Closing(**values_for(Closing, self.config))

    @property
    def target(self) -> StreamTarget:
        """Where and how to write."""
        config = self.config
        return StreamTarget(
            config.output,
            config.format,
            config.shards,
            config.window,
            config.flush,
            self.counter,
            at_once=not self.has_checkpoints,
        )


def build(pipeline: beam.Pipeline, plan: StreamPlan) -> None:
    """Put the streaming pipeline together."""
    config, scoring, closing = plan.config, plan.scoring, plan.closing
    traces = pipeline | "Read" >> plan.source
    given = _read_outcomes(pipeline, plan.outcomes)
    scored = traces.payloads | "Score" >> ScoreStreamedPayloads(
        scoring, closing, plan.end, None if given is None else given.rows
    )
    scores = scored.scores | "CountScores" >> Count(plan.counter) | "Scores" >> _OnlySince(plan)
    means = scores | "Means" >> WindowedMeans(
        scoring,
        closing,
        config.means,
        config.window,
        plan.end,
    )
    rejected = (
        (traces.rejected, scored.rejected)
        | "AllRejected" >> beam.Flatten()
        | "CountRejected" >> Count(plan.counter)
        | "Rejected" >> _OnlySince(plan)
    )
    late = scored.late | "CountLate" >> Count(plan.counter) | "Late" >> _OnlySince(plan)
    _ = traces.read | "CountRead" >> Count(plan.counter)
    _ = scored.still_open | "CountOpen" >> Count(plan.counter)
    _ = means.missed | "CountMissed" >> Count(plan.counter)

    _ = scores | "WriteScores" >> WritePanes(plan.target, datasets.rows_of_stream(scoring))
    _ = means.rows | "WriteMeans" >> _write_windows(plan, datasets.ROWS_OF_MEANS)
    if scoring.outcomes:
        _ = means.relations | "WriteRelations" >> _write_windows(plan, datasets.ROWS_OF_RELATIONS)
    _ = means.warnings | "WriteWarnings" >> _write_windows(plan, datasets.ROWS_OF_WARNINGS)
    _ = rejected | "WriteRejected" >> WritePanes(plan.target, rows.REJECTED)
    _ = late | "WriteLate" >> WritePanes(plan.target, rows.LATE)
    if given is not None:
        _ = given.counts | "CountOutcomes" >> Count(plan.counter)
        rejected_outcomes = _rejected_outcomes(plan, given, scored.unused)
        _ = rejected_outcomes | "WriteRejectedOutcomes" >> WritePanes(
            plan.target, rows.REJECTED_ROWS["outcomes"]
        )
    if config.live:
        _ = (
            scored.live
            | "Live" >> _OnlySince(plan)
            | "WriteLive" >> WritePanes(plan.target, datasets.rows_of_live(scoring.plan))
        )


def _read_outcomes(
    pipeline: beam.Pipeline, given: GivenTable[OutcomesOfRow]
) -> SideTableRead | None:
    if not given:
        return None
    read: SideTableRead = pipeline | "ReadOutcomes" >> ReadSideTable(given.table, given.files)
    return read


def _rejected_outcomes(
    plan: StreamPlan, given: SideTableRead, unused: beam.PCollection[Any]
) -> beam.PCollection[RejectedRecord]:
    """The rows of outcomes that cannot be used, or were not."""
    counted = (
        unused
        | "CountUnused" >> Count(plan.counter)
        | "UnusedOutcomes" >> to_rejected_rows(plan.outcomes.files)
    )
    rejected: beam.PCollection[RejectedRecord] = (
        given.rejected,
        counted,
    ) | "RejectedOutcomes" >> beam.Flatten()
    return rejected


@dataclass(eq=False, repr=False)
class _OnlySince(beam.PTransform):
    """Drops elements of windows before `--since`, whose rows stay as they lie."""

    plan: StreamPlan

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        since = self.plan.config.since_window
        if since is None:
            return elements
        only = elements | "OnlySince" >> beam.ParDo(_DropBefore(since, self.plan.counter))
        only.element_type = elements.element_type
        return only


@dataclass(eq=False, repr=False)
class _DropBefore(beam.DoFn):
    since: int
    counter: StreamCounter | None

    def process(self, element: Any, timestamp: Any = beam.DoFn.TimestampParam) -> Iterator[Any]:
        if millis_of(timestamp) >= self.since:
            yield element
        elif self.counter is not None:
            self.counter.count_skipped(element)


def _write_windows(plan: StreamPlan, of_windows: rows.SortedRows) -> WritePanes:
    """Write rows about windows of event time into the files of these."""
    return WritePanes(plan.target, of_windows, datasets.start_of_window)
