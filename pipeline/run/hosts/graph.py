"""The whole batch pipeline on one screen: read, key, score, combine, write."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import apache_beam as beam
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results import datasets, rows
from goodgain.pipeline.results.duplicate_tables import FoundDuplicates, duplicate_tables
from goodgain.pipeline.results.folder import unfinished_folder
from goodgain.pipeline.results.iteration_tables import FoundIterations, iteration_tables
from goodgain.pipeline.results.means import WriteMeans
from goodgain.pipeline.results.rows import DatasetRows, TablesOf
from goodgain.pipeline.results.sinks import Target, WriteEmpty, WriteRows, WrittenFile
from goodgain.pipeline.run.hosts.conversations import ReadConversations
from goodgain.pipeline.run.hosts.counts import (
    count_elements,
    counts_of_score,
    find_contradicted_ids,
    keep_smallest,
    sum_to_side_input,
)
from goodgain.pipeline.run.hosts.finish import StartedRun, finish, write_summary
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.transforms.core.means.values import cluster_counts
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.id_checks import MOST_EXAMPLES
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.means import SumMeans
from goodgain.transforms.score import ScorePayloads
from goodgain.transforms.side_table_join import to_rejected_rows


class Plan(Struct, frozen=True):
    """Everything that the graph of a run is built from.

    Attributes:
      in_state: whether a stateful DoFn folds conversations (`ScorePayloads`), as on the engine that
        keeps everything in this process; others group them.
      threads: how many threads of native code read one file (`Packing.threads`).
      finishes: whether the last step of the graph finishes the run, because no program waits for
        the end.
    """

    run: StartedRun
    target: Target
    in_state: bool = False
    threads: int = 1
    finishes: bool = False

    @property
    def evaluation(self) -> Evaluation:
        """What the run evaluates."""
        return self.run.evaluation

    @property
    def scoring(self) -> Scoring:
        """How it scores conversations."""
        return self.run.evaluation.scoring


def build(pipeline: beam.Pipeline, plan: Plan) -> None:
    """Put the batch pipeline together."""
    run, config = plan.run, plan.run.config
    packing = Packing.of(plan.scoring, plan.threads)
    files, labels = pipeline | "Conversations" >> ReadConversations(
        plan.evaluation, packing, plan.target.max_held_bytes, plan.in_state
    )
    scored = labels.payloads | "Score" >> ScorePayloads(
        plan.scoring, plan.in_state, plan.target.max_held_bytes, (files.rejected, files.counts)
    )
    scores, (rejected, read_counts) = scored

    means = scores | "Means" >> SumMeans(plan.scoring, config.means)

    counts = (
        read_counts | "CountRead" >> count_elements(dict),
        scores | "CountScores" >> count_elements(counts_of_score),
        *(
            [
                scores
                | "CountAlone" >> count_elements(partial(cluster_counts, cluster_by=config.cluster))
            ]
            if config.cluster
            else []
        ),
        *labels.counts,
    )
    written = (
        scores | "WrittenParts" >> beam.Map(_reduce_to_rows) | "WriteScores" >> _write_scores(plan),
        means | "WriteMeans" >> WriteMeans(plan.target, plan.scoring, config.interval),
        rejected | "WriteRejected" >> WriteRows(plan.target, rows.REJECTED),
        # In batch no record is late, but the dataset must exist.
        pipeline | "WriteLate" >> WriteEmpty(plan.target, rows.LATE),
        *(
            _write_rejected_rows(plan, name, rejected_rows, scores)
            for name, rejected_rows in labels.rejected.items()
        ),
    )
    summary = (
        pipeline
        | "Once" >> beam.Create([unfinished_folder(plan.target.folder, plan.target.area)])
        | "WriteSummary"
        >> beam.Map(
            write_summary,
            files=beam.pvalue.AsList(written | "Files" >> beam.Flatten()),
            counts=sum_to_side_input(counts),
            contradicted_ids=beam.pvalue.AsSingleton(
                scores
                | "ContradictedIds" >> beam.FlatMap(find_contradicted_ids)
                | "Examples" >> keep_smallest(MOST_EXAMPLES),
                [],
            ),
            qrels_problems=beam.pvalue.AsSingleton(labels.problems, []) if labels.problems else [],
        )
    )
    if plan.finishes:
        _ = summary | "Finish" >> beam.Map(_finish, run)


def _write_rejected_rows(
    plan: Plan,
    table: str,
    rejected: beam.PCollection[RejectedRecord],
    scores: beam.PCollection[ConversationScore],
) -> beam.PCollection[WrittenFile]:
    """Write the rows of a table beside the traces that cannot be used."""
    if table == "labels":
        unmatched = (
            scores
            | "UnmatchedLabels" >> beam.FlatMap(_rejected_labels).with_output_types(UnusedRow)
            | "UnmatchedRows" >> to_rejected_rows(plan.evaluation.labels.files)
        )
        rejected = (rejected, unmatched) | "AllRejectedLabels" >> beam.Flatten()
    write = WriteRows(plan.target, rows.REJECTED_ROWS[table])
    written: beam.PCollection[WrittenFile] = (
        rejected | f"WriteRejected{table.capitalize()}" >> write
    )
    return written


def _rejected_labels(score: ConversationScore) -> list[UnusedRow]:
    return score.rejected_labels


def _write_scores(plan: Plan) -> WriteRows:
    conversations = DatasetRows(
        datasets.conversations(plan.scoring.plan, bool(plan.evaluation.qrels)),
        rows.conversation_rows,
    )
    of_scores = rows.rows_of_scores(plan.scoring, conversations)
    with_tables = tuple(map(_with_tables, of_scores.datasets))
    return WriteRows(plan.target, replace(of_scores, datasets=with_tables))


def _with_tables(of_dataset: DatasetRows) -> DatasetRows:
    """The rows of a dataset that may be large made many at a time, where the format allows it."""
    dataset = of_dataset.dataset
    if dataset == datasets.DUPLICATES:
        return replace(of_dataset, tables=TablesOf(FoundDuplicates, duplicate_tables))
    if dataset.name == datasets.ITERATIONS:
        tables = TablesOf(FoundIterations, partial(iteration_tables, dataset))
        return replace(of_dataset, tables=tables)
    return of_dataset


def _reduce_to_rows(score: ConversationScore) -> ConversationScore:
    """A score with only what its rows are made of, less than half of its bytes."""
    return replace(
        score,
        by_i=score.by_i[: len(score.numbers)],
        idle=(),
        budgets=[],
        ratios=[],
        best=None,
        counts={},
        rejected_labels=[],
        contradicted_ids=[],
    )


def _finish(_: None, run: StartedRun) -> None:
    finish(run, datetime.now(UTC))
