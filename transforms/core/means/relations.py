"""Which metrics go with an outcome that is 0 or 1, like a right answer (SPEC 12).

The values of each conversation are kept until the rows are made, so that ranks over all of them
give AUC and its interval. With too many conversations only distributions by outcome are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import nan
from struct import pack
from typing import Any

import numpy as np
from msgspec import Struct

from goodgain.transforms.core.means.auc import Auc, delong, obuchowski
from goodgain.transforms.core.means.distribution import NOTHING, Distribution, merge_all
from goodgain.transforms.core.means.power_sums import PowerSums
from goodgain.transforms.core.metrics.group import Values
from goodgain.transforms.core.metrics.plan import MetricPlan, Population

MOST_CONVERSATIONS = 20_000  # per slice, some 350 bytes each
_TOO_MANY = f"there are more than {MOST_CONVERSATIONS:,} conversations, too many for clusters"
_Array = np.ndarray[Any, Any]


class OutcomeRelation(Struct, frozen=True, kw_only=True):
    """How a metric goes with an outcome; a row of the dataset `outcome_relations`.

    Attributes:
      slice: the attribute values that the conversations share; {} = all conversations.
      outcome, metric: columns of `conversations`; the outcome is 0 or 1 in each.
      population: `all` = conversations that searched; `everyone` = also those that never searched.
      n: number of conversations with a value of both.
      n_one, n_zero: how many of them have the outcome 1 and 0.
      mean_one, mean_zero: means of the metric where the outcome is 1 and where it is 0.
      positive_one, positive_zero: in how many of either the metric is above 0.
      auc: probability that the metric is higher where the outcome is 1 than where it is 0, ties
        1/2; None if only one outcome occurs.
      stderr, ci_low, ci_high: its standard error and 95 % interval; None without one.
      clusters: number of clusters; None if conversations count as independent.
      note: why there is no interval; None with one.
    """

    slice: dict[str, str]
    outcome: str
    metric: str
    population: Population
    n: int
    n_one: int
    n_zero: int
    mean_one: float | None
    mean_zero: float | None
    positive_one: int
    positive_zero: int
    auc: float | None
    stderr: float | None
    ci_low: float | None
    ci_high: float | None
    clusters: int | None
    note: str | None


class _ByClass(Struct, array_like=True):
    """The distributions of the metrics where an outcome is 0 and where it is 1; mutable.

    Attributes:
      zeros, ones: by metric; empty until there are any.
      graded: whether the outcome had a value other than 0 and 1.
    """

    zeros: list[Distribution] = []
    ones: list[Distribution] = []
    graded: bool = False

    def add(self, values: _Array, outcome: _Array) -> None:
        """Add conversations: their values, one column for each metric, and their outcome."""
        self.graded = self.graded or _is_graded(outcome)
        nothing = [NOTHING] * values.shape[1]
        self.zeros, self.ones = (
            [
                distribution.add(column[~np.isnan(column)].tolist())
                for distribution, column in zip(
                    before or nothing, values[outcome == class_].T, strict=True
                )
            ]
            for class_, before in ((0, self.zeros), (1, self.ones))
        )

    def merge(self, other: _ByClass) -> None:
        """Add those of another, which is not changed."""
        self.graded = self.graded or other.graded
        self.zeros = merge_all(self.zeros, other.zeros)
        self.ones = merge_all(self.ones, other.ones)


class OutcomeValues(Struct, array_like=True):
    """The values at N of conversations with an outcome; mutable. `OutcomeValues()` is empty.

    Attributes:
      outcomes: which of the values are outcomes.
      rows: for each conversation, the digest of its cluster (see `ConversationValues.cluster`) and
        its values as doubles, NaN for null.
      summed: replaces the rows of more than MOST_CONVERSATIONS, by outcome; empty until then.
      clustered: whether conversations that were summed had clusters.
    """

    outcomes: tuple[int, ...] = ()
    rows: list[tuple[str | None, bytes]] = []
    summed: list[_ByClass] = []
    clustered: bool = False

    def add(self, values: Values, outcomes: tuple[int, ...], cluster: str | None) -> None:
        """Add a conversation, if it has an outcome."""
        if any(values[at] is not None for at in outcomes):
            self.outcomes = outcomes
            doubles = [nan if value is None else value for value in values]
            self.rows.append((cluster, pack(f"<{len(doubles)}d", *doubles)))
            self._limit()

    def merge(self, other: OutcomeValues) -> None:
        """Add those of another, which is not changed."""
        self.outcomes = self.outcomes or other.outcomes
        self.rows = self.rows + other.rows
        if other.summed:
            self._sum()
            self.clustered = self.clustered or other.clustered
            for mine, theirs in zip(self.summed, other.summed, strict=True):
                mine.merge(theirs)
        self._limit()

    def relations(
        self, slice_: dict[str, str], plan: MetricPlan, population: Population
    ) -> Iterator[OutcomeRelation]:
        """The relations of each outcome that is always 0 or 1 with each metric but itself."""
        if self.summed:
            self._sum()
        else:
            self.rows.sort(key=lambda row: (row[0] or "", row[1]))
        for number, outcome in enumerate(self.outcomes):
            related = self._of_sums(number) if self.summed else self._of_rows(outcome)
            for at, figures in related:
                if at != outcome:  # AUC is 1 with itself
                    yield OutcomeRelation(
                        slice=slice_,
                        outcome=plan.at_n[outcome].name,
                        metric=plan.at_n[at].name,
                        population=population,
                        **figures,
                    )

    def _of_sums(self, number: int) -> Iterator[tuple[int, dict[str, Any]]]:
        sums = self.summed[number]
        if sums.graded:
            return
        for at, (zeros, ones) in enumerate(zip(sums.zeros, sums.ones, strict=True)):
            auc = delong(ones.frequencies, zeros.frequencies)
            if self.clustered:
                auc = Auc(auc.value, note=auc.note if auc.value is None else _TOO_MANY)
            means = (ones.mean, zeros.mean)
            positive = [_positive(values) for values in (ones, zeros)]
            yield at, _columns((ones.n, zeros.n), means, positive, auc)

    def _of_rows(self, outcome: int) -> Iterator[tuple[int, dict[str, Any]]]:
        values = self._matrix()
        classes = values[:, outcome]
        if _is_graded(classes):
            return
        clusters = self._cluster_numbers()
        for at, column in enumerate(values.T):
            known = ~(np.isnan(column) | np.isnan(classes))
            of, class_ = column[known], classes[known]
            ones, zeros = of[class_ == 1], of[class_ == 0]
            counts = [Counter(values.tolist()) for values in (ones, zeros)]
            if clusters is None:
                auc = delong(*counts)
            else:
                numbers = np.unique(clusters[known], return_inverse=True)[1]
                auc = obuchowski(of, class_, numbers)
            means = [  # rounded once, as those of sums are
                PowerSums.of(values).mean(values.total()) if values else None for values in counts
            ]
            positive = [int((values > 0).sum()) for values in (ones, zeros)]
            yield at, _columns((len(ones), len(zeros)), means, positive, auc)

    def _cluster_numbers(self) -> _Array | None:
        """A number for the cluster of each row; None if conversations count as independent."""
        if not self.rows or self.rows[0][0] is None:
            return None
        numbers: dict[str, int] = {}
        return np.array(
            [
                numbers.setdefault(cluster or f"alone {at}", len(numbers))
                for at, (cluster, _) in enumerate(self.rows)
            ]
        )

    def _limit(self) -> None:
        if len(self.rows) > MOST_CONVERSATIONS:
            self._sum()

    def _sum(self) -> None:
        """Replace the rows by distributions."""
        self.summed = self.summed or [_ByClass() for _ in self.outcomes]
        if self.rows:
            self.clustered = self.clustered or any(cluster is not None for cluster, _ in self.rows)
            values, self.rows = self._matrix(), []
            for sums, outcome in zip(self.summed, self.outcomes, strict=True):
                sums.add(values, values[:, outcome])

    def _matrix(self) -> _Array:
        """The values of the rows, one column for each metric."""
        packed = b"".join(values for _, values in self.rows)
        return np.frombuffer(packed, "<f8").reshape(len(self.rows), -1)


def _is_graded(outcome: _Array) -> bool:
    """Whether an outcome has values other than 0 and 1."""
    return bool((~np.isnan(outcome) & (outcome != 0) & (outcome != 1)).any())


def _columns(
    sizes: tuple[int, int], means: Sequence[float | None], positive: Sequence[int], auc: Auc
) -> dict[str, Any]:
    """The columns of a row that are numbers; pairs are of the outcomes 1 and 0."""
    return {
        "n": sum(sizes),
        **dict(zip(("n_one", "n_zero"), sizes, strict=True)),
        **dict(zip(("mean_one", "mean_zero"), means, strict=True)),
        **dict(zip(("positive_one", "positive_zero"), positive, strict=True)),
        "auc": auc.value,
        "stderr": auc.stderr,
        "ci_low": auc.low,
        "ci_high": auc.high,
        "clusters": auc.clusters,
        "note": auc.note,
    }


def _positive(distribution: Distribution) -> int:
    return sum(count for value, count in distribution.frequencies.items() if value > 0)
