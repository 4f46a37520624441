"""The manifest of a pool after a build or an update (SPEC 9)."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from importlib.metadata import version
from typing import Any

import msgspec

from goodgain.pipeline.results import pool_store
from goodgain.pipeline.results.balance import UNKNOWN_LOSSES, check_all_read, records_part
from goodgain.pipeline.results.folder import format_time
from goodgain.pipeline.results.given_parts import exclusions_part, labels_part, qrels_part
from goodgain.pipeline.results.manifest import counts_of_group
from goodgain.pipeline.results.opened_pool import EXCLUDE, PoolExclusions
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.results.sinks import Target
from goodgain.pipeline.results.version import goodgain_version
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.outcome import warnings_of_evaluation
from goodgain.pipeline.settings.pool_config import PoolConfig
from goodgain.pipeline.studies.pool.pool_pipeline import BuiltFacts
from goodgain.transforms.core.pool.document_rows import content_digest
from goodgain.transforms.core.warnings import codes

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
) -> dict[str, Any]:
    """The content of a pool's `manifest.json`.

    Args:
      evaluations: by name of the run.

    Raises:
      BalanceError: the records or labels of a run do not add up.
    """
    by_run = {
        name: _part_of_run(request, evaluation, facts, name)
        for name, evaluation in evaluations.items()
    }
    records: Counter[str] = Counter()
    for part in by_run.values():
        records.update(
            {name: part["records"][name] for name in ("read", "rejected", UNKNOWN_LOSSES)}
        )
    counts, old = facts.counts, None if before is None else before.manifest
    preferred = None if old is None else old["preferred"]
    excluded = exclusions_in(evaluations)
    return {
        "kind": "pool",
        "digest": content_digest(counts.get("pool.digest", 0), preferred),
        "topic": request.topic,
        "documents": pool_store.next_documents(before),
        "format": target.format,
        "shards": target.shards,
        "preferred": preferred,
        "runs": _runs({} if old is None else old["runs"], evaluations, counts),
        "content": {name: counts.get(f"pool.{name}", 0) for name in _OF_CONTENT},
        "last_build": {
            **{name: records[name] for name in ("read", "rejected", UNKNOWN_LOSSES)},
            "too_many_rejected": request.rejected_limit.is_exceeded(
                records["rejected"], records["read"], records[UNKNOWN_LOSSES]
            ),
            **{name: counts.get(f"pool.{name}", 0) for name in _OF_BUILDING},
            "by_run": by_run,
        },
        "label_spans": {
            # Documents with votes of conversations that share an id of this name, and those of them
            # whose votes are far apart (`label_spans`).
            name: {"documents": number, "apart": counts.get(f"apart.{name}", 0)}
            for name, number in counts_of_group(counts, "voted").items()
        },
        "rules_digest": next(iter(evaluations.values())).traces.rules_digest,
        "unit": request.unit,
        **({} if excluded is None else {EXCLUDE: msgspec.to_builtins(excluded)}),
        "versions": {
            "goodgain": goodgain_version(),
            "python": platform.python_version(),
            "apache-beam": version("apache-beam"),
        },
        "started": format_time(started),
        "finished": format_time(finished),
    }


def exclusions_in(evaluations: Mapping[str, Evaluation]) -> PoolExclusions | None:
    """What all runs of a pool leave out; None if nothing."""
    return PoolExclusions.of(next(iter(evaluations.values())).scoring.exclusions)


def _part_of_run(
    request: PoolConfig, evaluation: Evaluation, facts: BuiltFacts, name: str
) -> dict[str, Any]:
    """What reading and labelling a run found."""
    counts, exclusions = facts.counts_of_runs.get(name, {}), evaluation.scoring.exclusions
    check_all_read(counts, evaluation.traces.files)
    examples = facts.contradicted_ids.get(name, ())
    found = warnings_of_evaluation(evaluation, counts, contradicted_ids=examples, can_accept=False)
    part = {
        "records": records_part(counts, request.rejected_limit),
        **({"qrels": qrels_part(counts, evaluation.qrels)} if evaluation.qrels else {}),
        **({"labels": labels_part(counts, evaluation.labels.files)} if evaluation.labels else {}),
        **({EXCLUDE: exclusions_part(counts, exclusions)} if exclusions else {}),
        "warnings": [warning for warning in found if warning.code in _CHECKED],
    }
    plain: dict[str, Any] = msgspec.to_builtins(part)
    return plain


def _runs(
    before: Mapping[str, Any], evaluations: Mapping[str, Evaluation], counts: Mapping[str, int]
) -> dict[str, Any]:
    """The runs of a pool: their inputs, and how much of the pool is theirs."""
    runs = dict(before)
    for name, evaluation in evaluations.items():
        files = evaluation.traces.files
        paths = {file.path for file in files}
        earlier = runs.get(name, {}).get("inputs", [])
        unchanged = [file for file in earlier if file["path"] not in paths]
        runs[name] = {
            "inputs": [*unchanged, *({"path": file.path, "size": file.size} for file in files)]
        }
    for name, run in runs.items():
        run["conversations"] = counts.get(f"conversations.{name}", 0)
        run["documents"] = counts.get(f"documents.{name}", 0)
        run["only_here"] = counts.get(f"only.{name}", 0)
    return dict(sorted(runs.items()))
