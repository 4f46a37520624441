"""The pipeline that builds a pool: its graph, and what it returns at its end (SPEC 9)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.results import pool_store
from goodgain.pipeline.results.datasets import pool_documents
from goodgain.pipeline.results.folder import UNFINISHED, discard_unfinished, write_file
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.results.rows import DatasetRows, SortedRows
from goodgain.pipeline.results.sinks import Target, WriteRows, WrittenFile
from goodgain.pipeline.run.engines.failures import engine_failures
from goodgain.pipeline.run.hosts.conversations import ReadConversations
from goodgain.pipeline.run.hosts.counts import (
    Counts,
    count_elements,
    counts_of_score,
    find_contradicted_ids,
    keep_smallest,
    sum_counts,
    sum_to_side_input,
)
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.judgments import SHOWN_PROBLEMS, describe
from goodgain.pipeline.settings.pool_config import PoolConfig
from goodgain.pipeline.studies.pool.pool_counts import (
    BuiltFacts,
    contribution_counts,
    drop_counts,
    topic_counts,
)
from goodgain.transforms.core.errors import GoodGainError, UsageError
from goodgain.transforms.core.judgments.judgment import QrelsProblem
from goodgain.transforms.core.pool.document_rows import document_row
from goodgain.transforms.core.pool_building.building import BuiltTopic
from goodgain.transforms.core.pool_building.contribution import Contribution
from goodgain.transforms.core.scoring.id_checks import MOST_EXAMPLES, ContradictedId
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.filesystems import join, open_plain
from goodgain.transforms.pool import BuildPool, ContributeToPool

_SHOWN_REFUSED = 5
_SUMMARY = "summary.json"


class PoolPlan(Struct, frozen=True):
    """What a pool is built from.

    Attributes:
      evaluations: by name of the run, how it is read and labelled.
      before: the pool to update; None for a new one.
      in_memory: whether the engine keeps all data in this process.
    """

    request: PoolConfig
    evaluations: Mapping[str, Evaluation]
    before: Pool | None
    target: Target
    in_memory: bool


def run_pool_pipeline(plan: PoolPlan, engine: Any, options: Any) -> BuiltFacts:
    """Write the documents of a pool below `.unfinished/`.

    Raises:
      UsageError: a conversation is in the pool already, or judgments cannot be used.
      GoodGainError: the engine failed.
    """
    folder = plan.request.folder
    local = isinstance(engine, FnApiRunner)
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL if local else logging.ERROR)
    pipeline = beam.Pipeline(runner=engine, options=options)
    _build_graph(pipeline, plan)
    try:
        with engine_failures("Building the pool failed"):
            pipeline.run().wait_until_finish()
    except (GoodGainError, KeyboardInterrupt):
        discard_unfinished(folder)
        raise
    with open_plain(join(folder, UNFINISHED, _SUMMARY)) as file:
        facts = msgspec.json.decode(file.read(), type=BuiltFacts)
    if facts.refused or facts.qrels_problems:
        discard_unfinished(folder)
        raise UsageError(
            _refusal(facts.refused, folder) if facts.refused else _describe(facts, plan)
        )
    return facts


def _refusal(refused: Sequence[tuple[str, str]], folder: str) -> str:
    shown = ", ".join(f"{name}: {conversation}" for name, conversation in refused[:_SHOWN_REFUSED])
    more = " and others" if len(refused) > _SHOWN_REFUSED else ""
    return (
        f"The pool {folder} already holds conversations of these runs ({shown}{more}); nothing was "
        "changed. Use another name for the run, or --replace to replace the old ones."
    )


def _describe(facts: BuiltFacts, plan: PoolPlan) -> str:
    qrels = next(iter(plan.evaluations.values())).qrels  # the same for all runs
    return describe(facts.qrels_problems, qrels, open_plain)


def _build_graph(pipeline: beam.Pipeline, plan: PoolPlan) -> None:
    """Build the graph: read each run, gather its conversations, pool them by topic, write."""
    runs = [
        _read_run(pipeline, plan, name, evaluation) for name, evaluation in plan.evaluations.items()
    ]
    rules, before = next(iter(plan.evaluations.values())).traces.rules, plan.before
    everything = [run.contributions for run in runs] | "Contributions" >> beam.Flatten()
    everything.element_type = Contribution
    built = everything | "Build" >> BuildPool(
        rules, before.files.paths() if before else (), plan.request.replace
    )
    counts = [
        everything | "CountContributions" >> count_elements(contribution_counts),
        built.topics | "CountTopics" >> count_elements(topic_counts),
    ]
    problems = [run.problems for run in runs if run.problems is not None]
    dataset = pool_documents(pool_store.next_documents(before))
    rows_of = partial(_document_rows, preferred=before.preferred if before else None)
    rows = SortedRows((DatasetRows(dataset, rows_of),), BuiltTopic, attrgetter("topic.key"))
    files = (
        built.topics
        | "WithoutCounts" >> beam.Map(drop_counts).with_output_types(BuiltTopic)
        | "Write" >> WriteRows(plan.target, rows)
    )
    _ = (
        pipeline
        | "Once" >> beam.Create([join(plan.target.folder, UNFINISHED)])
        | "WriteSummary"
        >> beam.Map(
            _write_summary,
            files=beam.pvalue.AsList(files),
            counts=sum_to_side_input(counts),
            refused=beam.pvalue.AsSingleton(
                built.refused | "Refused" >> keep_smallest(_SHOWN_REFUSED + 1), []
            ),
            counts_of_runs=beam.pvalue.AsDict(
                [run.counts for run in runs]
                | "CountsOfRuns" >> beam.Flatten()
                | "SumOfRuns" >> beam.CombinePerKey(sum_counts)
            ),
            contradicted_ids=beam.pvalue.AsDict(
                [run.contradicted_ids for run in runs] | "ContradictedIds" >> beam.Flatten()
            ),
            qrels_problems=beam.pvalue.AsList(problems | "QrelsProblems" >> beam.Flatten())
            if problems
            else [],
        )
    )


class _ReadRun(Struct, frozen=True):
    """What is read of one run; problems are lists of those with judgments."""

    contributions: beam.PCollection[Contribution]
    counts: beam.PCollection[tuple[str, Counts]]
    contradicted_ids: beam.PCollection[tuple[str, list[ContradictedId]]]
    problems: beam.PCollection[list[QrelsProblem]] | None


def _read_run(
    pipeline: beam.Pipeline, plan: PoolPlan, name: str, evaluation: Evaluation
) -> _ReadRun:
    label = f"Run {name}"
    held = evaluation.max_held_bytes if plan.in_memory else None
    packing = replace(Packing.of(evaluation.scoring), keep_records=True)
    files, labels = pipeline | f"{label}/Conversations" >> ReadConversations(
        evaluation, packing, held, plan.in_memory
    )
    contributions, scores = labels.payloads | f"{label}/Contribute" >> ContributeToPool(
        name, evaluation.scoring, plan.request.topic
    )
    counts = (
        (
            files.counts | f"{label}/CountRead" >> count_elements(dict),
            scores | f"{label}/CountScores" >> count_elements(counts_of_score),
            *labels.counts,
        )
        | f"{label}/Counts" >> beam.Flatten()
        | f"{label}/OfRun" >> beam.Map(_of_run, name)
    )
    contradicted_ids = (
        scores
        | f"{label}/ContradictedIds" >> beam.FlatMap(find_contradicted_ids)
        | f"{label}/Examples" >> keep_smallest(MOST_EXAMPLES)
        | f"{label}/ExamplesOfRun" >> beam.Map(_of_run, name)
    )
    return _ReadRun(contributions, counts, contradicted_ids, labels.problems)


def _of_run(found: Any, run: str) -> tuple[str, Any]:
    return run, found


def _document_rows(built: BuiltTopic, preferred: str | None) -> list[dict[str, Any]]:
    return [document_row(document, preferred) for document in built.documents]


def _write_summary(
    unfinished: str,
    files: Iterable[WrittenFile],
    counts: Counts,
    refused: list[tuple[str, str]],
    counts_of_runs: dict[str, Counts],
    contradicted_ids: dict[str, list[ContradictedId]],
    qrels_problems: list[list[QrelsProblem]],
) -> None:
    facts = BuiltFacts(
        sorted(files, key=attrgetter("path")),
        counts,
        refused,
        counts_of_runs,
        contradicted_ids,
        sorted(set(chain(*qrels_problems)))[:SHOWN_PROBLEMS],
    )
    write_file(unfinished, _SUMMARY, msgspec.json.encode(facts, order="sorted"))
