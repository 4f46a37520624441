"""The manifest of a pool after a build or an update (SPEC 9)."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from operator import attrgetter

from goodgain.pipeline.results import pool_store
from goodgain.pipeline.results.balance import UNKNOWN_LOSSES, check_all_read, records_part
from goodgain.pipeline.results.given_parts import (
    exclusions_part,
    files_part,
    labels_part,
    qrels_part,
)
from goodgain.pipeline.results.manifest import counts_of_group, cut_to_milliseconds
from goodgain.pipeline.results.pool_manifest import (
    POOL,
    BuiltRun,
    LastBuild,
    PoolContent,
    PooledRun,
    PoolExclusions,
    PoolManifest,
)
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.results.version import goodgain_version
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.outcome import warnings_of_evaluation
from goodgain.pipeline.settings.pool_config import PoolConfig
from goodgain.pipeline.studies.pool.pool_counts import BuiltFacts
from goodgain.transforms.core.pool.document_rows import content_digest
from goodgain.transforms.core.warnings import codes
from goodgain.transforms.core.warnings.check_inputs import LabelSpan

_OF_CONTENT = ("topics", "documents", "places", "evidence", "judged_for_aspects")
_OF_BUILDING = (
    "conversations", "conversations_without_topic", "results", "weak_documents", "candidates_cut",
)  # fmt: skip
# Labels may well be missing, and come later; means are not computed.
_CHECKED = frozenset((
    codes.EMPTY_INPUT, codes.NO_RESULTS, codes.IDS_CONTRADICTED, codes.CONFLICTING_REDELIVERIES,
    codes.CONVERSATIONS_WITHOUT_TOPIC, codes.SEVERAL_TOPICS, codes.UNKNOWN_FIELDS,
    codes.NO_IDENTITY, codes.ODD_TIMES, codes.LABEL_CONFLICTS, codes.SIMILAR_NAMES,
    codes.JUDGMENTS_MET_AGAIN,
))  # fmt: skip


def manifest_of_pool(
    request: PoolConfig,
    evaluations: Mapping[str, Evaluation],
    facts: BuiltFacts,
    before: Pool | None,
    target: Target,
    started: datetime,
    finished: datetime,
) -> PoolManifest:
    """The manifest of a pool.

    Args:
      evaluations: by name of the run.

    Raises:
      BalanceError: the records or labels of a run do not add up.
    """
    counts, old = facts.counts, None if before is None else before.manifest
    preferred = None if old is None else old.preferred
    return PoolManifest(
        kind=POOL,
        digest=content_digest(counts.get("pool.digest", 0), preferred),
        topic=request.topic,
        documents=pool_store.next_documents(before),
        format=target.format,
        shards=target.shards,
        preferred=preferred,
        runs=_runs({} if old is None else old.runs, evaluations, counts),
        content=PoolContent(**{name: counts.get(f"pool.{name}", 0) for name in _OF_CONTENT}),
        last_build=_last_build(request, evaluations, facts),
        label_spans={
            # Documents with votes of conversations that share an id of this name, and those of them
            # whose votes are far apart (`label_spans`).
            name: LabelSpan(number, counts.get(f"apart.{name}", 0))
            for name, number in counts_of_group(counts, "voted").items()
        },
        rules_digest=next(iter(evaluations.values())).traces.rules_digest,
        unit=request.unit,
        exclude=exclusions_in(evaluations),
        versions={
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            "apache-beam": version("apache-beam"),
        },
        started=cut_to_milliseconds(started),
        finished=cut_to_milliseconds(finished),
    )


def exclusions_in(evaluations: Mapping[str, Evaluation]) -> PoolExclusions | None:
    """What all runs of a pool leave out; None if nothing."""
    return PoolExclusions.of(next(iter(evaluations.values())).scoring.exclusions)


def _last_build(
    request: PoolConfig, evaluations: Mapping[str, Evaluation], facts: BuiltFacts
) -> LastBuild:
    by_run = {
        name: _built_run(request, evaluation, facts, name)
        for name, evaluation in evaluations.items()
    }
    records = [built.records for built in by_run.values()]
    read, rejected, losses = (
        sum(map(attrgetter(name), records)) for name in ("read", "rejected", UNKNOWN_LOSSES)
    )
    return LastBuild(
        read=read,
        rejected=rejected,
        unknown_losses=losses,
        too_many_rejected=request.rejected_limit.is_exceeded(rejected, read, losses),
        **{name: facts.counts.get(f"pool.{name}", 0) for name in _OF_BUILDING},
        by_run=by_run,
    )


def _built_run(
    request: PoolConfig, evaluation: Evaluation, facts: BuiltFacts, name: str
) -> BuiltRun:
    """What reading and labelling a run found."""
    counts, exclusions = facts.counts_of_runs.get(name, {}), evaluation.scoring.exclusions
    check_all_read(counts, evaluation.traces.files)
    examples = facts.contradicted_ids.get(name, ())
    found = warnings_of_evaluation(evaluation, counts, contradicted_ids=examples, can_accept=False)
    return BuiltRun(
        records=records_part(counts, request.rejected_limit),
        qrels=qrels_part(counts, evaluation.qrels) if evaluation.qrels else None,
        labels=labels_part(counts, evaluation.labels.files) if evaluation.labels else None,
        exclude=exclusions_part(counts, exclusions) if exclusions else None,
        warnings=tuple(warning for warning in found if warning.code in _CHECKED),
    )


def _runs(
    before: Mapping[str, PooledRun],
    evaluations: Mapping[str, Evaluation],
    counts: Mapping[str, int],
) -> dict[str, PooledRun]:
    """The runs of a pool: their inputs, and how much of the pool is theirs."""
    inputs = {name: run.inputs for name, run in before.items()}
    for name, evaluation in evaluations.items():
        new = files_part(evaluation.traces.files)
        paths = {file.path for file in new}
        unchanged = (file for file in inputs.get(name, ()) if file.path not in paths)
        inputs[name] = (*unchanged, *new)
    return {
        name: PooledRun(
            files,
            conversations=counts.get(f"conversations.{name}", 0),
            documents=counts.get(f"documents.{name}", 0),
            only_here=counts.get(f"only.{name}", 0),
        )
        for name, files in sorted(inputs.items())
    }
