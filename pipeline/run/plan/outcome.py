"""The manifest of an evaluation that has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.data_warnings import warnings_of_run
from goodgain.pipeline.results.manifest import manifest_of
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.settings.run_config import RunConfig
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.metrics.outcomes import IN_MANIFEST
from goodgain.transforms.core.metrics.own import OWN_METRICS, descriptions
from goodgain.transforms.core.scoring.id_checks import ContradictedId


class RunOutcome(Struct, frozen=True):
    """What a host found, and when.

    Attributes:
      counts: by dotted name.
      rows: number of rows by dataset.
      means: at least those that warnings need, see `warnings_of_run`.
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


def manifest_of_run(
    config: RunConfig, evaluation: Evaluation, outcome: RunOutcome
) -> dict[str, Any]:
    """The content of `manifest.json`.

    Raises:
      BalanceError: the records do not add up.
    """
    traces, own, outcomes = evaluation.traces, evaluation.scoring.own, evaluation.scoring.outcomes
    manifest = manifest_of(
        counts=outcome.counts,
        datasets=outcome.rows,
        parameters=config.model_dump(mode="json"),
        rules_digest=traces.rules_digest,
        warnings=warnings_of_run(
            config,
            outcome.counts,
            outcome.means,
            traces.rules,
            traces.seen,
            evaluation.pool,
            outcome.started,
            outcome.contradicted_ids,
        ),
        inputs=traces.files,
        sizes_after=outcome.sizes_after,
        qrels=evaluation.qrels,
        aspects=evaluation.scoring.aspect_judgments,
        exclusions=evaluation.scoring.exclusions,
        labels=evaluation.labels.files,
        outcomes=evaluation.outcomes.files,
        pool=evaluation.pool,
        engine=outcome.engine,
        started=outcome.started,
        finished=outcome.finished,
        max_rejected=config.rejected_limit,
    )
    if own:
        manifest[OWN_METRICS] = descriptions(own)
    if outcomes:
        manifest[IN_MANIFEST] = list(map(str, outcomes))
    return manifest
