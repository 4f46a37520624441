"""The means of an accumulator with their uncertainty, one for each mean of the plan (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.clusters import Clusters
from goodgain.transforms.core.means.distribution import NOTHING, Distribution
from goodgain.transforms.core.means.mean_row import (
    Estimate,
    estimate_clustered,
    estimate_of,
    withhold_estimate,
    withhold_interval,
)
from goodgain.transforms.core.means.ratios import RatioSums, ratio_estimate, sum_parts
from goodgain.transforms.core.means.repeats import repeats_estimates
from goodgain.transforms.core.means.values import Places
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.plan import MeanOf, MetricPlan, Population
from goodgain.transforms.core.scoring.data_counts import RESULTS, UNLABELLED

if TYPE_CHECKING:
    from goodgain.transforms.core.means.accumulator import MeansAccumulator

_ZERO_AND_ONE = {0.0, 1.0}


def estimates_of(
    sums: MeansAccumulator, plan: MetricPlan, interval: Interval
) -> Iterator[tuple[MeanOf, Estimate]]:
    """The estimate of each mean, in the order of the plan.

    Args:
      sums: compact.
      interval: kind of interval for metrics that are not 0 or 1 in each conversation.
    """
    inputs = list(_inputs(sums, plan, sums.idle))
    estimates = [estimate_of(sample.values, interval, sample.is_binary) for sample in inputs]
    if sums.clusters is not None:
        between = sums.clusters.variances_between([sample.places for sample in inputs])
        estimates = [
            withhold_interval(estimate) if spread is None else estimate_clustered(estimate, spread)
            for estimate, spread in zip(estimates, between or repeat(None), strict=False)
        ]
    if sums.best is not None:
        best_cases = _inputs(sums.best, plan, sums.idle)
        estimates = [
            _with_bounds(estimate, best.values) if best.metric.bounded else estimate
            for estimate, best in zip(estimates, best_cases, strict=True)
        ]
    found = [
        (input_.metric, _mean_of(input_.metric.name, input_.i, input_.population), estimate)
        for input_, estimate in zip(inputs, estimates, strict=True)
    ]
    at_n = [
        estimate
        for input_, estimate in zip(inputs, estimates, strict=True)
        if input_.i is None and input_.population == "all"
    ]
    found += _ratios(sums, plan, at_n)
    for at, metric in plan.renamed:
        found.append((metric, _mean_of(metric.name, None, "all"), at_n[at]))
    found += _repeats(sums, plan)
    counts = sums.counts()
    nothing_labelled = counts.get(RESULTS) and counts[RESULTS] == counts[UNLABELLED]
    for metric, of, estimate in found:
        yield (
            of,
            withhold_estimate(estimate) if nothing_labelled and metric.needs_labels else estimate,
        )


def _ratios(
    sums: MeansAccumulator, plan: MetricPlan, at_n: Sequence[Estimate]
) -> Iterator[tuple[Metric, MeanOf, Estimate]]:
    """Each ratio of sums; `everyone` only if it has more conversations than `all`."""
    zero = [RatioSums()] * len(plan.ratios)
    for at, ratio in enumerate(plan.ratios):
        of_all, idle = (sums.ratios or zero)[at], (sums.idle_ratios or zero)[at]
        metric, name = ratio.metric, ratio.metric.name
        if ratio.like is not None:
            estimate = _estimate_without_interval(of_all, at_n[ratio.like])
            yield metric, _mean_of(name, None, "all"), estimate
            continue
        undefined = sums.searched - of_all.n
        yield metric, _mean_of(name, None, "all"), _ratio(sums, of_all, undefined, plan, at, False)
        if sums.idle:
            estimate = _ratio(sums, of_all.merge(idle), undefined, plan, at, True)
            yield metric, _mean_of(name, None, "everyone"), estimate


def _repeats(sums: MeansAccumulator, plan: MetricPlan) -> Iterator[tuple[Metric, MeanOf, Estimate]]:
    """How often repeats pass each condition; `everyone` only if it has more conversations."""
    clusters, places = sums.clusters or Clusters(), _places(plan)
    populations: tuple[Population, ...] = ("all", "everyone") if sums.idle else ("all",)
    for at, condition in enumerate(plan.conditions):
        needs_labels = plan.at_n[plan.conditioned[at]].needs_labels
        for population in populations:
            parts = (False, True) if population == "everyone" else (False,)
            passed = clusters.count_passes([places.passes(at, idle) for idle in parts])
            for repeats, estimate in repeats_estimates(condition, plan.pass_k, passed):
                metric = repeats.metric(needs_labels)
                yield metric, _mean_of(metric.name, None, population), estimate


def _ratio(
    sums: MeansAccumulator,
    ratio: RatioSums,
    undefined: int,
    plan: MetricPlan,
    at: int,
    everyone: bool,
) -> Estimate:
    """The estimate of a ratio; with clusters, its spread is that of their totals."""
    if sums.clusters is None:
        return ratio_estimate(ratio, undefined)
    places = _places(plan)
    terms = [places.terms(at, idle=False), *([places.terms(at, idle=True)] if everyone else ())]
    pairs = []
    for of_cluster in sums.clusters.sums([place for both in terms for place in both]):
        if any(n for n, _ in of_cluster):
            x, y = (
                sum((sum_parts(parts) for _, parts in of_cluster[term::2]), sum_parts(()))
                for term in (0, 1)
            )
            pairs.append((x, y))
    totals = RatioSums().add(pairs)
    for alone in (sums.alone, *([sums.idle_alone] if everyone else ())):
        totals = totals.merge(alone[at]) if alone else totals
    estimate = ratio_estimate(ratio, undefined, totals)
    return withhold_interval(estimate) if sums.clusters.by_digest is None else estimate


class _MeanInput(Struct, frozen=True):
    """The inputs of one row.

    Attributes:
      places: the places of its values among those of a conversation (`Places`).
    """

    metric: Metric
    i: int | None
    population: Population
    values: Distribution
    places: list[int]

    @property
    def is_binary(self) -> bool:
        """Whether each value is 0 or 1."""
        if self.metric.binary is None:
            return self.values.binned is None and self.values.counts.keys() <= _ZERO_AND_ONE
        return self.metric.binary


def _inputs(
    sums: MeansAccumulator, plan: MetricPlan, idle: Sequence[Distribution]
) -> Iterator[_MeanInput]:
    """The rows to make; `everyone` only if it has more conversations than `all`.

    Args:
      idle: of those that did not search, whose best cases do not differ.
    """
    places = _places(plan)
    nothing = [NOTHING] * len(plan.cells)
    reached, beyond = sums.reached or nothing, sums.beyond or nothing
    for at, (metric, i, budget) in enumerate(plan.cells):
        whole = reached[at].merge(beyond[at])
        of_all = [places.reached(at), places.beyond(at)]
        if i is not None or budget:
            yield _MeanInput(metric, i, "reached", reached[at], of_all[:1])
        yield _MeanInput(metric, i, "all", whole, of_all)
        if idle:
            everyone = [*of_all, places.idle(at)]
            yield _MeanInput(metric, i, "everyone", whole.merge(idle[at]), everyone)
    for at, values in enumerate(sums.calls):
        yield _MeanInput(plan.ranking[at], None, "calls", values, [places.call(at)])


def _places(plan: MetricPlan) -> Places:
    return Places(len(plan.cells), len(plan.ratios), len(plan.ranking))


@lru_cache(maxsize=2**14)
def _mean_of(metric: str, i: int | None, population: Population) -> MeanOf:
    return MeanOf(metric, i, population)


def _with_bounds(estimate: Estimate, best: Distribution) -> Estimate:
    # An unlabelled result already counts as worthless, so the mean is the worst case.
    if best.mean is None:
        return estimate
    return replace(estimate, worst=estimate.mean, best=best.mean)


def _estimate_without_interval(sums: RatioSums, like: Estimate) -> Estimate:
    return Estimate(
        like.n,
        like.undefined,
        mean=sums.ratio,
        clusters=like.clusters,
        intraclass_correlation=like.intraclass_correlation,
        note=like.note
        if sums.ratio is None
        else "a weighted mean has no interval or quantiles here",
    )
