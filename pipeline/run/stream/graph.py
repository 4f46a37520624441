"""The whole streaming pipeline on one screen: read, key, close, combine, write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import apache_beam as beam
from msgspec import Struct

from goodgain.pipeline.results import datasets as batch_datasets
from goodgain.pipeline.results import rows
from goodgain.pipeline.results.sinks import DatasetRows
from goodgain.pipeline.run.stream import datasets, resume
from goodgain.pipeline.run.stream.datasets import StreamRows
from goodgain.pipeline.run.stream.live_counters import CountLive
from goodgain.pipeline.run.stream.sinks import NoteProgress, StreamTarget, WritePanes
from goodgain.pipeline.settings.stream_config import StreamConfig
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.rows import LateRow
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import Closing
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.windowed_means import (
    MissedByMeans,
    WindowedMeanRow,
    WindowWarnings,
)
from goodgain.transforms.score_stream import ScoreStreamedPayloads
from goodgain.transforms.stream_end import StreamEnd
from goodgain.transforms.times import millis_of
from goodgain.transforms.windowed_means import WindowedMeans


class StreamPlan(Struct, frozen=True):
    """Everything that the graph of a stream is built from.

    Attributes:
      source: a transform that returns `StreamedTraces`.
      start: number of this start, from 1.
      progress_folder: where the sinks record their progress; None if the engine restores streams.
      end: what stops the stream, and which timers still fire then.
    """

    config: StreamConfig
    scoring: Scoring
    source: beam.PTransform
    start: int
    progress_folder: Path | None
    end: StreamEnd

    @property
    def closing(self) -> Closing:
        """The rules for closing conversations."""
        return Closing(
            gap=self.config.gap,
            allowed_lateness=self.config.allowed_lateness,
            max_open=self.config.max_open,
            most_results=self.config.max_open_results,
            most_bytes=self.config.max_open_bytes,
            out_of_orderness=self.config.out_of_orderness,
            live=self.config.live,
        )


def build(pipeline: beam.Pipeline, plan: StreamPlan) -> None:
    """Put the streaming pipeline together."""
    config, scoring = plan.config, plan.scoring
    closing = plan.closing
    target = StreamTarget(
        config.output, config.format, config.shards, plan.start, config.window, config.flush
    )
    traces = pipeline | "Read" >> plan.source
    _ = traces.read | "CountRead" >> CountLive()
    scored = traces.payloads | "Score" >> ScoreStreamedPayloads(scoring, closing, plan.end)
    scores = scored.scores | "CountScores" >> CountLive()
    late = scored.late | "CountLate" >> CountLive()
    rejected = (
        (traces.rejected, scored.rejected)
        | "Rejected" >> beam.Flatten()
        | "CountRejected" >> CountLive()
    )

    means = scores | "Means" >> WindowedMeans(
        scoring,
        closing,
        config.slice,
        config.window,
        config.interval,
        config.cluster,
        plan.end,
    )
    new_scores = scores | "NewScores" >> _OnlyNew()
    missed_before = new_scores | "MissedBefore" >> beam.FlatMap(
        resume.missed_before, config.window
    ).with_output_types(MissedByMeans)
    _ = (
        (means.missed | "NewMissed" >> _OnlyNew(), missed_before)
        | "Missed" >> beam.Flatten()
        | "CountMissed" >> CountLive()
    )

    stream_rows = StreamRows(plan.start)
    files = [
        new_scores | "WriteScores" >> _write_scores(target, scoring, stream_rows),
        means.rows
        | "NewMeans" >> _OnlyNew()
        | "WriteMeans"
        >> _write_one(
            target, datasets.MEANS, stream_rows.mean, WindowedMeanRow, _windowed_mean_key
        ),
        means.warnings
        | "NewWarnings" >> _OnlyNew()
        | "WriteWarnings"
        >> _write_one(
            target, datasets.WARNINGS, stream_rows.warnings, WindowWarnings, _warnings_key
        ),
        rejected
        | "NewRejected" >> _OnlyNew()
        | "WriteRejected"
        >> _write_one(
            target, batch_datasets.REJECTED, rows.struct_row, RejectedRecord, rows.rejected_key
        ),
        late
        | "NewLate" >> _OnlyNew()
        | "WriteLate"
        >> _write_one(target, batch_datasets.LATE, rows.struct_row, LateRow, rows.late_key),
    ]
    if config.live:
        files.append(
            scored.live
            | "NewLive" >> beam.Filter(_is_new_live).with_output_types(LiveIteration)
            | "WriteLive"
            >> _write_one(
                target,
                datasets.live(scoring.plan),
                stream_rows.live,
                LiveIteration,
                _live_key,
            )
        )
    _ = (
        files
        | "Files" >> beam.Flatten()
        | "Progress" >> NoteProgress(plan.progress_folder, plan.end)
    )


class _OnlyNew(beam.PTransform):
    """Filters out elements that earlier starts of the stream have written."""

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Any]:
        only = elements | "Only" >> beam.Filter(resume.is_new)
        only.element_type = elements.element_type
        return only


def _is_new_live(live: LiveIteration, timestamp: Any = beam.DoFn.TimestampParam) -> bool:
    """False for rows of closed conversations, whose records a restart reads only in part."""
    return resume.is_new_live(live, millis_of(timestamp))


def _write_scores(target: StreamTarget, scoring: Scoring, stream_rows: StreamRows) -> WritePanes:
    dataset_rows = [DatasetRows(batch_datasets.iterations(scoring.plan), rows.iteration_rows)]
    if scoring.per_call:
        dataset_rows.append(DatasetRows(batch_datasets.calls(scoring.plan), rows.call_rows))
    if scoring.keep_duplicates:
        dataset_rows.append(DatasetRows(batch_datasets.DUPLICATES, rows.duplicate_rows))
    # Last, since the file of a conversation's row implies that its other rows are written.
    dataset_rows.append(DatasetRows(datasets.conversations(scoring.plan), stream_rows.conversation))
    return WritePanes(target, dataset_rows, ConversationScore, rows.score_key)


def _write_one(
    target: StreamTarget,
    dataset: batch_datasets.Dataset,
    rows_of: Callable[[Any], Any],
    element_type: type[Struct],
    key_of: Callable[[Any], str],
) -> WritePanes:
    return WritePanes(target, [DatasetRows(dataset, rows_of)], element_type, key_of)


def _windowed_mean_key(mean: WindowedMeanRow) -> str:
    return f"{mean.window_start:020d} {mean.pane:06d} {rows.mean_key(mean.row)}"


def _warnings_key(warnings: WindowWarnings) -> str:
    return f"{warnings.window_start:020d} {warnings.pane:06d}"


def _live_key(live: LiveIteration) -> str:
    return f"{live.row.conversation_id} {live.row.turn:06d} {live.row.i:06d} {live.revision:06d}"
