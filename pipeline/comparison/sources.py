"""Finding and reading the two arms that a request names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from goodgain.pipeline.comparison.arms import Arm, read_arm
from goodgain.pipeline.comparison.attributes import check_attribute, values_of
from goodgain.pipeline.comparison.comparability import (
    POOL,
    Mismatch,
    mismatches,
    refuse,
    share_judgments,
)
from goodgain.pipeline.comparison.measures import Measures, choose
from goodgain.pipeline.comparison.on_pool import score_on_pool
from goodgain.pipeline.comparison.request import ComparisonRequest
from goodgain.pipeline.comparison.unsearched import Unsearched
from goodgain.pipeline.manifest import check_run
from goodgain.pipeline.outputs.folder import read_dataset, read_manifest
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.scoring.costs import conversation_columns, costs_of

_SHOWN_VALUES = 10


def silent(message: str) -> None:
    """Say nothing."""


class Source(Struct, frozen=True):
    """Where an arm comes from.

    Attributes:
      folder: output folder of a run.
      manifest: manifest of that run.
      value: value of the attribute that separates the arms; None if the arm is the whole run.
    """

    folder: str
    manifest: Mapping[str, Any]
    value: str | None


class Arms(Struct, frozen=True):
    """Two arms, ready to be compared.

    Attributes:
      forced: mismatches that --force overrides.
      shared_judgments: whether the same external judgments label both.
      max_i: last i for which both runs have means.
      only_in_base, only_in_candidate: ranking metrics, and costs, that only one of the runs has.
    """

    base: Arm
    candidate: Arm
    base_source: Source
    candidate_source: Source
    measures: Measures
    forced: Sequence[Mismatch]
    shared_judgments: bool
    max_i: int
    only_in_base: tuple[str, ...]
    only_in_candidate: tuple[str, ...]


def read_arms(request: ComparisonRequest, say: Callable[[str], None] = silent) -> Arms:
    """Read both arms.

    Args:
      say: called with one sentence before each slow step.

    Raises:
      UsageError: a folder is not the output of a run, the runs do not measure the same thing and
        `force` is not set, an arm is empty, or an arm cannot be scored with the requested pool.
    """
    request.check()
    manifests = {folder: read_manifest(folder) for folder in request.outputs}
    for folder, manifest in manifests.items():
        check_run(manifest, folder)
    if request.pool is None:
        return _read({folder: (folder, one) for folder, one in manifests.items()}, request)
    with TemporaryDirectory(prefix="goodgain-") as scratch:
        return _read(score_on_pool(manifests, request.pool, Path(scratch), say), request)


def _read(outputs: Mapping[str, tuple[str, Mapping[str, Any]]], request: ComparisonRequest) -> Arms:
    """Read both arms; `outputs` maps a run's folder to that of its outputs, and their manifest."""
    base_folder, candidate_folder = request.outputs[0], request.outputs[-1]
    (base_outputs, base_manifest), (candidate_outputs, candidate_manifest) = (
        outputs[base_folder],
        outputs[candidate_folder],
    )
    differing = mismatches(base_manifest, candidate_manifest)
    if not request.force:
        refuse(differing)
    base_ranking, base_costs = _ranking(base_manifest), _costs(base_folder)
    candidate_ranking, candidate_costs = _ranking(candidate_manifest), _costs(candidate_folder)
    in_base = (*base_ranking, *conversation_columns(base_costs))
    in_candidate = (*candidate_ranking, *conversation_columns(candidate_costs))
    measures = choose(
        request.metrics,
        request.family,
        [name for name in base_ranking if name in candidate_ranking],
        request.max_i or _max_i(base_manifest, candidate_manifest),
        request.tolerances,
        POOL in base_manifest and POOL in candidate_manifest,
        request.primary,
        [name for name in base_costs if name in candidate_costs],
    )
    values: tuple[str | None, str | None] = (None, None)
    base = read_arm(base_outputs, base_folder, measures, Unsearched(base_manifest["parameters"]))
    by = request.by
    if by is not None:
        whole, values = base, _values_of(base, request)
        base, candidate = (whole.where({by: value or ""}, f"{by}={value}") for value in values)
    else:
        candidate = read_arm(
            candidate_outputs,
            candidate_folder,
            measures,
            Unsearched(candidate_manifest["parameters"]),
        )
    for arm in (base, candidate):
        if not arm.ids:
            raise UsageError(f"{arm.label} has no means: all of its conversations are excluded.")
    return Arms(
        base=base,
        candidate=candidate,
        base_source=Source(base_folder, base_manifest, values[0]),
        candidate_source=Source(candidate_folder, candidate_manifest, values[1]),
        measures=measures,
        forced=differing,
        shared_judgments=share_judgments(base_manifest, candidate_manifest),
        max_i=_max_i(base_manifest, candidate_manifest),
        only_in_base=tuple(name for name in in_base if name not in in_candidate),
        only_in_candidate=tuple(name for name in in_candidate if name not in in_base),
    )


def _ranking(manifest: Mapping[str, Any]) -> list[str]:
    return list(manifest["parameters"].get("metrics", ()))


def _costs(folder: str) -> list[str]:
    """Names of the costs of a run, taken from its columns."""
    return costs_of(next(read_dataset(folder, "conversations"), {}))


def _max_i(*manifests: Mapping[str, Any]) -> int:
    return min(int(manifest["parameters"].get("max_i", 10)) for manifest in manifests)


def _values_of(whole: Arm, request: ComparisonRequest) -> tuple[str, str]:
    """The two values of the attribute.

    Raises:
      UsageError: no conversation has it, one value does not occur, the base is missing, or the
        candidate is ambiguous.
    """
    by, base = str(request.by), request.base
    check_attribute(by, "--by", whole)
    values = values_of(by, whole)
    shown = ", ".join(values[:_SHOWN_VALUES]) + (", ..." if len(values) > _SHOWN_VALUES else "")
    if base is None:
        raise UsageError(
            f"Which value of {by} is the base? Give --base VALUE; values that occur: {shown}."
        )
    for value in (base, request.candidate):
        if value is not None and value not in values:
            raise UsageError(
                f"No conversation in the means has {by} = {value}; values that occur: {shown}."
            )
    others = [value for value in values if value != base]
    if request.candidate is not None:
        others = [request.candidate]
    if len(others) != 1:
        raise UsageError(
            f"Which value of {by} is the candidate? Give --candidate; values that occur: {shown}."
        )
    if others[0] == base:
        raise UsageError(f"Base and candidate are both {by} = {base}: give two values.")
    return base, others[0]
