"""Gain and costs of each arm, which the report plots against each other (SPEC 5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import fsum

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.clusters import number_clusters
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.pipeline.studies.comparison.verdict_conditions import differ
from goodgain.transforms.core.comparison.samples import Array
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.cluster_variance import ClusterVariance
from goodgain.transforms.core.means.distribution import Distribution
from goodgain.transforms.core.means.mean_row import (
    MeanRow,
    estimate_clustered,
    estimate_of,
    mean_row,
)
from goodgain.transforms.core.means.ratios import RatioSums, ratio_estimate
from goodgain.transforms.core.metrics.costs import CG_PER_TOTAL, COST, COST_AT_I, COST_I
from goodgain.transforms.core.metrics.plan import MeanOf, Population

_ITERATIONS, _GAIN, _GAIN_AT_I, _GAIN_I = "N", "CG", "CG_at_i", "G_i"


def arm_means(
    arms: Arms, slices: Iterable[dict[str, str]], cluster: str | None, interval: Interval
) -> Iterator[tuple[str, MeanRow]]:
    """The name of each arm with its means of gain and costs, at N and by i; none without costs.

    They are over all of its conversations, including those without a partner.
    If the arms differ in how many conversations did not search, those count too (SPEC 10).

    Args:
      slices: the attribute values of each slice.
      cluster: attribute whose values are clusters; None = conversations are independent.
    """
    costs, max_i = arms.measures.costs, arms.measures.max_i
    for slice_ in slices if costs else ():
        base, candidate = arms.base.where(slice_), arms.candidate.where(slice_)
        everyone = differ(base.share_without_search, candidate.share_without_search)
        for name, arm in (("base", base), ("candidate", candidate)):
            means = MeansOfArm(arm.everyone() if everyone else arm, slice_, cluster, interval)
            for row in means.rows(costs, max_i, "everyone" if everyone else "all"):
                yield name, row


class MeansOfArm(Struct, frozen=True):
    """Computes the means over the conversations of one arm."""

    arm: Arm
    slice_: dict[str, str]
    cluster: str | None
    interval: Interval

    def rows(self, costs: Sequence[str], max_i: int, population: Population) -> Iterator[MeanRow]:
        """Gain and costs, at N and by i."""
        for name in (_ITERATIONS, _GAIN, *(COST + cost for cost in costs)):
            yield self.mean(Measure(name, None, population))
        for cost in costs:
            yield self._ratio(cost, population)
        for i in range(1, max_i + 1):
            for name in (_GAIN_AT_I, *(COST_AT_I + cost for cost in costs)):
                yield self.mean(Measure(name, i, population))
            for name in (_GAIN_I, *(COST_I + cost for cost in costs)):
                yield self.mean(Measure(name, i, "reached"))

    def mean(self, measure: Measure) -> MeanRow:
        """The mean of one measure, with its interval."""
        values, present = self.arm.values(measure)
        known = present & ~np.isnan(values)
        undefined = int((present & ~known).sum())
        mean_of = MeanOf(measure.metric, measure.i, measure.population)
        distribution = Distribution().add(values[known].tolist(), undefined=undefined)
        estimate = estimate_of(distribution, self.interval, binary=False)
        if self.cluster is not None:
            totals = ((len(cluster), fsum(cluster)) for cluster in self._by_cluster(values, known))
            estimate = estimate_clustered(estimate, ClusterVariance.of(totals))
        return mean_row(self.slice_, mean_of, estimate)

    def _ratio(self, cost: str, population: Population) -> MeanRow:
        gains, costs = self.arm.at_end[_GAIN], self.arm.at_end[COST + cost]
        known = ~np.isnan(costs)
        pairs = zip(gains[known].tolist(), costs[known].tolist(), strict=True)
        totals = None
        if self.cluster is not None:
            sums = (
                [
                    sum(map(Fraction, cluster), Fraction(0))
                    for cluster in self._by_cluster(values, known)
                ]
                for values in (gains, costs)
            )
            totals = RatioSums().add(zip(*sums, strict=True))
        undefined = len(known) - int(known.sum())
        estimate = ratio_estimate(RatioSums().add(pairs), undefined, totals)
        return mean_row(self.slice_, MeanOf(CG_PER_TOTAL + cost, None, population), estimate)

    def _by_cluster(self, values: Array, known: npt.NDArray[np.bool_]) -> list[list[float]]:
        """The known values, by cluster."""
        codes = number_clusters(
            attributes.get(self.cluster or "", "") for attributes in self.arm.attributes
        )
        by_cluster: dict[int, list[float]] = {}
        for code, value in zip(codes[known].tolist(), values[known].tolist(), strict=True):
            by_cluster.setdefault(code, []).append(value)
        return list(by_cluster.values())
