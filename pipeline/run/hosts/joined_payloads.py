"""Labels and outcomes from files, joined with the conversations of a run in batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.pipeline.run.hosts.counts import Counts
from goodgain.pipeline.run.hosts.judgments_in_memory import JoinQrelsInMemory
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.judgments import SHOWN_PROBLEMS
from goodgain.pipeline.run.plan.side_tables import GivenTable
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES
from goodgain.transforms.core.files.side_tables import rejected_row
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.qrels import JoinQrels, Labelling
from goodgain.transforms.read import ReadFiles
from goodgain.transforms.read_qrels import ReadQrels
from goodgain.transforms.side_tables import JoinSideTable, ReadSideTable


class JoinedPayloads(NamedTuple):
    """The payloads of the conversations with what labels them, and what became of the labels.

    Attributes:
      problems: a list of the first problems with judgments; None without judgments.
      rejected: for each table beside the traces, like `labels`, its rows that cannot be used or
        belong to no conversation.
    """

    payloads: beam.PCollection[Any]
    counts: Sequence[beam.PCollection[Counts]] = ()
    problems: beam.PCollection[Any] | None = None
    rejected: Mapping[str, beam.PCollection[RejectedRecord]] = MappingProxyType({})


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
    for given in (evaluation.labels, evaluation.outcomes):
        if given:
            labels = _with_table(pipeline, labels, given, max_held_bytes)
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


def _with_table(
    pipeline: beam.Pipeline,
    joined: JoinedPayloads,
    given: GivenTable[Any],
    max_held_bytes: int | None,
) -> JoinedPayloads:
    """Join a table beside the traces, too."""
    table = given.table
    title = table.name.capitalize()
    read = pipeline | f"Read{title}" >> ReadSideTable(table, given.files, max_held_bytes)
    rows = joined.payloads | f"Join{title}" >> JoinSideTable(table, read.rows)
    unused = rows.unused | f"Unused{title}" >> to_rejected_rows(given)
    return joined._replace(
        payloads=(joined.payloads, rows.payloads) | f"Given{title}" >> beam.Flatten(),
        counts=[*joined.counts, read.counts, rows.counts],
        rejected={
            **joined.rejected,
            table.name: (read.rejected, unused) | f"Rejected{title}" >> beam.Flatten(),
        },
    )


def to_rejected_rows(given: GivenTable[Any]) -> beam.PTransform:
    """`PCollection[UnusedRow]` of a table to `PCollection[RejectedRecord]`."""
    return beam.Map(rejected_row, given.files).with_output_types(RejectedRecord)
