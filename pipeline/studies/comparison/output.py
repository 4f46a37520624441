"""A comparison as JSON, for `--json` and `manifest.json`, and as datasets for other programs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from msgspec import to_builtins
from msgspec.structs import asdict, replace

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import (
    ARMS,
    COMPARISON,
    DIFFERENCES,
    POOL_DOCUMENTS,
    Dataset,
)
from goodgain.pipeline.results.folder import (
    REPORT,
    format_time,
    same_folder,
    write_file,
    write_manifest,
)
from goodgain.pipeline.results.formats import FORMATS
from goodgain.pipeline.results.lock import remove_if_empty
from goodgain.pipeline.results.output_kinds import COMPARISON_OUTPUTS
from goodgain.pipeline.results.replacement import clear, prepare
from goodgain.pipeline.results.version import goodgain_version
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import arm_warnings
from goodgain.pipeline.studies.comparison.compare import Compared
from goodgain.pipeline.studies.comparison.comparison_row import ComparisonRow, SensitivityRow
from goodgain.pipeline.studies.comparison.manifest import (
    ComparedPool,
    ComparedRun,
    ComparisonManifest,
    ComparisonVersions,
)
from goodgain.pipeline.studies.comparison.matching import sample
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.pool_finds import PoolFinds
from goodgain.pipeline.studies.comparison.sources import Source
from goodgain.transforms.core.errors import GoodGainError, UsageError, problem_of
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.filesystems import join

# Builds `report.html` from the folder of the datasets and the manifest.
Report: TypeAlias = Callable[[str, ComparisonManifest], bytes]


def check_output(folder: str, overwrite: bool, outputs: Sequence[str]) -> None:
    """Make sure that a comparison can be written, before computing it.

    Raises:
      UsageError: it cannot be written.
    """
    if any(same_folder(folder, output) for output in outputs):
        raise UsageError(
            f"--output {folder} is one of the compared runs, which would be replaced: use another "
            "folder."
        )
    prepare(folder, overwrite, COMPARISON_OUTPUTS)


def write(
    compared: Compared,
    folder: str,
    file_format: Format,
    report: Report,
    sensitivity: Sequence[SensitivityRow] | None = None,
) -> None:
    """Write the datasets, `report.html` and, last, `manifest.json`.

    The datasets are `comparison`, `differences` of pairs, `arms` if costs are compared, and
    `pool_documents` if both arms use one pool.

    Args:
      folder: checked by `check_output`; its content is replaced.

    Raises:
      GoodGainError: the disk is full, or the like; nothing is left in the folder.
    """
    clear(folder)
    with remove_if_empty(folder):
        try:
            _write_all(compared, folder, file_format, report, sensitivity)
        except BaseException as error:
            clear(folder)
            if not isinstance(error, OSError):
                raise
            problem = problem_of(error)
            raise GoodGainError(
                f"The comparison cannot be written to {folder}: {problem}."
            ) from error


def _write_all(
    compared: Compared,
    folder: str,
    file_format: Format,
    report: Report,
    sensitivity: Sequence[SensitivityRow] | None,
) -> None:
    rows = rows_of(compared)
    datasets = {COMPARISON.name: _write(folder, COMPARISON, rows, file_format)}
    if compared.matched.paired:
        pairs = differences(compared)
        datasets[DIFFERENCES.name] = _write(folder, DIFFERENCES, pairs, file_format)
    if compared.arm_means:
        of_arms = [{"arm": arm, **asdict(row)} for arm, row in compared.arm_means]
        datasets[ARMS.name] = _write(folder, ARMS, of_arms, file_format)
    if compared.pool_finds is not None:
        documents = map(asdict, compared.pool_finds.documents)
        datasets[POOL_DOCUMENTS.name] = _write(folder, POOL_DOCUMENTS, documents, file_format)
    manifest = replace(
        manifest_of_comparison(compared, sensitivity),
        datasets=datasets,
        own_metrics=tuple(metric.described for metric in compared.arms.measures.plan.own),
    )
    write_file(folder, REPORT, report(folder, manifest))
    write_manifest(folder, plain_values(manifest))


def differences(compared: Compared) -> Iterator[Row]:
    """Rows of `differences`: one per pair and metric of the declared family, at N."""
    matched, measures = compared.matched, compared.arms.measures
    firsts = [
        [grouped.arm.ids[row] for row in grouped.first_rows()]
        for grouped in (matched.base, matched.candidate)
    ]
    for name in sorted(set(measures.declared).intersection(measures.at_end)):
        values = sample(matched, Measure(name, None, "all"))
        for at, shared in enumerate(values.shared.tolist()):
            yield {
                "key": matched.keys[shared],
                "metric": name,
                "base_conversation": firsts[0][matched.base_indexes[shared]],
                "candidate_conversation": firsts[1][matched.candidate_indexes[shared]],
                "base": float(values.base[at]),
                "candidate": float(values.candidate[at]),
                "difference": float(values.candidate[at] - values.base[at]),
            }


def _write(folder: str, dataset: Dataset, rows: Iterable[Row], file_format: Format) -> int:
    rows = list(rows)
    chosen = FORMATS[file_format]
    content = io.BytesIO()
    chosen.write(dataset, rows, content)
    name = f"part-00000-of-00001{chosen.suffix}"
    write_file(join(folder, dataset.name), name, content.getvalue())
    return len(rows)


def manifest_of_comparison(
    compared: Compared, sensitivity: Sequence[SensitivityRow] | None = None
) -> ComparisonManifest:
    """Everything about a comparison except its rows and the values of its pairs."""
    arms, paired = compared.arms, compared.matched.paired
    measured = {*arms.measures.at_end, *arms.measures.by_i}
    return ComparisonManifest(
        kind=COMPARISON.name,
        answer=compared.answer,
        design="paired" if paired else "unpaired",
        pair_by=compared.pair_by,
        cluster=compared.cluster,
        pairs=len(compared.matched.keys) if paired else None,
        base=_compared_run(arms.base_source, arms.base),
        candidate=_compared_run(arms.candidate_source, arms.candidate),
        base_account=compared.base_account,
        candidate_account=compared.candidate_account,
        metrics_only_in_base=arms.only_in_base,
        metrics_only_in_candidate=arms.only_in_candidate,
        primary=arms.measures.primary,
        declared_family=tuple(name for name in arms.measures.declared if name in measured),
        only_family_in_slices=compared.only_family_in_slices,
        warnings=tuple(compared.warnings),
        forced=tuple(arms.forced),
        shared_judgments=arms.shared_judgments,
        shared_aspects=arms.shared_aspects,
        without_labels=tuple(compared.without_labels),
        ways=tuple(compared.ways),
        examples=compared.examples,
        pool=_compared_pool(compared.pool_finds, arms.base_source),
        sensitivity=None if sensitivity is None else tuple(sensitivity),
        request=compared.request,
        versions=ComparisonVersions(goodgain_version()),
    )


def plain_values(manifest: ComparisonManifest) -> dict[str, Any]:
    """A manifest as it is written; rows of a sensitivity have the columns of others."""
    plain: dict[str, Any] = to_builtins(manifest)
    rows = manifest.sensitivity and [
        {"policy": row.policy, **_plain_row(row), "verdict_changes": row.verdict_changes}
        for row in manifest.sensitivity
    ]
    return {**plain, "sensitivity": rows}


def rows_of(compared: Compared) -> list[dict[str, Any]]:
    """Its rows as plain values."""
    return list(map(_plain_row, compared.rows))


def _plain_row(row: ComparisonRow) -> dict[str, Any]:
    plain = {column.name: getattr(row, column.name) for column in COMPARISON.columns}
    return plain | {"reason": row.reason and str(row.reason)}


def _compared_run(source: Source, arm: Arm) -> ComparedRun:
    manifest = source.manifest
    return ComparedRun(
        label=arm.label,
        folder=source.folder,
        value=source.value,
        conversations=len(arm.ids),
        parameters=manifest.parameters,
        rules_digest=manifest.rules_digest,
        finished=format_time(manifest.finished),
        warnings=tuple(arm_warnings(manifest)),
    )


def _compared_pool(finds: PoolFinds | None, source: Source) -> ComparedPool | None:
    """The pool, without the documents that the arms found, which are a dataset."""
    pool = source.manifest.pool
    if finds is None or pool is None:
        return None
    counted = {name: value for name, value in asdict(finds).items() if name != "documents"}
    return ComparedPool(folder=pool.folder, digest=pool.digest, **counted)
