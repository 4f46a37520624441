"""A row of `means`: one mean with its interval, extremes and quantiles (SPEC 6)."""

from __future__ import annotations

from math import sqrt
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.clusters import MOST_CLUSTERS, Between
from goodgain.transforms.core.means.distribution import Distribution
from goodgain.transforms.core.statistics import (
    Studentized,
    has_spread,
    wilson_lower,
    wilson_upper,
)

Population = Literal["reached", "all", "everyone", "calls"]
IntervalKind = Literal["hall", "student", "wilson", "clusters"]
CONFIDENCE = 0.95
_ONE_SIDED = (1 + CONFIDENCE) / 2
NO_SPREAD = "no value differs, so there is no interval"
NO_CLUSTER_DIFFERS = "no cluster differs from another, so there is no interval"


class MeanRow(Struct, frozen=True):
    """One mean; a row of `means`.

    Attributes:
      slice: the attributes that the conversations share; {} = all conversations.
      metric: a column name of `conversations` (i null) or `iterations`; gauc, gauc_weighted.
      i: the iteration; null = at N, each conversation's own end.
      population: `reached` = conversations with N >= i; `all` = every conversation that searched;
        `everyone` = those that never searched too, with gain 0, where there are any; `calls` =
        every search call, each by its own ranked list, when those are evaluated.
      n, undefined: conversations on which the metric is defined, and on which it is null.
      skewness: third central moment of the n values in their standard deviations; null for fewer
        than 2 values and where they do not differ.
      interval: how the 95 % interval was made, see `IntervalKind`; null when there is none.
      clusters: how many have a value; null where conversations count as independent.
      intraclass_correlation: the share of the variance that lies between clusters; below 0 where
        conversations of a cluster differ more than others; null where no cluster has two values.
      note: why there is no interval, when there is none.
      worst, best: the mean of the same n values if every unlabelled result turned out worthless,
        or as good as can be; null where the metric has no such bounds, where n = 0, and where they
        were not asked for.
    """

    slice: dict[str, str]
    metric: str
    i: int | None
    population: Population
    n: int
    undefined: int
    mean: float | None
    stddev: float | None
    stderr: float | None
    skewness: float | None
    ci_low: float | None
    ci_high: float | None
    interval: IntervalKind | None
    clusters: int | None
    intraclass_correlation: float | None
    note: str | None
    worst: float | None
    best: float | None
    min: float | None
    max: float | None
    p10: float | None
    p50: float | None
    p90: float | None


class _Uncertainty(Struct, frozen=True):
    """What a row says about how sure its mean is."""

    skewness: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    interval: IntervalKind | None = None
    note: str | None = None


def mean_row(
    slice_: dict[str, str],
    metric: str,
    i: int | None,
    population: Population,
    distribution: Distribution,
    interval: Interval,
    binary: bool,
) -> MeanRow:
    """Mean, 95 % interval, extremes and quantiles of one distribution.

    Args:
      interval: of metrics that are not binary.
      binary: whether each value is 0 or 1.
    """
    mean, stddev, n = distribution.mean, distribution.stddev, distribution.n
    uncertainty = _uncertainty(distribution, mean, stddev, interval, binary)
    return MeanRow(
        slice=slice_,
        metric=metric,
        i=i,
        population=population,
        n=n,
        undefined=distribution.undefined,
        mean=mean,
        stddev=stddev,
        stderr=None if stddev is None else stddev / sqrt(n),
        skewness=uncertainty.skewness,
        ci_low=uncertainty.ci_low,
        ci_high=uncertainty.ci_high,
        interval=uncertainty.interval,
        clusters=None,
        intraclass_correlation=None,
        note=uncertainty.note,
        worst=None,
        best=None,
        min=distribution.lowest,
        max=distribution.highest,
        p10=distribution.quantile(0.1),
        p50=distribution.quantile(0.5),
        p90=distribution.quantile(0.9),
    )


def _uncertainty(
    distribution: Distribution,
    mean: float | None,
    stddev: float | None,
    interval: Interval,
    binary: bool,
) -> _Uncertainty:
    n = distribution.n
    if mean is None:
        return _Uncertainty(note="no conversation has a value")
    if stddev is None:
        return _Uncertainty(note="one value has no interval")
    skewness = None
    if has_spread(stddev, max(abs(distribution.lowest or 0), abs(distribution.highest or 0))):
        skewness = distribution.sums.skewness(n)
    if binary:
        low, high = wilson_lower(mean, n, _ONE_SIDED), wilson_upper(mean, n, _ONE_SIDED)
        return _Uncertainty(skewness, low, high, "wilson")
    if skewness is None:
        return _Uncertainty(note=NO_SPREAD)
    low, high = studentized(mean, stddev / sqrt(n), n, skewness, interval).interval(CONFIDENCE)
    return _Uncertainty(skewness, low, high, interval)


def clustered(row: MeanRow, between: Between) -> MeanRow:
    """The row as clusters make it: Student's t of their totals, with G - 1 degrees of freedom.

    Args:
      between: the spread between the clusters of the row's values.
    """
    known = replace(
        row,
        stderr=between.stderr,
        clusters=between.clusters,
        intraclass_correlation=between.intraclass_correlation((row.stddev or 0.0) ** 2),
        **_NO_INTERVAL,
    )
    if row.mean is None or row.n < 2:
        return replace(known, note=row.note)
    if known.stderr is None:
        return replace(known, note="one cluster has no interval")
    if not has_spread(known.stderr, max(abs(row.min or 0), abs(row.max or 0))):
        return replace(known, note=NO_CLUSTER_DIFFERS)
    low, high = Studentized(row.mean, known.stderr, between.clusters - 1).interval(CONFIDENCE)
    return replace(known, ci_low=low, ci_high=high, interval="clusters", note=None)


def without_clusters(row: MeanRow) -> MeanRow:
    """The row where there are more clusters than are kept."""
    note = f"there are more than {MOST_CLUSTERS:,} clusters, whose sums are not kept"
    return replace(row, stderr=None, note=note, **_NO_INTERVAL)


def unclustered(row: MeanRow) -> MeanRow:
    """The row of a metric whose sums are not kept by cluster.

    It has no interval, since one over conversations that are not independent is too narrow.
    """
    note = row.note or "intervals by clusters are not given for costs"
    return replace(row, stderr=None, note=note, **_NO_INTERVAL)


_NO_INTERVAL: Any = {"ci_low": None, "ci_high": None, "interval": None}


def studentized(
    mean: float, stderr: float, n: int, skewness: float, interval: Interval
) -> Studentized:
    """A mean of n values as an estimate, from which intervals of any confidence follow."""
    asymmetry = skewness / sqrt(n) if interval == "hall" else 0.0
    return Studentized(mean, stderr, n - 1, asymmetry)
