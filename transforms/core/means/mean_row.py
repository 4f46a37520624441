"""A row of `means`: one mean with its interval, extremes and quantiles (SPEC 6)."""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict, replace

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.cluster_variance import ClusterVariance
from goodgain.transforms.core.means.clusters import MOST_CLUSTERS
from goodgain.transforms.core.means.distribution import Distribution
from goodgain.transforms.core.metrics.plan import MeanOf, Population
from goodgain.transforms.core.statistics import (
    Studentized,
    has_spread,
    wilson_lower,
    wilson_upper,
)

IntervalKind = Literal["hall", "student", "wilson", "clusters"]
CONFIDENCE = 0.95
_WILSON_LEVEL = (1 + CONFIDENCE) / 2  # of each of its two bounds
_FEW_VALUES = 8  # estimates of at most this many different values are cached
NO_VALUE = "no conversation has a value"
NO_SPREAD = "no value differs, so there is no interval"
NO_CLUSTER_DIFFERS = "no cluster differs from another, so there is no interval"


class Estimate(Struct, frozen=True):
    """A mean with its statistics: a row of `means` without metric, slice and population.

    `MeanRow` describes the fields; see `ClusterVariance` for those of clusters.
    """

    n: int
    undefined: int
    mean: float | None = None
    stddev: float | None = None
    stderr: float | None = None
    skewness: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    interval: IntervalKind | None = None
    clusters: int | None = None
    effective_clusters: float | None = None
    intraclass_correlation: float | None = None
    stderr_within: float | None = None
    note: str | None = None
    worst: float | None = None
    best: float | None = None
    min: float | None = None
    max: float | None = None
    p10: float | None = None
    p50: float | None = None
    p90: float | None = None


class MeanRow(Estimate, frozen=True, kw_only=True):
    """One mean; a row of the dataset `means`.

    Attributes:
      slice: the attribute values that the conversations share; {} = all conversations.
      metric: a column of `conversations` if i is None, else of `iterations`; or `gauc` or
        `gauc_weighted`.
      i: the iteration; None = the last iteration of each conversation.
      population: `reached` = conversations that got to iteration i; `all` = every conversation that
        searched; `everyone` = also those that never searched, with gain 0, if there are any;
        `calls` = every search call, by its own ranked list.
      n, undefined: number of conversations in which the metric is defined, and in which it is null.
      mean, stddev, stderr: mean, standard deviation (n - 1), standard error; None without values.
      skewness: third central moment of the n values, divided by the cube of their standard
        deviation; None for fewer than 2 values or if all are equal.
      ci_low, ci_high: ends of the 95 % interval; None without an interval.
      interval: its method: `hall`, `student`, `wilson` or `clusters`; None without an interval.
      clusters: number of clusters with a value; None if conversations count as independent.
      effective_clusters: number of clusters of the same size that would weigh as much.
      intraclass_correlation: share of the variance that is between clusters; below 0 if
        conversations differ more within a cluster than between clusters.
      stderr_within: standard error of the mean over clusters between runs of the same clusters.
      note: why there is no interval; None with one.
      worst, best: the mean if every unlabelled result were worthless, or had the best label; None
        if the metric has no such bounds or if they were not requested.
      min, max, p10, p50, p90: extremes and quantiles.

    Example:
      >>> from goodgain import MeanRow
      >>> row = MeanRow(slice={}, metric="CG", i=None, population="all", n=2, undefined=0, mean=3.0)
      >>> row.mean, row.ci_low
      (3.0, None)
    """

    slice: dict[str, str]
    metric: str
    i: int | None
    population: Population

    @property
    def low(self) -> float | None:
        """The lower end of the 95 % interval."""
        return self.ci_low

    @property
    def high(self) -> float | None:
        """The upper end of the 95 % interval."""
        return self.ci_high


def mean_row(slice_: dict[str, str], of: MeanOf, estimate: Estimate) -> MeanRow:
    """The row with the estimate of what `of` names."""
    return MeanRow(
        slice=slice_, metric=of.metric, i=of.i, population=of.population, **asdict(estimate)
    )


def estimate_of(distribution: Distribution, interval: Interval, binary: bool) -> Estimate:
    """Mean, 95 % interval, extremes and quantiles of one distribution.

    Args:
      interval: method of the interval if the metric is not binary.
      binary: whether each value is 0 or 1.
    """
    if distribution.binned is None and len(distribution.counts) <= _FEW_VALUES:
        counts = tuple(sorted(distribution.counts.items()))
        return _estimate_of_few(distribution.n, distribution.undefined, counts, interval, binary)
    return _estimate(distribution, interval, binary)


