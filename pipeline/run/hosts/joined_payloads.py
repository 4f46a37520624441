"""Labels and outcomes from files, joined with the conversations of a run in batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.pipeline.run.hosts.counts import Counts, count_elements
from goodgain.pipeline.run.hosts.judgments_in_memory import JoinQrelsInMemory
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.judgments import SHOWN_PROBLEMS
from goodgain.transforms.core.files.outcomes import unused_record
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES
from goodgain.transforms.core.judgments.result_labels import RejectedLabel
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.labels import JoinLabels, ReadLabels
from goodgain.transforms.outcomes import JoinOutcomes, ReadOutcomes
from goodgain.transforms.qrels import JoinQrels, Labelling
from goodgain.transforms.read import ReadFiles
from goodgain.transforms.read_qrels import ReadQrels


class JoinedPayloads(NamedTuple):
    """The payloads of the conversations with what labels them, and what became of the labels.

    Attributes:
      problems: a list of the first problems with judgments; None without judgments.
      rejected, unplaced: labels of single results that cannot be used, and those without a place
        in the traces; None without such labels.
      rejected_outcomes: rows of outcomes that cannot be used; None without files of outcomes.
    """

    payloads: beam.PCollection[Any]
    counts: Sequence[beam.PCollection[Counts]] = ()
    problems: beam.PCollection[Any] | None = None
    rejected: beam.PCollection[RejectedRecord] | None = None
    unplaced: beam.PCollection[RejectedLabel] | None = None
    rejected_outcomes: beam.PCollection[RejectedRecord] | None = None


def join_labels(
    pipeline: beam.Pipeline,
    files: ReadFiles,
    evaluation: Evaluation,
    max_held_bytes: int | None,
    in_memory: bool,
) -> JoinedPayloads:
    """Join labels from judgments, and labels and outcomes from files, with their conversations.

    Args:
      max_held_bytes: see `ReadPayloads`.
      in_memory: whether the engine keeps all data in this process, so that judgments are, too.
    """
    labels = JoinedPayloads(files.payloads)
    if evaluation.qrels:
        labels = _with_qrels(pipeline, files, evaluation, max_held_bytes, in_memory)
    if evaluation.labels:
        labels = _with_given(pipeline, labels, evaluation, max_held_bytes)
    if evaluation.outcomes.files:
        labels = _with_outcomes(pipeline, labels, evaluation, max_held_bytes)
    return labels


def _with_qrels(
    pipeline: beam.Pipeline,
    files: ReadFiles,
    evaluation: Evaluation,
    max_held_bytes: int | None,
    in_memory: bool,
) -> JoinedPayloads:
    qrels, label_map = evaluation.qrels, evaluation.settings.label_scale
    exclusions = evaluation.scoring.exclusions
    if in_memory:
        join = JoinQrelsInMemory(qrels, max_held_bytes, label_map, exclusions)
        joined: Labelling = files.label_requests | "JoinQrels" >> join
        problems = joined.problems
    else:
        read = pipeline | "ReadQrels" >> ReadQrels(
            qrels, DEFAULT_SHARD_BYTES, max_held_bytes, label_map
        )
        joined = files.label_requests | "JoinQrels" >> JoinQrels(read.judgments, exclusions)
        problems = (read.problems, joined.problems) | "QrelsProblems" >> beam.Flatten()
    first = problems | "FirstProblems" >> beam.combiners.Top.Smallest(SHOWN_PROBLEMS)
    payloads = (files.payloads, joined.payloads) | "Labels" >> beam.Flatten()
    return JoinedPayloads(payloads, [joined.counts], first)


def _with_given(
    pipeline: beam.Pipeline,
    labels: JoinedPayloads,
    evaluation: Evaluation,
    max_held_bytes: int | None,
) -> JoinedPayloads:
    read = pipeline | "ReadLabels" >> ReadLabels(
        evaluation.labels, evaluation.settings.iteration_base, max_held_bytes
    )
    joined = labels.payloads | "JoinLabels" >> JoinLabels(read.labels)
    unplaced = joined.rejected | "CountUnplaced" >> count_elements(_one_rejected)
    return labels._replace(
        payloads=(labels.payloads, joined.payloads) | "GivenLabels" >> beam.Flatten(),
        counts=[*labels.counts, read.counts, unplaced],
        rejected=read.rejected,
        unplaced=joined.rejected,
    )


def _with_outcomes(
    pipeline: beam.Pipeline,
    labels: JoinedPayloads,
    evaluation: Evaluation,
    max_held_bytes: int | None,
) -> JoinedPayloads:
    given = evaluation.outcomes
    read = pipeline | "ReadOutcomes" >> ReadOutcomes(given.files, given.names, max_held_bytes)
    joined = labels.payloads | "JoinOutcomes" >> JoinOutcomes(read.outcomes)
    to_rows = beam.Map(unused_record, given.files).with_output_types(RejectedRecord)
    rejected = (
        read.rejected,
        joined.unused | "UnusedOutcomes" >> to_rows,
    ) | "RejectedOutcomes" >> beam.Flatten()
    return labels._replace(
        payloads=(labels.payloads, joined.payloads) | "GivenOutcomes" >> beam.Flatten(),
        counts=[*labels.counts, read.counts, joined.counts],
        rejected_outcomes=rejected,
    )


def _one_rejected(_: RejectedLabel) -> Counts:
    return {"labels.rejected": 1}
