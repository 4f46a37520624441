"""Means over conversations, per slice, metric and iteration, with their uncertainty (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import count, repeat
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.clusters import Clusters
from goodgain.transforms.core.means.costs import CostSums
from goodgain.transforms.core.means.distribution import NOTHING, Adder, Distribution
from goodgain.transforms.core.means.rows import (
    Estimate,
    MeanInput,
    MeanOf,
    MeanRow,
    Population,
    clustered,
    estimate_of,
    mean_row,
    without_clusters,
    without_labels,
)
from goodgain.transforms.core.means.values import (
    ConversationValues,
    ValueIndexes,
    indexed_values,
    metric_names,
)
from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics
from goodgain.transforms.core.scoring.data_counts import COUNTED, RESULTS, UNLABELLED
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name, value_without_search
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    OF_POOL,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

_BATCH = 2_048  # conversations that wait to be added in one go, 6 KB each
# Up to this many are sent unsummed, 1.1 KB each: the sums of one take 12.6 KB and 10 ms, but those
# of 64 are smaller than the 64 conversations.
_LIGHT = 32
_Values = tuple[float | None, ...]
_POOL_SHARE = POOL_METRICS[0].name


class MeansAccumulator(Struct, array_like=True):
    """Sums over conversations; mutable.

    `add` and `merge` may defer sums; `compact` computes them. Merging is associative and
    commutative.

    Attributes:
      auc: index of auc in `ConversationValues.at_end`; None if it is not there.
      at_end: by index in `ConversationValues.at_end`.
      reached, beyond: for each i from 1, by iteration metric.
      weighted_auc: judged results times auc, and judged results, where auc is defined.
      calls: over search calls, by ranking metric.
      best: the same for best cases; None until there is one.
      unsearched: like `at_end`, for conversations that never searched.
      clusters: sums of each cluster; None if conversations count as independent.
      pooled: whether values include pool metrics.
      counted: sums of the counts behind warnings, in the order of COUNTED; empty until there are
        any.
      costs: sums over conversations that report costs; None until there is one.
    """

    auc: int | None
    at_end: list[Distribution] = []
    reached: list[list[Distribution]] = []
    beyond: list[list[Distribution]] = []
    weighted_auc: list[Distribution] = []
    calls: list[Distribution] = []
    best: MeansAccumulator | None = None
    unsearched: list[Distribution] = []
    clusters: Clusters | None = None
    pending: list[ConversationValues] = []
    pooled: bool = False
    counted: list[int] = []
    costs: CostSums | None = None

    @classmethod
    def empty(cls, auc: int | None, max_i: int, pooled: bool = False) -> MeansAccumulator:
        """An empty accumulator; it still has a row for every metric, and at i = 1..max_i."""
        return cls(
            auc,
            reached=[[] for _ in range(max_i)],
            beyond=[[] for _ in range(max_i)],
            pooled=pooled,
        )

    def add(self, values: ConversationValues) -> None:
        """Add one conversation."""
        self.pending.append(values)
        if len(self.pending) >= _BATCH:
            self.compact()

    def lighten(self) -> None:
        """Compute deferred sums if that saves bytes; called before the accumulator is sent."""
        if self.at_end or len(self.pending) > _LIGHT:
            self.compact()

    def compact(self) -> None:
        """Compute deferred sums."""
        if not self.pending:
            return
        self._add_clusters(self.pending)
        self._add_costs(self.pending)
        pending = [values for values in self.pending if values.searched]
        unsearched = [values.at_end for values in self.pending if not values.searched]
        self.pending = []
        self.unsearched = _added(self.unsearched, unsearched)
        self.at_end = _added(self.at_end, [values.at_end for values in pending])
        self.calls = _added(self.calls, [call for values in pending for call in values.calls])
        self.counted = _summed(self.counted, *[values.counted for values in pending])
        if self.auc is not None:
            weighted = [_weighted(values, self.auc) for values in pending]
            self.weighted_auc = _added(self.weighted_auc, weighted)
        longest = max((len(values.reached) + len(values.beyond) for values in pending), default=0)
        adder = Adder()
        for i in range(longest):
            reached = [values.reached[i] for values in pending if i < len(values.reached)]
            beyond = [
                values.beyond[i - len(values.reached)]
                for values in pending
                if i >= len(values.reached)
            ]
            _add_at(self.reached, i, reached)
            _add_at(self.beyond, i, beyond, adder)
        for values in pending:
            if values.best is not None:
                self._best_cases().add(values.best)
        if self.best is not None:
            self.best.compact()

    def merge(self, other: MeansAccumulator) -> None:
        """Add another accumulator, which is not changed."""
        self.pending = self.pending + other.pending
        self.at_end = _merged(self.at_end, other.at_end)
        self.unsearched = _merged(self.unsearched, other.unsearched)
        self.weighted_auc = _merged(self.weighted_auc, other.weighted_auc)
        self.calls = _merged(self.calls, other.calls)
        self.counted = _summed(self.counted, other.counted)
        for mine, theirs in ((self.reached, other.reached), (self.beyond, other.beyond)):
            for i, distributions in enumerate(theirs):
                if i == len(mine):
                    mine.append([])
                mine[i] = _merged(mine[i], distributions)
        if other.costs is not None:
            self.costs = (self.costs or CostSums()).merge(other.costs)
        if other.best is not None:
            self._best_cases().merge(other.best)
        if len(self.pending) >= _BATCH:
            self.compact()
        if other.clusters is not None:
            self.clusters = self.clusters or Clusters()
            self.clusters.merge(other.clusters)

    def _add_clusters(self, pending: Sequence[ConversationValues]) -> None:
        members: dict[str, list[list[list[float]]]] = {}
        for values in pending:
            if values.cluster is not None:
                by_index = indexed_values(values, len(self.reached), self.pooled)
                members.setdefault(values.cluster, []).append(by_index)
        if members:
            self.clusters = self.clusters or Clusters()
            self.clusters.add(members)

    def _add_costs(self, pending: Sequence[ConversationValues]) -> None:
        costs = [(one.costs, one.cluster == "") for one in pending if one.costs is not None]
        if costs:
            alone = [one for one, is_alone in costs if is_alone]
            self.costs = (self.costs or CostSums()).add([one for one, _ in costs], alone)

    def _best_cases(self) -> MeansAccumulator:
        if self.best is None:
            self.best = MeansAccumulator(None, pooled=self.pooled)
        return self.best

    def rows(
        self,
        slice_: dict[str, str],
        ranking_metrics: Sequence[str],
        interval: Interval = "hall",
    ) -> list[MeanRow]:
        """The means over everything added, in the order of the registry.

        Args:
          ranking_metrics: names of the ranking metrics, in the order of the values.
          interval: kind of interval for metrics that are not 0 or 1 in each conversation.
        """
        pairs = self.estimates(ranking_metrics, interval)
        return [mean_row(slice_, of, estimate) for of, estimate in pairs]

    def estimates(
        self, ranking_metrics: Sequence[str], interval: Interval = "hall"
    ) -> list[tuple[MeanOf, Estimate]]:
        """Like `rows`, but without the slice; equal samples of few values share one estimate."""
        self.compact()
        binary = _names_of("binary", tuple(ranking_metrics))
        inputs = list(self._inputs(ranking_metrics, self.unsearched))
        without_costs = len(inputs)
        first, max_i = self._indexes(ranking_metrics).costs, len(self.reached)
        for one in self.costs.inputs(max_i) if self.costs is not None else ():
            inputs.append(one._replace(indexes=[first + index for index in one.indexes]))
        estimates = [
            (one.about, estimate_of(one.values, interval, one.about.metric in binary))
            for one in inputs
        ]
        if self.clusters is not None:
            between = self.clusters.between([one.indexes for one in inputs])
            estimates = [
                (of, without_clusters(estimate) if spread is None else clustered(estimate, spread))
                for (of, estimate), spread in zip(estimates, between or repeat(None), strict=False)
            ]
        estimates, of_costs = estimates[:without_costs], estimates[without_costs:]
        if self.best is not None:
            best = self.best._inputs(ranking_metrics, self.unsearched)
            bounded = _names_of("bounded", tuple(ranking_metrics))
            estimates = [
                (of, _with_bounds(estimate, one.values) if of.metric in bounded else estimate)
                for (of, estimate), one in zip(estimates, best, strict=True)
            ]
        if self.auc is not None:
            of, auc = estimates[self.auc]
            weighted_auc = self.weighted_auc or [Distribution()] * 2
            estimates[self.auc + 1 : self.auc + 1] = [
                (of._replace(metric=GAUC.name), auc),
                (of._replace(metric=GAUC_WEIGHTED.name), _gauc_weighted(auc, *weighted_auc)),
            ]
        if self.costs is not None:
            estimates += of_costs
            estimates += self.costs.ratios_of_means(self.clusters, first, max_i)
        counts = self.counts()
        if counts.get(RESULTS) and counts[RESULTS] == counts[UNLABELLED]:
            return [
                (of, without_labels(one) if metric_by_name(of.metric).needs_labels else one)
                for of, one in estimates
            ]
        return estimates

    def counts(self) -> dict[str, int]:
        """The counts behind warnings, by the names of COUNTED; empty if nothing has been added."""
        self.compact()
        return dict(zip(COUNTED, self.counted, strict=False))

    def _indexes(self, ranking_metrics: Sequence[str]) -> ValueIndexes:
        return ValueIndexes(len(ranking_metrics), len(self.reached), self.pooled)

    def _inputs(
        self, ranking_metrics: Sequence[str], unsearched: Sequence[Distribution]
    ) -> Iterator[MeanInput]:
        """The rows to make; `everyone` only if it has more conversations than `all`.

        Args:
          unsearched: as in the class; their best cases do not differ.
        """
        names = metric_names(ranking_metrics, self.pooled)
        index = self._indexes(ranking_metrics)
        at_end = self.at_end or [Distribution()] * len(names)
        for at, (name, values) in enumerate(zip(names, at_end, strict=True)):
            yield MeanInput(_mean_of(name, None, "all"), values, [at])
        for at, unsearched_values in enumerate(unsearched):
            indexes = [at, index.unsearched(at)]
            yield MeanInput(
                _mean_of(names[at], None, "everyone"), at_end[at].merge(unsearched_values), indexes
            )
        metrics = ITERATION_METRICS + (POOL_ITERATION_METRICS if self.pooled else ())
        nothing = [Distribution()] * len(metrics)
        for i, (reached, beyond) in enumerate(zip(self.reached, self.beyond, strict=True), start=1):
            for at, metric in enumerate(metrics):
                if_reached = (reached or nothing)[at]
                values = if_reached.merge((beyond or nothing)[at])
                yield MeanInput(
                    _mean_of(metric.name, i, "reached"), if_reached, [index.reached(i, at)]
                )
                yield MeanInput(_mean_of(metric.name, i, "all"), values, [index.all(i, at)])
                if unsearched:
                    at_n = names.index(_same_without_search(metric.name))
                    indexes = [index.all(i, at), index.unsearched(at_n)]
                    yield MeanInput(
                        _mean_of(metric.name, i, "everyone"),
                        values.merge(unsearched[at_n]),
                        indexes,
                    )
        for at, values in enumerate(self.calls):
            yield MeanInput(_mean_of(ranking_metrics[at], None, "calls"), values, [index.calls(at)])


def _same_without_search(by_i: str) -> str:
    """A metric at N whose values without search are those of a metric of iterations at every i."""
    if by_i in OF_POOL:
        return _POOL_SHARE
    return "N" if value_without_search(by_i) == 0 else "SRR"


@lru_cache(maxsize=2**14)
def _mean_of(metric: str, i: int | None, population: Population) -> MeanOf:
    return MeanOf(metric, i, population)


def _with_bounds(estimate: Estimate, best: Distribution) -> Estimate:
    # An unlabelled result already counts as worthless, so the mean is the worst case.
    if best.mean is None:
        return estimate
    return replace(estimate, worst=estimate.mean, best=best.mean)


def _weighted(values: ConversationValues, auc: int) -> _Values:
    value = values.at_end[auc]
    return (None, None) if value is None else (values.judged * value, values.judged)


def _gauc_weighted(gauc: Estimate, weighted: Distribution, weights: Distribution) -> Estimate:
    mean = None
    if weighted.mean is not None and weights.mean:
        mean = weighted.mean / weights.mean
    return Estimate(
        gauc.n,
        gauc.undefined,
        mean=mean,
        clusters=gauc.clusters,
        intraclass_correlation=gauc.intraclass_correlation,
        note=gauc.note if mean is None else "a weighted mean has no interval or quantiles here",
    )


def _summed(*several: Sequence[int]) -> list[int]:
    """The sums of counts by index; empty ones are skipped."""
    return list(map(sum, zip(*filter(None, several), strict=True)))


@lru_cache
def _names_of(
    what: Literal["binary", "bounded"], ranking_metrics: tuple[str, ...]
) -> frozenset[str]:
    """The names of the metrics for which a flag is declared."""
    ranking = (metric.declaration for metric in parse_ranking_metrics(ranking_metrics))
    declared = (*CONVERSATION_METRICS, *ITERATION_METRICS, *POOL_METRICS, *ranking)
    return frozenset(metric.name for metric in declared if getattr(metric, what))


def _added(
    distributions: list[Distribution], values: list[_Values], adder: Adder | None = None
) -> list[Distribution]:
    if not values:
        return distributions
    before = distributions or repeat(NOTHING)
    add = (adder or Adder()).add
    return list(map(add, count(), before, zip(*values, strict=True)))


def _add_at(
    by_i: list[list[Distribution]], i: int, values: list[_Values], adder: Adder | None = None
) -> None:
    if i == len(by_i):
        by_i.append([])
    by_i[i] = _added(by_i[i], values, adder)


def _merged(mine: list[Distribution], theirs: list[Distribution]) -> list[Distribution]:
    if not mine or not theirs:
        return mine or theirs
    return [one.merge(other) for one, other in zip(mine, theirs, strict=True)]