@lru_cache(maxsize=2**15)
def _estimate_of_few(
    n: int,
    undefined: int,
    counts: tuple[tuple[float, int], ...],
    interval: Interval,
    binary: bool,
) -> Estimate:
    """`_estimate`, cached, since many slices and metrics have the same few values."""
    return _estimate(Distribution(n, undefined, dict(counts)), interval, binary)


def _estimate(distribution: Distribution, interval: Interval, binary: bool) -> Estimate:
    n, sums = distribution.n, distribution.sums
    lowest, highest = distribution.lowest, distribution.highest
    mean = sums.mean(n) if n else None
    stddev = sqrt(sums.variance(n)) if n > 1 else None
    skewness = None
    if stddev is not None and has_spread(stddev, max(abs(lowest or 0), abs(highest or 0))):
        skewness = sums.skewness(n)
    p10, p50, p90 = distribution.quantiles((0.1, 0.5, 0.9))
    low, high, kind, note = _interval(n, mean, stddev, skewness, interval, binary)
    return Estimate(
        n=n,
        undefined=distribution.undefined,
        mean=mean,
        stddev=stddev,
        stderr=None if stddev is None else stddev / sqrt(n),
        skewness=skewness,
        ci_low=low,
        ci_high=high,
        interval=kind,
        note=note,
        min=lowest,
        max=highest,
        p10=p10,
        p50=p50,
        p90=p90,
    )


def _interval(
    n: int,
    mean: float | None,
    stddev: float | None,
    skewness: float | None,
    interval: Interval,
    binary: bool,
) -> tuple[float | None, float | None, IntervalKind | None, str | None]:
    """The ends and the method of the interval, and why there is none, if there is none."""
    if mean is None:
        return None, None, None, NO_VALUE
    if stddev is None:
        return None, None, None, "one value has no interval"
    if binary:
        low, high = wilson_lower(mean, n, _WILSON_LEVEL), wilson_upper(mean, n, _WILSON_LEVEL)
        return low, high, "wilson", None
    if skewness is None:
        return None, None, None, NO_SPREAD
    low, high = studentize(mean, stddev / sqrt(n), n, skewness, interval).interval(CONFIDENCE)
    return low, high, interval, None


def estimate_clustered(row: Estimate, between: ClusterVariance) -> Estimate:
    """The estimate with the interval of clustered values, by Student's t.

    Args:
      between: the variance between the clusters; G clusters give G - 1 degrees of freedom.
    """
    variance = (row.stddev or 0.0) ** 2
    estimate = replace(
        row,
        stderr=between.stderr,
        clusters=between.clusters,
        effective_clusters=between.effective,
        intraclass_correlation=between.intraclass_correlation(variance),
        stderr_within=between.stderr_within(variance),
        **_NO_INTERVAL,
    )
    if row.mean is None or row.n < 2:
        return replace(estimate, note=row.note)
    if estimate.stderr is None:
        return replace(estimate, note="one cluster has no interval")
    if not has_spread(estimate.stderr, max(abs(row.min or 0), abs(row.max or 0))):
        return replace(estimate, note=NO_CLUSTER_DIFFERS)
    low, high = Studentized(row.mean, estimate.stderr, between.clusters - 1).interval(CONFIDENCE)
    return replace(estimate, ci_low=low, ci_high=high, interval="clusters", note=None)


def withhold_interval(row: Estimate) -> Estimate:
    """The estimate without an interval, since there are too many clusters to keep."""
    note = f"there are more than {MOST_CLUSTERS:,} clusters, too many for an interval"
    return replace(row, stderr=None, note=note, **_NO_INTERVAL)


def withhold_estimate(estimate: Estimate) -> Estimate:
    """The estimate for a metric that needs labels, if no result has one: null (SPEC 10)."""
    return Estimate(
        n=0,
        undefined=estimate.n + estimate.undefined,
        clusters=None if estimate.clusters is None else 0,
        note="no result has a label",
    )


_NO_INTERVAL: Any = {"ci_low": None, "ci_high": None, "interval": None}


def studentize(
    mean: float, stderr: float, n: int, skewness: float, interval: Interval
) -> Studentized:
    """The mean of n values, from which intervals at any confidence can be computed."""
    asymmetry = skewness / sqrt(n) if interval == "hall" else 0.0
    return Studentized(mean, stderr, n - 1, asymmetry)
