"""Means over conversations, per slice, metric and iteration, with their uncertainty (SPEC 6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from msgspec import Struct, field

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.clusters import Clusters
from goodgain.transforms.core.means.columns import (
    add_columns,
    add_terms,
    columns_of,
    without_cluster,
)
from goodgain.transforms.core.means.distribution import Adder, Distribution, merge_all
from goodgain.transforms.core.means.estimates import estimates_of
from goodgain.transforms.core.means.mean_row import Estimate, MeanRow, mean_row
from goodgain.transforms.core.means.ratios import RatioSums
from goodgain.transforms.core.means.relations import OutcomeRelation, OutcomeValues
from goodgain.transforms.core.means.values import ConversationValues, list_values
from goodgain.transforms.core.metrics.plan import MeanOf, MetricPlan
from goodgain.transforms.core.scoring.data_counts import COUNTED
from goodgain.transforms.core.scoring.id_checks import ContradictedId, least_examples

_BATCH = 1_024  # conversations that wait to be added in one go, 6 KB each
# Up to this many are sent unsummed, 1.1 KB each: the sums of one take 12.6 KB and 10 ms, but those
# of 64 are smaller than the 64 conversations.
_LIGHT = 32


class MeansAccumulator(Struct, array_like=True):
    """Distributions over conversations, in the order of the plan's cells; mutable.

    `MeansAccumulator()` is empty. `add` and `merge` may defer sums; `compact` computes them.
    Merging is associative and commutative. Each conversation is in one of three parts of a cell.

    Attributes:
      reached: of those that got to the cell's iteration or budget; empty = none so far.
      beyond: of those that stopped before, as if empty iterations followed.
      idle: of those that did not search.
      ratios, idle_ratios: sums for the plan's ratios, of those that searched and did not.
      alone, idle_alone: the same, only of those that are clusters of their own.
      calls: over search calls, by ranking metric.
      counted: sums of the counts behind warnings, in the order of COUNTED; empty until there are
        any.
      clusters: sums of each cluster; None if conversations count as independent.
      related, related_idle: values beside outcomes, of those that searched and did not.
      pending: conversations to be added.
      best: the same for best cases; None until there is one.
      contradicted_ids: the least examples for a warning.
    """

    reached: list[Distribution] = []
    beyond: list[Distribution] = []
    idle: list[Distribution] = []
    ratios: list[RatioSums] = []
    idle_ratios: list[RatioSums] = []
    alone: list[RatioSums] = []
    idle_alone: list[RatioSums] = []
    calls: list[Distribution] = []
    counted: list[int] = []
    clusters: Clusters | None = None
    related: OutcomeValues = field(default_factory=OutcomeValues)
    related_idle: OutcomeValues = field(default_factory=OutcomeValues)
    pending: list[ConversationValues] = []
    best: MeansAccumulator | None = None
    contradicted_ids: list[ContradictedId] = []

    def add(self, values: ConversationValues) -> None:
        """Add one conversation."""
        self.pending.append(values)
        if len(self.pending) >= _BATCH:
            self.compact()

    def prepare_to_send(self) -> None:
        """Compute deferred sums if that saves bytes."""
        if self.reached or self.idle or len(self.pending) > _LIGHT:
            self.compact()

    def compact(self) -> None:
        """Compute deferred sums."""
        if not self.pending:
            return
        pending, self.pending = self.pending, []
        self._add_clusters(pending)
        self._add_outcomes(pending)
        searched = [values for values in pending if values.n]
        idle = [values for values in pending if not values.n]
        adder = Adder()
        self.reached = add_columns(self.reached, columns_of(searched, True), adder)
        self.beyond = add_columns(self.beyond, columns_of(searched, False), adder)
        self.idle = add_columns(self.idle, columns_of(idle, True), adder)
        self.ratios = add_terms(self.ratios, searched)
        self.idle_ratios = add_terms(self.idle_ratios, idle)
        self.alone = add_terms(self.alone, without_cluster(searched))
        self.idle_alone = add_terms(self.idle_alone, without_cluster(idle))
        calls = chain.from_iterable(values.calls for values in searched)
        self.calls = add_columns(self.calls, enumerate(zip(*calls, strict=True)), adder)
        self.counted = _sum_counts(self.counted, *[values.counted for values in searched])
        examples = [example for values in searched for example in values.contradicted_ids]
        self.contradicted_ids = least_examples([*self.contradicted_ids, *examples])
        for values in pending:
            if values.best is not None:
                self._best_cases().add(values.best)
        if self.best is not None:
            self.best.compact()

    def merge(self, other: MeansAccumulator) -> None:
        """Add another accumulator, which is not changed."""
        self.pending = self.pending + other.pending
        self.reached = merge_all(self.reached, other.reached)
        self.beyond = merge_all(self.beyond, other.beyond)
        self.idle = merge_all(self.idle, other.idle)
        self.ratios = merge_all(self.ratios, other.ratios)
        self.idle_ratios = merge_all(self.idle_ratios, other.idle_ratios)
        self.alone = merge_all(self.alone, other.alone)
        self.idle_alone = merge_all(self.idle_alone, other.idle_alone)
        self.calls = merge_all(self.calls, other.calls)
        self.counted = _sum_counts(self.counted, other.counted)
        self.contradicted_ids = least_examples([*self.contradicted_ids, *other.contradicted_ids])
        self.related.merge(other.related)
        self.related_idle.merge(other.related_idle)
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
                members.setdefault(values.cluster, []).append(list_values(values))
        if members:
            self.clusters = self.clusters or Clusters()
            self.clusters.add(members)

    def _add_outcomes(self, pending: Sequence[ConversationValues]) -> None:
        for values in pending:
            if values.outcomes:
                related = self.related if values.n else self.related_idle
                related.add(values.at_n, values.outcomes, values.cluster)

    def relations(self, slice_: dict[str, str], plan: MetricPlan) -> list[OutcomeRelation]:
        """How the metrics at N go with each outcome that is 0 or 1 (SPEC 12).

        The population `everyone` only if conversations that did not search have outcomes.
        """
        self.compact()
        rows = list(self.related.relations(slice_, plan, "all"))
        if self.related_idle.outcomes:
            everyone = OutcomeValues()
            everyone.merge(self.related)
            everyone.merge(self.related_idle)
            rows += everyone.relations(slice_, plan, "everyone")
        return rows

    def _best_cases(self) -> MeansAccumulator:
        if self.best is None:
            self.best = MeansAccumulator()
        return self.best

    def rows(
        self, slice_: dict[str, str], plan: MetricPlan, interval: Interval = "hall"
    ) -> list[MeanRow]:
        """The means over everything added, in the order of the plan.

        Args:
          plan: that of the values.
          interval: kind of interval for metrics that are not 0 or 1 in each conversation.
        """
        return [mean_row(slice_, of, estimate) for of, estimate in self.estimates(plan, interval)]

    def estimates(
        self, plan: MetricPlan, interval: Interval = "hall"
    ) -> list[tuple[MeanOf, Estimate]]:
        """Like `rows`, but without the slice; equal samples of few values share one estimate."""
        self.compact()
        return list(estimates_of(self, plan, interval))

    def counts(self) -> dict[str, int]:
        """The counts behind warnings, by the names of COUNTED; empty if nothing has been added."""
        self.compact()
        return dict(zip(COUNTED, self.counted, strict=False))

    @property
    def searched(self) -> int:
        """The number of conversations that searched."""
        return self.reached[0].n + self.reached[0].undefined if self.reached else 0


def _sum_counts(*several: Sequence[int]) -> list[int]:
    """The sums of counts by index; empty ones are skipped."""
    return list(map(sum, zip(*filter(None, several), strict=True)))
