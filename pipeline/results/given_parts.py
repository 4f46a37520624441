"""The parts of a manifest about labels, judgments, outcomes and a pool beside the traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goodgain.pipeline.results.opened_pool import OpenedPool
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.side_table import SideFile
from goodgain.transforms.core.judgments.aspects import AspectJudgments
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import JUDGMENTS_DIGEST
from goodgain.transforms.core.scoring.data_counts import EXCLUDED
from goodgain.transforms.core.wording import format_count

LABEL_OUTCOMES = ("joined", "repeated", "empty", "rejected")


QRELS_COUNTS = (
    "judgments", "unjudged", "repeated", "never_retrieved", "judgments_met_again",
    "results_without_id", "conversations_without_topic", "conversations_with_several_topics",
    "topics", "topics_without_conversation", "topics_without_judgments", "similar_names",
)  # fmt: skip


POOL_COUNTS = (
    "pooled", "matched", "outside", "outside_pool", "weak_documents", "conversations_without_topic",
    "conversations_without_pool", "conversations_without_good_documents",
)  # fmt: skip


POOL_ASPECTS = "judged_for_aspects"


LOST = "the engine lost or repeated some, so nothing was published: run again."


def files_part(
    files: Sequence[InputFile], sizes_after: Sequence[int | None] | None = None
) -> list[dict[str, Any]]:
    """Paths and sizes of files, with `size_after` if the size changed (null if deleted)."""
    after = [file.size for file in files] if sizes_after is None else sizes_after
    return [
        {"path": file.path, "size": file.size} | ({} if size == file.size else {"size_after": size})
        for file, size in zip(files, after, strict=True)
    ]


def qrels_part(counts: Mapping[str, int], files: Sequence[InputFile]) -> dict[str, Any]:
    """Counts of external judgments that were joined with the traces or not (SPEC 8)."""
    return {
        "files": files_part(files),
        "digest": f"{counts.get(JUDGMENTS_DIGEST, 0):016x}",
        **{name: counts.get(f"qrels.{name}", 0) for name in QRELS_COUNTS},
        "results_without_judgment": counts.get("results.unlabelled", 0),
    }


def aspects_part(judgments: AspectJudgments) -> dict[str, Any]:
    """The judgments of aspects."""
    return {
        "digest": judgments.digest,
        "judgments": judgments.number,
        "topics": len(judgments.by_topic),
    }


def exclusions_part(counts: Mapping[str, int], exclusions: Exclusions) -> dict[str, Any]:
    """What is excluded, and how many results and judgments that left out (SPEC 8)."""
    return {
        "digest": exclusions.digest,
        "pairs": exclusions.number,
        "topics": len(exclusions.by_topic),
        "results": counts.get(EXCLUDED, 0),
        "judgments": counts.get("qrels.excluded", 0),
    }


def labels_part(counts: Mapping[str, int], files: Sequence[SideFile]) -> dict[str, Any]:
    """The outcomes of the labels of single results: each has exactly one.

    Raises:
      BalanceError: they do not add up.
    """
    labels = {name: counts.get(f"labels.{name}", 0) for name in ("read", *LABEL_OUTCOMES)}
    if labels["read"] != sum(labels[name] for name in LABEL_OUTCOMES):
        outcomes = " + ".join(f"{labels[name]} {name}" for name in LABEL_OUTCOMES)
        raise BalanceError(
            f"{format_count(labels['read'], 'label was', 'labels were')} read but their outcomes "
            f"are {outcomes}; {LOST}"
        )
    return {
        "files": [{"path": file.table.path, "size": file.size} for file in files],
        **labels,
        "replaced": counts.get("labels.replaced", 0),
    }


def outcome_rows(counts: Mapping[str, int]) -> dict[str, int]:
    """What became of the rows of files of outcomes: each has exactly one fate.

    Args:
      counts: by dotted name.
    """
    return {name: counts.get(f"outcomes.{name}", 0) for name in ("read", *LABEL_OUTCOMES)}


def check_outcome_rows(rows: Mapping[str, int]) -> None:
    """Compare the rows of outcomes that were read with their fates, if there are any.

    Raises:
      BalanceError: they do not add up.
    """
    if rows and rows["read"] != sum(rows[name] for name in LABEL_OUTCOMES):
        raise BalanceError(
            f"{format_count(rows['read'], 'row was', 'rows were')} read of --outcomes, but not "
            f"each was joined, repeated, empty or rejected; {LOST}"
        )


def outcomes_part(counts: Mapping[str, int], files: Sequence[SideFile]) -> dict[str, Any]:
    """What became of the rows of files of outcomes; raises as `check_outcome_rows` does."""
    rows = outcome_rows(counts)
    check_outcome_rows(rows)
    return {"files": [{"path": file.table.path, "size": file.size} for file in files], **rows}


def pool_part(counts: Mapping[str, int], pool: OpenedPool, rules_digest: str) -> dict[str, Any]:
    """The pool, and how many of the run's documents are in it (SPEC 9)."""
    return {
        "folder": pool.folder,
        "digest": pool.digest,
        "run_name": pool.use.run,
        "topic": pool.use.topic_attribute,
        "built_with_other_rules": pool.rules_digest != rules_digest,
        **({POOL_ASPECTS: pool.judged_for_aspects} if pool.judged_for_aspects else {}),
        **{name: counts.get(f"pool.{name}", 0) for name in POOL_COUNTS},
    }
