"""Finding and reading the two arms that a request names, if their runs measured the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from goodgain.pipeline.results.finished_run import read_columns, read_dataset, read_run
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.studies.comparison.arm_rows import read_arm
from goodgain.pipeline.studies.comparison.arms import Arm, check_attribute
from goodgain.pipeline.studies.comparison.comparability import (
    Mismatch,
    find_mismatches,
    share_aspects,
    share_judgments,
)
from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched
from goodgain.pipeline.studies.comparison.measures import Measures, choose
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.rescoring import Outputs, score_on_pool
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.slices import EVERYTHING
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.own import own_metrics_of
from goodgain.transforms.core.metrics.own_names import ranking_metrics_of
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.metrics.repeats import parse_repeats
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.wording import list_first

_SHOWN_VALUES = 10


def keep_silent(message: str) -> None:
    """Say nothing."""


class Source(Struct, frozen=True):
    """Where an arm comes from.

    Attributes:
      value: value of the attribute that separates the arms; None if the arm is the whole run.
    """

    folder: str
    manifest: RunManifest
    value: str | None


class Arms(Struct, frozen=True):
    """Two arms, ready to be compared.

    Attributes:
      forced: mismatches that --force overrides.
      shared_judgments: whether the same external judgments label both.
      shared_aspects: whether the same judgments say which aspects documents of both cover.
      max_i: last i for which both runs have means.
      only_in_base, only_in_candidate: metrics that only one of the runs has.
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
    shared_aspects: bool = False


def read_arms(request: ComparisonRequest, say: Callable[[str], None] = keep_silent) -> Arms:
    """Read both arms.

    Raises:
      UsageError: a folder is not the output of a run, the runs do not measure the same thing and
        `force` is not set, an arm is empty, or an arm cannot be scored with the requested pool.
    """
    request.check()
    manifests = {folder: read_run(folder) for folder in request.outputs}
    if request.pool is None:
        return _read(
            {folder: (folder, manifest) for folder, manifest in manifests.items()}, request
        )
    with TemporaryDirectory(prefix="goodgain-") as scratch:
        return _read(score_on_pool(manifests, request.pool, Path(scratch), say), request)


def _read(outputs: Outputs, request: ComparisonRequest) -> Arms:
    """Read both arms; `outputs` maps a run's folder to that of its outputs, and their manifest."""
    folders = request.outputs[0], request.outputs[-1]
    manifests = [outputs[folder][1] for folder in folders]
    differing = find_mismatches(*manifests)
    if differing and not request.force:
        raise UsageError(
            f"The two runs differ in {', '.join(map(str, differing))}, so their metrics mean "
            "different things: run one of them again with the parameters of the other, or use "
            + Remedy("force")
            + "."
        )
    max_i = min(manifest.options.max_i for manifest in manifests)
    ranking = [manifest.options.metrics for manifest in manifests]
    own = [own_metrics_of(manifest.own_metrics) for manifest in manifests]
    groups = [groups_in(read_columns(outputs[folder][0], "conversations")) for folder in folders]
    in_base, in_candidate = (
        (*names, *(metric.name for group in of_run for metric in group.at_n))
        for names, of_run in zip(ranking, groups, strict=True)
    )
    common = [name for name in ranking[0] if name in ranking[1]]
    measures = choose(
        request.metrics,
        request.family,
        plan_of(
            ranking_metrics_of(common),
            request.max_i or max_i,
            tuple(group for group in groups[0] if group in groups[1]),
            own=(
                *(metric for metric in own[0] if metric in own[1]),
                *map(metric_by_name, _repeats(outputs, request)),
            ),
        ),
        request.tolerances,
        request.primary,
    )

    def read(folder: str) -> Arm:
        place, manifest = outputs[folder]
        rows, iterations = read_dataset(place, "conversations"), read_dataset(place, "iterations")
        return read_arm(
            rows, iterations, folder, measures, Unsearched(manifest.options, measures.plan)
        )

    by = request.by
    values: tuple[str, str] | tuple[None, None] = (None, None)
    if by is None:
        base, candidate = map(read, folders)
    else:
        whole = read(folders[0])
        values = _values_of(whole, by, request)
        base, candidate = (whole.where({by: value}, f"{by}={value}") for value in values)
    for arm in (base, candidate):
        if not arm.ids:
            raise UsageError(f"{arm.label} has no means: all of its conversations are excluded.")
    base_source, candidate_source = map(Source, folders, manifests, values)
    return Arms(
        base=base,
        candidate=candidate,
        base_source=base_source,
        candidate_source=candidate_source,
        measures=measures,
        forced=differing,
        shared_judgments=share_judgments(*manifests),
        shared_aspects=share_aspects(*manifests),
        max_i=max_i,
        only_in_base=tuple(name for name in in_base if name not in in_candidate),
        only_in_candidate=tuple(name for name in in_candidate if name not in in_base),
    )


def _repeats(outputs: Outputs, request: ComparisonRequest) -> list[str]:
    """The means over repeats that both runs have, if pairs are their clusters (SPEC 12)."""
    of_runs = []
    for place, manifest in outputs.values():
        if not request.pair_by or request.pair_by != manifest.options.cluster:
            return []
        if not manifest.options.pass_ or request.pool is not None:
            return []
        rows = read_means(place, MeansWanted(frozenset((EVERYTHING,)), at_end=True))
        found = (row["metric"] for row in rows if row["population"] == "all")
        of_runs.append([name for name in found if parse_repeats(name) is not None])
    return [name for name in of_runs[0] if name in of_runs[-1]]


def _values_of(whole: Arm, by: str, request: ComparisonRequest) -> tuple[str, str]:
    """The two values of the attribute."""
    base = request.base
    check_attribute(by, Remedy("by"), whole)
    values = sorted({own.get(by, "") for own in whole.attributes} - {""})
    shown = list_first(values, _SHOWN_VALUES)
    if base is None:
        raise UsageError(
            f"Which value of {by} is the base? Give "
            + Remedy("base", "VALUE")
            + f"; values that occur: {shown}."
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
            f"Which value of {by} is the candidate? Give "
            + Remedy("candidate")
            + f"; values that occur: {shown}."
        )
    if others[0] == base:
        raise UsageError(f"Base and candidate are both {by} = {base}: give two values.")
    return base, others[0]
