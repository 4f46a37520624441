"""The parts of a manifest about labels, judgments, outcomes and a pool beside the traces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct

from goodgain.pipeline.results.manifest_counts import (
    AspectCounts,
    ExcludedCounts,
    FileOfRun,
    JudgmentCounts,
    LabelCounts,
    PoolCounts,
    RowCounts,
)
from goodgain.pipeline.results.opened_pool import OpenedPool
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.side_table import SideFile
from goodgain.transforms.core.judgments.aspects import AspectJudgments
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import JUDGMENTS_DIGEST
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.data_counts import EXCLUDED
from goodgain.transforms.core.wording import format_count

LOST = "the engine lost or repeated some, so nothing was published: run again."
_Part = TypeVar("_Part", bound=Struct)
_FATES = ("joined", "repeated", "empty", "rejected")  # of rows; each has exactly one


def files_part(
    files: Sequence[InputFile], sizes_after: Sequence[int | None] | None = None
) -> tuple[FileOfRun, ...]:
    """Paths and sizes of files, with the size after the run if it changed (None if deleted)."""
    after = [file.size for file in files] if sizes_after is None else sizes_after
    return tuple(
        FileOfRun(file.path, file.size, UNSET if size == file.size else size)
        for file, size in zip(files, after, strict=True)
    )


def qrels_part(counts: Mapping[str, int], files: Sequence[InputFile]) -> JudgmentCounts:
    """Counts of external judgments that were joined with the traces or not (SPEC 8)."""
    return counted_part(
        JudgmentCounts,
        counts,
        "qrels",
        files=files_part(files),
        digest=f"{counts.get(JUDGMENTS_DIGEST, 0):016x}",
        results_without_judgment=counts.get("results.unlabelled", 0),
    )


def aspects_part(judgments: AspectJudgments) -> AspectCounts:
    """The judgments of aspects."""
    return AspectCounts(judgments.digest, judgments.number, len(judgments.by_topic))


def exclusions_part(counts: Mapping[str, int], exclusions: Exclusions) -> ExcludedCounts:
    """What is excluded, and how many results and judgments that left out (SPEC 8)."""
    return ExcludedCounts(
        digest=exclusions.digest,
        pairs=exclusions.number,
        topics=len(exclusions.by_topic),
        results=counts.get(EXCLUDED, 0),
        judgments=counts.get("qrels.excluded", 0),
    )


def labels_part(counts: Mapping[str, int], files: Sequence[SideFile]) -> LabelCounts:
    """The outcomes of the labels of single results: each has exactly one.

    Raises:
      BalanceError: they do not add up.
    """
    labels = counted_part(LabelCounts, counts, "labels", files=_side_files(files))
    fates = {name: getattr(labels, name) for name in _FATES}
    if labels.read != sum(fates.values()):
        outcomes = " + ".join(f"{number} {name}" for name, number in fates.items())
        raise BalanceError(
            f"{format_count(labels.read, 'label was', 'labels were')} read but their outcomes "
            f"are {outcomes}; {LOST}"
        )
    return labels


def outcome_rows(counts: Mapping[str, int], files: Sequence[SideFile] | None = None) -> RowCounts:
    """What became of the rows of files of outcomes: each has exactly one fate.

    Args:
      counts: by dotted name.
      files: None in a stream.
    """
    side_files = UNSET if files is None else _side_files(files)
    return counted_part(RowCounts, counts, "outcomes", files=side_files)


def check_outcome_rows(rows: RowCounts) -> None:
    """Compare the rows of outcomes that were read with their fates.

    Raises:
      BalanceError: they do not add up.
    """
    if rows.read != rows.joined + rows.repeated + rows.empty + rows.rejected:
        raise BalanceError(
            f"{format_count(rows.read, 'row was', 'rows were')} read of "
            + Remedy("outcomes")
            + f", but not each was joined, repeated, empty or rejected; {LOST}"
        )


def outcomes_part(counts: Mapping[str, int], files: Sequence[SideFile]) -> RowCounts:
    """What became of the rows of files of outcomes; raises as `check_outcome_rows` does."""
    rows = outcome_rows(counts, files)
    check_outcome_rows(rows)
    return rows


def pool_part(counts: Mapping[str, int], pool: OpenedPool, rules_digest: str) -> PoolCounts:
    """The pool, and how many of the run's documents are in it (SPEC 9)."""
    return counted_part(
        PoolCounts,
        counts,
        "pool",
        folder=pool.folder,
        digest=pool.manifest.digest,
        run_name=pool.run_name,
        topic=pool.manifest.topic,
        built_with_other_rules=pool.manifest.rules_digest != rules_digest,
        judged_for_aspects=pool.manifest.content.judged_for_aspects,
    )


def counted_part(part: type[_Part], counts: Mapping[str, int], group: str, **given: Any) -> _Part:
    """A part of the manifest; the fields that are not given are the counts of their names."""
    counted = {
        name: counts.get(f"{group}.{name}", 0)
        for name in part.__struct_fields__
        if name not in given
    }
    return part(**given, **counted)


def _side_files(files: Sequence[SideFile]) -> tuple[FileOfRun, ...]:
    return tuple(FileOfRun(file.table.path, file.size) for file in files)
