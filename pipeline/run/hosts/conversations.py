"""The conversations of an evaluation in batch: read, and joined with what labels them.

Runs and the building of pools begin with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.pipeline.inputs.any_filesystem import ANY_FILESYSTEM
from goodgain.pipeline.run.hosts.counts import Counts, keep_smallest
from goodgain.pipeline.run.hosts.joins_in_memory import JoinQrelsInMemory, JoinTableInMemory
from goodgain.pipeline.run.plan.evaluation import Evaluation, find_evaluation
from goodgain.pipeline.run.plan.given_tables import GivenTable
from goodgain.pipeline.run.plan.judgments import SHOWN_PROBLEMS, check_beginnings
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.transforms.core.files.shard import DEFAULT_SHARD_BYTES
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.qrels import JoinQrels, Labelling
from goodgain.transforms.read_payloads import ReadFiles, ReadPayloads
from goodgain.transforms.read_qrels import ReadQrels
from goodgain.transforms.side_table_join import JoinSideTable, ReadSideTable, to_rejected_rows


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


class Conversations(NamedTuple):
    """The outputs of `ReadConversations`."""

    files: ReadFiles
    labels: JoinedPayloads


@dataclass(eq=False, repr=False)
class ReadConversations(beam.PTransform):
    """PBegin to `Conversations`: reads traces, and joins what labels them.

    Attributes:
      packing: how records are packed into payloads.
      max_held_bytes: see `ReadPayloads`.
      in_memory: whether the engine keeps all data in this process, so that judgments and rows of
        tables are, too.
    """

    evaluation: Evaluation
    packing: Packing
    max_held_bytes: int | None
    in_memory: bool

    def expand(self, begin: beam.pvalue.PBegin) -> Conversations:
        """Apply the transform."""
        pipeline, evaluation, held = begin.pipeline, self.evaluation, self.max_held_bytes
        files = pipeline | "Read" >> ReadPayloads(
            evaluation.traces.files,
            self.packing,
            DEFAULT_SHARD_BYTES,
            evaluation.settings.adaptation,
            evaluation.settings.read_bounds,
            held,
        )
        labels = JoinedPayloads(files.payloads)
        if evaluation.qrels:
            labels = _with_qrels(pipeline, files, evaluation, held, self.in_memory)
        for given in (evaluation.labels, evaluation.outcomes):
            if given:
                with_table = _with_table_in_memory if self.in_memory else _with_table
                labels = with_table(labels, given, held)
        return Conversations(files, labels)


def open_conversations(settings: ExplainConfig, started: datetime) -> Evaluation:
    """The evaluation of traces that a pipeline reads.

    Raises:
      UsageError: the traces, the rules, or what labels the results cannot be found or used.
    """
    evaluation = find_evaluation(settings, ANY_FILESYSTEM, started)
    check_beginnings(evaluation.qrels, open_plain, settings.label_map)
    return evaluation


def _with_qrels(
    pipeline: beam.Pipeline,
    files: ReadFiles,
    evaluation: Evaluation,
    max_held_bytes: int | None,
    in_memory: bool,
) -> JoinedPayloads:
    qrels, label_map = evaluation.qrels, evaluation.settings.label_map
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
    first = problems | "FirstProblems" >> keep_smallest(SHOWN_PROBLEMS)
    payloads = (files.payloads, joined.payloads) | "Labels" >> beam.Flatten()
    return JoinedPayloads(payloads, [joined.counts], first)


def _with_table(
    joined: JoinedPayloads, given: GivenTable[Any], max_held_bytes: int | None
) -> JoinedPayloads:
    """Join a table beside the traces, too."""
    table = given.table
    title = table.name.capitalize()
    read = joined.payloads.pipeline | f"Read{title}" >> ReadSideTable(
        table, given.files, max_held_bytes
    )
    rows = joined.payloads | f"Join{title}" >> JoinSideTable(table, read.rows)
    unused = rows.unused | f"Unused{title}" >> to_rejected_rows(given.files)
    return joined._replace(
        payloads=(joined.payloads, rows.payloads) | f"Given{title}" >> beam.Flatten(),
        counts=[*joined.counts, read.counts, rows.counts],
        rejected={
            **joined.rejected,
            table.name: (read.rejected, unused) | f"Rejected{title}" >> beam.Flatten(),
        },
    )


def _with_table_in_memory(
    joined: JoinedPayloads, given: GivenTable[Any], max_held_bytes: int | None
) -> JoinedPayloads:
    """Like `_with_table`, on an engine that keeps all data in this process."""
    title = given.table.name.capitalize()
    rows = joined.payloads | f"Join{title}" >> JoinTableInMemory(given, max_held_bytes)
    return joined._replace(
        payloads=(joined.payloads, rows.payloads) | f"Given{title}" >> beam.Flatten(),
        counts=[*joined.counts, rows.counts],
        rejected={**joined.rejected, given.table.name: rows.rejected},
    )
