"""The manifest of a run: inputs, outcome, parameters and versions (SPEC 6)."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import msgspec

from goodgain.pipeline.results.balance import records_part
from goodgain.pipeline.results.given_parts import (
    POOL_ASPECTS,
    aspects_part,
    exclusions_part,
    files_part,
    labels_part,
    outcomes_part,
    pool_part,
    qrels_part,
)
from goodgain.pipeline.results.opened_pool import EXCLUDE, OpenedPool
from goodgain.pipeline.results.version import goodgain_version
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.side_table import SideFile
from goodgain.transforms.core.judgments.aspects import AspectJudgments
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.native import active_path
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.scoring.data_counts import LABELS
from goodgain.transforms.core.scoring.version import SCORING_VERSION
from goodgain.transforms.core.warnings.warning import DataWarning
from goodgain.transforms.core.wording import format_count

# Always in the manifest, even if 0.
_CONVERSATIONS = ("total", "in_means", "without_search", "with_rejected_records")
_RESULTS = (
    "total", "unique", "good", "duplicates", "unlabelled", "labelled_duplicates", "label_conflicts",
)  # fmt: skip
ASPECT_QRELS = "aspect_qrels"
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
    outcomes: Sequence[SideFile] = (),
    pool: OpenedPool | None = None,
    engine: str,
    started: datetime,
    finished: datetime,
    max_rejected: MaxRejected,
    warnings: Sequence[DataWarning] = (),
) -> dict[str, Any]:
    """The content of `manifest.json`.

    Args:
      counts: counts of the pipeline, by dotted name.
      datasets: rows by dataset.
      sizes_after: the sizes of `inputs` after the run; None for a deleted one.
      started, finished: UTC.

    Raises:
      BalanceError: the records do not add up.
    """
    return {
        "records": records_part(counts, max_rejected),
        "conversations": counts_of_group(counts, "conversations", _CONVERSATIONS),
        "results": {
            **counts_of_group(counts, "results", _RESULTS),
            "by_label": labels_by_gain(counts),
            "duplicates_by_step": counts_of_group(counts, "duplicates_by_step"),
            "duplicates_by_type": counts_of_group(counts, "duplicates_by_type"),
            "results_by_type": counts_of_group(counts, "results_by_type"),
            "near_misses_by_step": counts_of_group(counts, "near_misses_by_step"),
            "candidates_cut": counts.get("candidates_cut", 0),
        },
        **({"qrels": qrels_part(counts, qrels)} if qrels else {}),
        **({ASPECT_QRELS: aspects_part(aspects)} if aspects else {}),
        **({EXCLUDE: exclusions_part(counts, exclusions)} if exclusions else {}),
        **({"labels": labels_part(counts, labels)} if labels else {}),
        **({"outcome_rows": outcomes_part(counts, outcomes)} if outcomes else {}),
        "warnings": msgspec.to_builtins(warnings),
        **({"pool": pool_part(counts, pool, rules_digest)} if pool else {}),
        "datasets": dict(sorted(datasets.items())),
        "parameters": dict(parameters),
        "rules_digest": rules_digest,
        "scoring_version": SCORING_VERSION,
        "inputs": files_part(inputs, sizes_after),
        "engine": engine,
        "reading": _reading(counts),
        "versions": {
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            **_library_versions(),
        },
        "started": format_time(started),
        "finished": format_time(finished),
    }


def labels_by_gain(counts: Mapping[str, int]) -> dict[str, int]:
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


def format_time(time: datetime) -> str:
    """A time as text in a manifest."""
    return time.isoformat(timespec="milliseconds")


def counts_of_group(
    counts: Mapping[str, int], group: str, always: Sequence[str] = ()
) -> dict[str, int]:
    """The counts whose names begin with a group, by the rest of their names, sorted.

    Args:
      always: names that come first, with 0 if they are missing.
    """
    prefix = group + "."
    counted = {
        name.removeprefix(prefix): count
        for name, count in sorted(counts.items())
        if name.startswith(prefix)
    }
    return {**dict.fromkeys(always, 0), **counted}


def has_outside_judgments(manifest: Mapping[str, Any]) -> bool:
    """Whether labels came from judgments outside the traces."""
    return "qrels" in manifest or "pool" in manifest


def aspects_outside(manifest: Mapping[str, Any]) -> bool:
    """Whether judgments outside the traces say which aspects documents cover."""
    return ASPECT_QRELS in manifest or POOL_ASPECTS in manifest.get("pool", {})


def has_own_ideal(metric: Metric, manifest: Mapping[str, Any]) -> bool:
    """Whether a metric is measured by what the run itself found, for lack of other judgments."""
    outside = aspects_outside(manifest) if metric.of_aspects else has_outside_judgments(manifest)
    return metric.own_ideal and not outside
