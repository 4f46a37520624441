"""Builds the manifest of a run: inputs, outcome, parameters and versions (SPEC 6)."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from goodgain.pipeline.results.balance import records_part
from goodgain.pipeline.results.given_parts import (
    aspects_part,
    counted_part,
    exclusions_part,
    files_part,
    labels_part,
    outcomes_part,
    pool_part,
    qrels_part,
)
from goodgain.pipeline.results.manifest_counts import ConversationCounts, CountsOfResults
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.opened_pool import OpenedPool
from goodgain.pipeline.results.version import goodgain_version
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.side_table import SideFile
from goodgain.transforms.core.judgments.aspects import AspectJudgments
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.outcomes import TurnOutcome
from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.scoring.data_counts import EXCLUDED, LABELS
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count

_LIBRARIES = ("apache-beam", "fastavro", "msgspec", "numpy", "pyarrow", "scipy", "xxhash")


def manifest_of(
    *,
    counts: Mapping[str, int],
    datasets: Mapping[str, int],
    parameters: Mapping[str, Any],
    rules_digest: str,
    inputs: Sequence[InputFile],
    sizes_after: Sequence[int | None] | None = None,
    qrels: Sequence[InputFile] = (),
    aspects: AspectJudgments | None = None,
    exclusions: Exclusions | None = None,
    labels: Sequence[SideFile] | None = None,
    outcome_files: Sequence[SideFile] = (),
    pool: OpenedPool | None = None,
    engine: str,
    started: datetime,
    finished: datetime,
    max_rejected: MaxRejected,
    warnings: Sequence[DataWarning] = (),
    own: Sequence[Metric] = (),
    outcomes: Sequence[TurnOutcome] = (),
) -> RunManifest:
    """The manifest of a run.

    Args:
      counts: counts of the pipeline, by dotted name.
      datasets: rows by dataset.
      sizes_after: the sizes of `inputs` after the run; None for a deleted one.
      outcome_files: files of outcomes beside the traces.
      started, finished: UTC.
      own: metrics of the user.

    Raises:
      BalanceError: the records do not add up.
    """
    return RunManifest(
        records=records_part(counts, max_rejected),
        conversations=_conversations_part(counts),
        results=_results_part(counts),
        qrels=qrels_part(counts, qrels) if qrels else None,
        aspect_qrels=aspects_part(aspects) if aspects else None,
        exclude=exclusions_part(counts, exclusions) if exclusions else None,
        labels=labels_part(counts, labels) if labels else None,
        outcome_rows=outcomes_part(counts, outcome_files) if outcome_files else None,
        warnings=tuple(warnings),
        pool=pool_part(counts, pool, rules_digest) if pool else None,
        datasets=dict(sorted(datasets.items())),
        parameters=dict(parameters),
        rules_digest=rules_digest,
        scoring_version=SCORING_VERSION,
        inputs=files_part(inputs, sizes_after),
        engine=engine,
        reading=_reading(counts),
        versions={
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            **_library_versions(),
        },
        started=cut_to_milliseconds(started),
        finished=cut_to_milliseconds(finished),
        own_metrics=tuple(metric.described for metric in own),
        outcomes=tuple(map(str, outcomes)),
    )


def _conversations_part(counts: Mapping[str, int]) -> ConversationCounts:
    return counted_part(
        ConversationCounts,
        counts,
        "conversations",
        without_cluster=counts.get("conversations.without_cluster"),
    )


def _results_part(counts: Mapping[str, int]) -> CountsOfResults:
    return counted_part(
        CountsOfResults,
        counts,
        "results",
        excluded=counts.get(EXCLUDED),
        by_label=_labels_by_gain(counts),
        duplicates_by_step=counts_of_group(counts, "duplicates_by_step"),
        duplicates_by_type=counts_of_group(counts, "duplicates_by_type"),
        results_by_type=counts_of_group(counts, "results_by_type"),
        near_misses_by_step=counts_of_group(counts, "near_misses_by_step"),
        candidates_cut=counts.get("candidates_cut", 0),
    )


def _labels_by_gain(counts: Mapping[str, int]) -> dict[str, int]:
    """The number of results of scored turns by their label, without those that no result has."""
    found = ((str(gain), counts.get(name, 0)) for gain, name in enumerate(LABELS))
    return {gain: results for gain, results in found if results}


@cache
def _library_versions() -> dict[str, str]:
    return {library: version(library) for library in _LIBRARIES}


def _reading(counts: Mapping[str, int]) -> str:
    """Whether workers read with native code or Python, and why Python, if known."""
    native, python = (counts.get(f"shards.{way}", 0) for way in ("native", "python"))
    if not native:
        path = active_path()
        return path if path.startswith("python") else "python"
    reading = f"native in {native} of {native + python} parts of files" if python else "native"
    if from_python := counts.get("records.from_python", 0):
        usable = counts.get("records.read", 0) - counts.get("records.rejected", 0)
        reading += f", but {from_python:,} of {format_count(usable, 'record')} in Python"
    return reading


def cut_to_milliseconds(time: datetime) -> datetime:
    """A time as manifests have it, so that the one read back equals the one written."""
    return time.replace(microsecond=time.microsecond // 1_000 * 1_000)


def counts_of_group(counts: Mapping[str, int], group: str) -> dict[str, int]:
    """The counts whose names begin with a group, by the rest of their names, sorted."""
    prefix = group + "."
    return {
        name.removeprefix(prefix): count
        for name, count in sorted(counts.items())
        if name.startswith(prefix)
    }
