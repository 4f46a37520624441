"""A comparison as JSON, for `--json` and for `manifest.json` of an output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import asdict

from goodgain.pipeline.comparison.clusters import arm_warnings
from goodgain.pipeline.comparison.compare import Compared
from goodgain.pipeline.comparison.pool_finds import PoolFinds
from goodgain.pipeline.comparison.rows import SensitivityRow
from goodgain.pipeline.comparison.sources import Source
from goodgain.pipeline.outputs.datasets import COMPARISON
from goodgain.pipeline.version import goodgain_version


def document(
    compared: Compared, sensitivity: Sequence[SensitivityRow] | None = None
) -> dict[str, Any]:
    """Everything about a comparison except its rows and the values of its pairs."""
    arms, request = compared.arms, compared.request
    examples = compared.examples
    return {
        "kind": COMPARISON.name,
        "answer": compared.answer,
        "design": "paired" if compared.matched.paired else "unpaired",
        "pair_by": compared.pair_by,
        "cluster": compared.cluster,
        "pairs": len(compared.matched.keys) if compared.matched.paired else None,
        "base": _side(arms.base_source, arms.base.label, len(arms.base.ids)),
        "candidate": _side(arms.candidate_source, arms.candidate.label, len(arms.candidate.ids)),
        "base_account": to_builtins(compared.base_account),
        "candidate_account": to_builtins(compared.candidate_account),
        "metrics_only_in_base": list(arms.only_in_base),
        "metrics_only_in_candidate": list(arms.only_in_candidate),
        "primary": arms.measures.primary,
        "declared_family": [
            name
            for name in arms.measures.declared
            if name in (*arms.measures.at_end, *arms.measures.by_i)
        ],
        "only_family_in_slices": compared.only_family_in_slices,
        "warnings": to_builtins(compared.warnings),
        "forced": [asdict(mismatch) for mismatch in arms.forced],
        "shared_judgments": arms.shared_judgments,
        "without_labels": to_builtins(compared.without_labels),
        "examples": to_builtins(examples),
        **_pool(compared.pool_finds, arms.base_source),
        "sensitivity": to_builtins(sensitivity),
        "request": to_builtins(request),
        "versions": {"goodgain": goodgain_version()},
    }


def rows_of(compared: Compared) -> list[dict[str, Any]]:
    """Its rows as plain values."""
    return [asdict(row) for row in compared.rows]


def _side(source: Source, label: str, conversations: int) -> dict[str, Any]:
    return {
        "label": label,
        "folder": source.folder,
        "value": source.value,
        "conversations": conversations,
        "parameters": dict(source.manifest["parameters"]),
        "rules_digest": source.manifest.get("rules_digest"),
        "finished": source.manifest.get("finished"),
        "warnings": to_builtins(arm_warnings(source.manifest)),
    }


def _pool(finds: PoolFinds | None, source: Source) -> dict[str, Any]:
    """Counts of the pool documents that the arms found, without the list `pool_documents`."""
    if finds is None:
        return {}
    pool = source.manifest["pool"]
    counts: dict[str, Any] = to_builtins(finds)
    counts.pop("documents")
    return {"pool": {"folder": pool["folder"], "digest": pool["digest"], **counts}}
