"""The manifest of an evaluation that has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.pipeline.results.data_warnings import slice_labels
from goodgain.pipeline.results.manifest import manifest_of
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.scoring.id_checks import ContradictedId
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
            label_spans=pool.label_spans if pool else {},
            can_accept=can_accept,
        )
    )


def manifest_of_run(config: RunConfig, evaluation: Evaluation, outcome: RunOutcome) -> RunManifest:
    """The manifest of an evaluation.

    Raises:
      BalanceError: the records do not add up.
    """
    traces, scoring = evaluation.traces, evaluation.scoring
    return manifest_of(
        counts=outcome.counts,
        datasets=outcome.rows,
        parameters=config.model_dump(mode="json"),
        rules_digest=traces.rules_digest,
        warnings=warnings_of_evaluation(
            evaluation, outcome.counts, outcome.means, outcome.contradicted_ids
        ),
        inputs=traces.files,
        sizes_after=outcome.sizes_after,
        qrels=evaluation.qrels,
        aspects=scoring.aspect_judgments,
        exclusions=scoring.exclusions,
        labels=evaluation.labels.files,
        outcome_files=evaluation.outcomes.files,
        pool=evaluation.pool,
        engine=outcome.engine,
        started=outcome.started,
        finished=outcome.finished,
        max_rejected=config.rejected_limit,
        own=scoring.own,
        outcomes=scoring.outcomes,
    )
