"""The manifest of an evaluation that has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.pipeline.results.balance import records_part
from goodgain.pipeline.results.data_warnings import slice_labels
from goodgain.pipeline.results.given_parts import (
    aspects_part,
    exclusions_part,
    files_part,
    labels_part,
    outcomes_part,
    pool_part,
    qrels_part,
)
from goodgain.pipeline.results.manifest import (
    conversations_part,
    cut_to_milliseconds,
    describe_reading,
    results_part,
    versions_of_run,
)
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from goodgain.transforms.core.warnings.check_inputs import READ, CheckInputs
from goodgain.transforms.core.warnings.checks import warnings_of
from goodgain.transforms.core.warnings.warning import DataWarning


class RunOutcome(Struct, frozen=True):
    """What a host found, and when.

    Attributes:
      counts: by dotted name.
      rows: number of rows by dataset.
      means: at least those that warnings need, see `warnings_of_evaluation`.
      sizes_after: the sizes of the traces' files at the end; None = as before.
      started, finished: UTC.
      contradicted_ids: examples for a warning.
    """

    counts: Mapping[str, int]
    rows: Mapping[str, int]
    means: Sequence[MeanRow]
    engine: str
    started: datetime
    finished: datetime
    sizes_after: Sequence[int | None] | None = None
    contradicted_ids: Sequence[ContradictedId] = ()


def warnings_of_evaluation(
    evaluation: Evaluation,
    counts: Mapping[str, int],
    means: Sequence[MeanRow] = (),
    contradicted_ids: Sequence[ContradictedId] = (),
    can_accept: bool = True,
) -> list[DataWarning]:
    """The warnings about the data of an evaluation.

    Args:
      means: at least those at N of results, of unlabelled ones, of N, and of ranking metrics; none
        if they are not computed.
      contradicted_ids: examples of duplicates by ids that URL and title contradict.
      can_accept: whether the command has options that accept a warning.
    """
    pool = evaluation.pool
    return warnings_of(
        CheckInputs.of_scores(
            counts,
            evaluation.scoring,
            means,
            contradicted_ids,
            records=counts.get(READ, 0),
            seen=evaluation.settings.names_to_check(evaluation.traces.seen),
            slices=slice_labels(map(asdict, means)),
            label_spans=pool.manifest.label_spans if pool else {},
            can_accept=can_accept,
        )
    )


def manifest_of_run(config: RunConfig, evaluation: Evaluation, outcome: RunOutcome) -> RunManifest:
    """The manifest of an evaluation.

    Raises:
      BalanceError: the records do not add up.
    """
    traces, scoring, pool = evaluation.traces, evaluation.scoring, evaluation.pool
    counts = outcome.counts
    aspects, exclusions = scoring.aspect_judgments, scoring.exclusions
    labels, outcomes = evaluation.labels.files, evaluation.outcomes.files
    return RunManifest(
        records=records_part(counts, config.rejected_limit),
        conversations=conversations_part(counts),
        results=results_part(counts),
        qrels=qrels_part(counts, evaluation.qrels) if evaluation.qrels else None,
        aspect_qrels=aspects_part(aspects) if aspects else None,
        exclude=exclusions_part(counts, exclusions) if exclusions else None,
        labels=labels_part(counts, labels) if labels else None,
        outcome_rows=outcomes_part(counts, outcomes) if outcomes else None,
        warnings=tuple(
            warnings_of_evaluation(evaluation, counts, outcome.means, outcome.contradicted_ids)
        ),
        pool=pool_part(counts, pool, traces.rules_digest) if pool else None,
        datasets=dict(sorted(outcome.rows.items())),
        parameters=config.model_dump(mode="json"),
        rules_digest=traces.rules_digest,
        scoring_version=SCORING_VERSION,
        inputs=files_part(traces.files, outcome.sizes_after),
        engine=outcome.engine,
        reading=describe_reading(counts),
        versions=versions_of_run(),
        started=cut_to_milliseconds(outcome.started),
        finished=cut_to_milliseconds(outcome.finished),
        own_metrics=tuple(metric.described for metric in scoring.own),
        outcomes=tuple(map(str, scoring.outcomes)),
    )
