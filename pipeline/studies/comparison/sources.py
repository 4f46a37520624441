"""Finding and reading the two arms that a request names, if their runs measured the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.folder import read_columns, read_dataset, read_manifest
from goodgain.pipeline.results.manifest import ASPECT_QRELS, EXCLUDE, aspects_outside, check_run
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.studies.comparison.arms import Arm, arm_of, check_attribute
from goodgain.pipeline.studies.comparison.idle_conversations import Unsearched
from goodgain.pipeline.studies.comparison.measures import Measures, choose
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.rescoring import score_on_pool
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.slices import EVERYTHING
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.outcomes import outcomes_of
from goodgain.transforms.core.metrics.own import own_of, split_names
from goodgain.transforms.core.metrics.plan import plan_of
from goodgain.transforms.core.metrics.repeats import parse_repeats
from goodgain.transforms.core.ranking import parse_ranking_metrics
from goodgain.transforms.core.wording import counted

_SHOWN_VALUES = 10
_PARAMETERS = (
    "good_gain_threshold", "g_max", "duplicates", "unit", "document_label", "qrels_id",
    "qrels_topic",
)  # fmt: skip
QRELS = "qrels"
POOL = "pool"


def keep_silent(message: str) -> None:
    """Say nothing."""


class Mismatch(Struct, frozen=True):
    """A parameter in which two runs differ."""

    parameter: str
    base: str
    candidate: str

    def __str__(self) -> str:
        return f"{self.parameter} ({self.base} against {self.candidate})"


def mismatches(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Mismatch]:
    """The parameters that affect metrics and differ between two manifests."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    outcomes = [
        {outcome.name: outcome for outcome in outcomes_of(manifest)}
        for manifest in (base, candidate)
    ]
    in_both = sorted(outcomes[0].keys() & outcomes[1].keys())
    return [
        *(
            Mismatch(name, _shown(one[name]), _shown(other[name]))
            for name in one
            if one[name] != other[name]
        ),
        *(
            Mismatch(f"outcome {name}", str(outcomes[0][name]), str(outcomes[1][name]))
            for name in in_both
            if outcomes[0][name] != outcomes[1][name]
        ),
    ]


