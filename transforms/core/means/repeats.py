"""Means over clusters of how often repeats pass a condition (SPEC 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from goodgain.transforms.core.means.clusters import MOST_CLUSTERS
from goodgain.transforms.core.means.distribution import Distribution
from goodgain.transforms.core.means.mean_row import Estimate, estimate_of
from goodgain.transforms.core.metrics.repeats import PassCondition, Repeats, repeats_of

# How many clusters have n conversations with the metric, of which some pass, by both numbers.
Passed = Mapping[tuple[int, int], int]
_NO_CLUSTERS = "no cluster has enough repeats"
_ZERO_AND_ONE = {0.0, 1.0}


def repeats_estimates(
    condition: PassCondition, ks: Sequence[int], passed: Passed | None
) -> Iterator[tuple[Repeats, Estimate]]:
    """The means of a condition, each cluster with the same weight.

    They have Student's interval over clusters, or Wilson's where each value is 0 or 1.

    Args:
      ks: numbers of repeats; () = 1 and the median size of a cluster.
      passed: None if there are too many clusters to know.
    """
    for repeats in repeats_of(condition, ks or default_ks(passed or {})):
        yield repeats, _estimate(repeats, passed)


def default_ks(passed: Passed) -> list[int]:
    """1 and the median number of conversations of a cluster, rounded down."""
    sizes = [n for (n, _), clusters in passed.items() for _ in range(clusters)]
    return sorted({1, int(median(sizes))}) if sizes else [1]


def _estimate(repeats: Repeats, passed: Passed | None) -> Estimate:
    if passed is None:
        return Estimate(0, 0, note=f"there are more than {MOST_CLUSTERS:,} clusters, too many")
    counts: dict[float, int] = {}
    undefined = 0
    for (n, c), clusters in passed.items():
        value = repeats.value(n, c)
        if value is None:
            undefined += clusters
        else:
            counts[value] = counts.get(value, 0) + clusters
    n = sum(counts.values())
    distribution = Distribution(n, undefined, counts)
    estimate = estimate_of(distribution, "student", binary=counts.keys() <= _ZERO_AND_ONE)
    return replace(estimate, clusters=n, note=estimate.note if n else _NO_CLUSTERS)
