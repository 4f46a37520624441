"""How the arms of a comparison are paired, and what makes pairs depend on each other."""

from __future__ import annotations

from goodgain.pipeline.studies.comparison.arms import check_attribute
from goodgain.pipeline.studies.comparison.clusters import find_common_cluster
from goodgain.pipeline.studies.comparison.matching import BY_ID, Matched, match, match_conversations
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.remedy import Remedy


def key_name(request: ComparisonRequest) -> str:
    """By what pairs are made: an attribute, or the identity of conversations."""
    return request.pair_by or BY_ID


def choose_cluster(request: ComparisonRequest, arms: Arms) -> str | None:
    """The cluster attribute: the requested one, else the one that both runs used."""
    before, after = arms.base_source.manifest, arms.candidate_source.manifest
    cluster = request.cluster or find_common_cluster(before.options, after.options)
    if cluster is None or cluster == request.pair_by:
        return None  # one value per cluster, so values are independent
    check_attribute(cluster, Remedy("cluster"), arms.base, arms.candidate)
    tests = request.tests
    if tests.resamples or tests.wilcoxon or tests.sign:
        raise UsageError(
            f"Bootstrap, Wilcoxon's test and the sign test assume independent pairs, and "
            f"those of one {cluster} are not: leave them out, or pair by {cluster} ("
            + Remedy("pair_by", cluster)
            + "), which makes each one value."
        )
    return cluster


def match_arms(request: ComparisonRequest, arms: Arms) -> Matched:
    """Pair the arms, or compare them as two samples."""
    if request.unpaired:
        return match(arms.base, arms.candidate, key_name(request), paired=False)
    if request.pair_by is None:
        return match_conversations(arms.base, arms.candidate)
    if request.pair_by != BY_ID:
        check_attribute(request.pair_by, Remedy("pair_by"), arms.base, arms.candidate)
    matched = match(arms.base, arms.candidate, request.pair_by, paired=True)
    if not matched.keys:
        raise UsageError(
            f"No value of {request.pair_by} occurs in both arms ({len(matched.base.keys)} in "
            f"{arms.base.label}, {len(matched.candidate.keys)} in {arms.candidate.label}): pair by "
            "another attribute, or leave "
            + Remedy("pair_by")
            + " out to compare the arms as two samples."
        )
    return matched