def share_judgments(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Whether two manifests are of runs with the same external judgments."""
    one, other = _compared_parameters(base), _compared_parameters(candidate)
    return any(one[name] for name in (QRELS, POOL)) and all(
        one[name] == other[name] for name in (QRELS, POOL)
    )


def share_aspects(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> bool:
    """Whether two manifests are of runs with the same judgments of aspects, or the same pool."""
    if ASPECT_QRELS in base or ASPECT_QRELS in candidate:
        return _aspects(base) == _aspects(candidate)
    pools = [
        manifest[POOL]["digest"] if aspects_outside(manifest) else None
        for manifest in (base, candidate)
    ]
    return pools[0] is not None and pools[0] == pools[1]


def _compared_parameters(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters; judgments and pools by their digests, so that a copy counts as the same."""
    parameters, pool = manifest["parameters"], manifest.get(POOL)
    compared = {name: parameters.get(name) for name in _PARAMETERS}
    relevance = parameters.get("relevance_threshold")
    return compared | {
        "relevance_threshold": compared["good_gain_threshold"] if relevance is None else relevance,
        "rules": manifest.get("rules_digest"),
        QRELS: _qrels(manifest),
        POOL: f"one with the digest {pool['digest'][:8]}" if pool else None,
        ASPECT_QRELS: _aspects(manifest),
        EXCLUDE: _exclusions(manifest),
        "scoring_version": manifest.get("scoring_version"),
    }


def _qrels(manifest: Mapping[str, Any]) -> str | None:
    qrels = manifest.get(QRELS)
    if qrels is None:
        return None
    # Early versions recorded no digest: a mismatch, since an error would end a nightly job.
    if "digest" not in qrels:
        return f"labels that the run of {manifest['started']} did not record"
    return f"{counted(qrels['judgments'], 'judgment')} with the digest {qrels['digest']}"


def _aspects(manifest: Mapping[str, Any]) -> str | None:
    judged = manifest.get(ASPECT_QRELS)
    if judged is None:
        return None
    return f"{counted(judged['judgments'], 'judgment')} with the digest {judged['digest']}"


def _exclusions(manifest: Mapping[str, Any]) -> str | None:
    excluded = manifest.get(EXCLUDE)
    if excluded is None:
        return None
    return f"{counted(excluded['pairs'], 'document')} with the digest {excluded['digest']}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value)


class Source(Struct, frozen=True):
    """Where an arm comes from.

    Attributes:
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
    manifests = {folder: read_manifest(folder) for folder in request.outputs}
    for folder, manifest in manifests.items():
        check_run(manifest, folder)
    if request.pool is None:
        return _read({folder: (folder, one) for folder, one in manifests.items()}, request)
    with TemporaryDirectory(prefix="goodgain-") as scratch:
        return _read(score_on_pool(manifests, request.pool, Path(scratch), say), request)


def _read(outputs: Mapping[str, tuple[str, Mapping[str, Any]]], request: ComparisonRequest) -> Arms:
    """Read both arms; `outputs` maps a run's folder to that of its outputs, and their manifest."""
    folders = request.outputs[0], request.outputs[-1]
    manifests = [outputs[folder][1] for folder in folders]
    differing = mismatches(*manifests)
    if differing and not request.force:
        raise UsageError(
            f"The two runs differ in {', '.join(map(str, differing))}, so their metrics mean "
            "different things: run one of them again with the parameters of the other, or use "
            "--force."
        )
    max_i = min(int(manifest["parameters"].get("max_i", 10)) for manifest in manifests)
    ranking = [list(manifest["parameters"].get("metrics", ())) for manifest in manifests]
    groups = [groups_in(read_columns(outputs[folder][0], "conversations")) for folder in folders]
    in_base, in_candidate = (
        (*names, *(metric.name for group in own for metric in group.at_n))
        for names, own in zip(ranking, groups, strict=True)
    )
    common = [name for name in ranking[0] if name in ranking[1]]
    measures = choose(
        request.metrics,
        request.family,
        plan_of(
            parse_ranking_metrics(split_names(common)[0]),
            request.max_i or max_i,
            tuple(group for group in groups[0] if group in groups[1]),
            own=(
                *(metric for metric in own_of(manifests[0]) if metric in own_of(manifests[1])),
                *map(metric_by_name, _repeats(outputs, request)),
            ),
        ),
        request.tolerances,
        request.primary,
    )

    def read(folder: str) -> Arm:
        place, manifest = outputs[folder]
        rows, iterations = read_dataset(place, "conversations"), read_dataset(place, "iterations")
        return arm_of(
            rows, iterations, folder, measures, Unsearched(manifest["parameters"], measures.plan)
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


def _repeats(
    outputs: Mapping[str, tuple[str, Mapping[str, Any]]], request: ComparisonRequest
) -> list[str]:
    """The means over repeats that both runs have, if pairs are their clusters (SPEC 12)."""
    of_runs = []
    for place, manifest in outputs.values():
        if not request.pair_by or request.pair_by != manifest["parameters"].get("cluster"):
            return []
        if not manifest["parameters"].get("pass_") or request.pool is not None:
            return []
        rows = read_means(place, MeansWanted(frozenset((EVERYTHING,)), at_end=True))
        found = (row["metric"] for row in rows if row["population"] == "all")
        of_runs.append([name for name in found if parse_repeats(name) is not None])
    return [name for name in of_runs[0] if name in of_runs[-1]]


def _values_of(whole: Arm, by: str, request: ComparisonRequest) -> tuple[str, str]:
    """The two values of the attribute."""
    base = request.base
    check_attribute(by, "--by", whole)
    values = sorted({own.get(by, "") for own in whole.attributes} - {""})
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
