"""Means of costs, and of gain per unit of a cost (SPEC 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from operator import mul

from msgspec import Struct
from msgspec.structs import astuple, replace
from scipy.special import stdtrit

from goodgain.transforms.core.means.clusters import Clusters
from goodgain.transforms.core.means.cost_values import (
    ALL,
    AT_END,
    BEYOND,
    GAIN,
    IDLE,
    REACHED,
    CostValues,
    Key,
    cost_indexes,
)
from goodgain.transforms.core.means.distribution import NOTHING, Adder, Distribution
from goodgain.transforms.core.means.rows import (
    CONFIDENCE,
    NO_CLUSTER_DIFFERS,
    NO_SPREAD,
    NO_VALUE,
    Estimate,
    IntervalKind,
    MeanInput,
    MeanOf,
    without_clusters,
)
from goodgain.transforms.core.records.search_call import LARGEST_COST
from goodgain.transforms.core.scoring.costs import (
    CG_PER_TOTAL,
    COST,
    conversation_columns,
    iteration_columns,
)
from goodgain.transforms.core.statistics import has_spread

_LARGEST_RATIO = Fraction(LARGEST_COST)


class RatioSums(Struct, frozen=True, array_like=True):
    """Exact sums for the ratio of two means, each stored as floats that add up to it.

    `RatioSums()` is zero; `merge` is associative and commutative to the bit.
    """

    n: int = 0
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    xx: tuple[float, ...] = ()
    xy: tuple[float, ...] = ()
    yy: tuple[float, ...] = ()

    def add(self, pairs: Iterable[tuple[float | Fraction, float | Fraction]]) -> RatioSums:
        """The sums including more pairs."""
        pairs = list(pairs)
        if not pairs:
            return self
        (xs, x_scale), (ys, y_scale) = (
            _whole_numbers(column) for column in zip(*pairs, strict=True)
        )
        added = RatioSums(
            len(pairs),
            _parts(Fraction(sum(xs), 1 << x_scale)),
            _parts(Fraction(sum(ys), 1 << y_scale)),
            _parts(Fraction(sum(map(mul, xs, xs)), 1 << 2 * x_scale)),
            _parts(Fraction(sum(map(mul, xs, ys)), 1 << (x_scale + y_scale))),
            _parts(Fraction(sum(map(mul, ys, ys)), 1 << 2 * y_scale)),
        )
        return self.merge(added)

    def merge(self, other: RatioSums) -> RatioSums:
        """The sums over the pairs of both."""
        (n, *mine), (more, *theirs) = astuple(self), astuple(other)
        sums = (_total(one) + _total(another) for one, another in zip(mine, theirs, strict=True))
        return RatioSums(n + more, *map(_parts, sums))

    def with_zeros(self, n: int) -> RatioSums:
        """The sums including `n` more pairs (0, 0)."""
        return replace(self, n=self.n + n)

    @property
    def ratio(self) -> float | None:
        """The sum of x over the sum of y; None if the latter is 0 or too small to divide by."""
        x, y = _total(self.x), _total(self.y)
        return float(x / y) if y and x <= y * _LARGEST_RATIO else None

    @property
    def stderr(self) -> float | None:
        """The standard error of the ratio by the delta method.

        None for fewer than two pairs, or without a ratio.
        """
        y = _total(self.y)
        if self.n < 2 or self.ratio is None:
            return None
        ratio = _total(self.x) / y
        squares = _total(self.xx) - 2 * ratio * _total(self.xy) + ratio * ratio * _total(self.yy)
        # The residuals x - ratio y sum to zero, so this is their variance.
        variance = max(squares, Fraction(0)) / (self.n - 1)
        return sqrt(variance * self.n / (y * y))


def ratio_estimate(sums: RatioSums, undefined: int, clusters: RatioSums | None = None) -> Estimate:
    """A ratio of means with Student's interval by the delta method.

    Args:
      undefined: number of conversations without the cost.
      clusters: sums over the totals of clusters; None if conversations count as independent.
    """
    of = sums if clusters is None else clusters
    ratio, stderr, half = sums.ratio, of.stderr, None
    if ratio is not None and stderr and has_spread(stderr, abs(ratio)):
        half = float(stdtrit(of.n - 1, (1 + CONFIDENCE) / 2)) * stderr
    estimate = Estimate(
        sums.n,
        undefined,
        mean=ratio,
        stderr=stderr,
        clusters=None if clusters is None else clusters.n,
    )
    if ratio is None or half is None:
        note = _without_interval(sums, of.n, clusters is not None) if sums.n else NO_VALUE
        return replace(estimate, note=note)
    kind: IntervalKind = "student" if clusters is None else "clusters"
    return replace(estimate, ci_low=ratio - half, ci_high=ratio + half, interval=kind)


def _without_interval(sums: RatioSums, n: int, clustered: bool) -> str:
    if not sums.y:
        return "nothing was spent"
    if sums.ratio is None:
        return "too little was spent to divide by"
    if n == 1:
        return "one cluster has no interval" if clustered else "one value has no interval"
    return NO_CLUSTER_DIFFERS if clustered else NO_SPREAD


class CostSums(Struct, frozen=True, array_like=True):
    """Sums over the costs of conversations.

    `CostSums()` is zero; `merge` is associative and commutative to the bit.

    Attributes:
      names, budgets: as in `CostValues`; the same throughout a run.
      values: distributions by metric, i (-1 = at N) and population.
      ratios: sums for ratios by name of the cost.
      singletons: the same for conversations that are clusters of their own.
    """

    names: tuple[str, ...] = ()
    budgets: tuple[str, ...] = ()
    values: dict[Key, Distribution] = {}
    ratios: dict[str, RatioSums] = {}
    singletons: dict[str, RatioSums] = {}

    def add(self, several: Sequence[CostValues], alone: Sequence[CostValues] = ()) -> CostSums:
        """The sums including more conversations, some of which are clusters of their own."""
        # By id(), since most share their keys.
        by_keys: dict[int, list[CostValues]] = {}
        for one in several:
            by_keys.setdefault(id(one.keys), []).append(one)
        columns: dict[Key, list[float | None]] = {}
        for some in by_keys.values():
            rows = zip(*(one.values for one in some), strict=True)
            for key, values_of_key in zip(some[0].keys, rows, strict=True):
                columns.setdefault(key, []).extend(values_of_key)
        values = {**self.values}
        adder = Adder()
        for key, column in columns.items():
            values[key] = adder.add(key[0], values.get(key, NOTHING), column)
        names, budgets = (several[0].names, several[0].budgets) if several else ((), ())
        return CostSums(
            self.names or names,
            self.budgets or budgets,
            values,
            _merged(self.ratios, _ratios(several)),
            _merged(self.singletons, _ratios(alone)),
        )

    def merge(self, other: CostSums) -> CostSums:
        """The sums over the conversations of both."""
        values = {**self.values}
        for key, distribution in other.values.items():
            values[key] = values[key].merge(distribution) if key in values else distribution
        return CostSums(
            self.names or other.names,
            self.budgets or other.budgets,
            values,
            _merged(self.ratios, other.ratios),
            _merged(self.singletons, other.singletons),
        )

    def inputs(self, max_i: int) -> Iterator[MeanInput]:
        """The inputs of each row; `everyone` only if it is larger than `all`."""
        index = cost_indexes(self.names, self.budgets, max_i)
        for metric in (*conversation_columns(self.names), *self.budgets):
            yield from self._whole(metric, AT_END, (metric, AT_END, IDLE), index)
            if metric in self.budgets:
                key = (metric, AT_END, REACHED)
                yield MeanInput(MeanOf(metric, None, "reached"), self._of(key), [index[key]])
        for i in range(1, max_i + 1):
            for metric in iteration_columns(self.names):
                key = (metric, i, REACHED)
                yield MeanInput(MeanOf(metric, i, "reached"), self._of(key), [index[key]])
                idle = (COST + metric.partition(".")[2], AT_END, IDLE)  # there is none at any i
                yield from self._whole(metric, i, idle, index)

    def _whole(
        self, metric: str, i: int, idle: Key, index: Mapping[Key, int]
    ) -> Iterator[MeanInput]:
        key, at = (metric, i, ALL), None if i == AT_END else i
        of = self._of(key)
        if at is not None:
            of = self._of((metric, i, REACHED)).merge(self._of((metric, i, BEYOND)))
        yield MeanInput(MeanOf(metric, at, "all"), of, [index[key]])
        if idle in self.values:
            both = of.merge(self._of(idle))
            yield MeanInput(MeanOf(metric, at, "everyone"), both, [index[key], index[idle]])

    def ratios_of_means(
        self, clusters: Clusters | None, first: int, max_i: int
    ) -> Iterator[tuple[MeanOf, Estimate]]:
        """Each ratio of means.

        Args:
          clusters: None if conversations count as independent.
          first: first index of costs in the clusters.
        """
        for name in self.names:
            idle = self._of((COST + name, AT_END, IDLE)).n
            undefined = self._of((COST + name, AT_END, ALL)).undefined
            for everyone in (False, True) if idle else (False,):
                sums = self.ratios.get(name, RatioSums()).with_zeros(idle if everyone else 0)
                totals = None
                if clusters is not None:
                    totals = self._totals(name, clusters, first, max_i, everyone)
                estimate = ratio_estimate(sums, undefined, totals)
                if clusters is not None and clusters.by_digest is None:
                    estimate = without_clusters(estimate)
                of = MeanOf(CG_PER_TOTAL + name, None, "everyone" if everyone else "all")
                yield of, estimate

    def _totals(
        self, name: str, clusters: Clusters, first: int, max_i: int, everyone: bool
    ) -> RatioSums:
        """The sums over the totals of clusters."""
        index = cost_indexes(self.names, self.budgets, max_i)
        keys = ((name, AT_END, GAIN), (COST + name, AT_END, ALL), (COST + name, AT_END, IDLE))
        cluster_sums = list(clusters.sums([first + index[key] for key in keys]))
        pairs = [
            (_total(gain), _total(cost))
            for (n, gain), (_, cost), (idle, _) in cluster_sums
            if n or (everyone and idle)
        ]
        alone = clusters.singletons[first + index[keys[-1]]].clusters if clusters.singletons else 0
        of_alone = self.singletons.get(name, RatioSums())
        return RatioSums().add(pairs).merge(of_alone.with_zeros(alone if everyone else 0))

    def _of(self, key: Key) -> Distribution:
        return self.values.get(key, Distribution())


def _ratios(several: Iterable[CostValues]) -> dict[str, RatioSums]:
    pairs: dict[str, list[tuple[float, float]]] = {}
    for one in several:
        for name, gain, cost in one.ratios:
            pairs.setdefault(name, []).append((gain, cost))
    return {name: RatioSums().add(given) for name, given in pairs.items()}


def _merged(mine: Mapping[str, RatioSums], theirs: Mapping[str, RatioSums]) -> dict[str, RatioSums]:
    merged = {**mine}
    for name, sums in theirs.items():
        merged[name] = merged[name].merge(sums) if name in merged else sums
    return merged


def _whole_numbers(values: Iterable[float | Fraction]) -> tuple[list[int], int]:
    """Values as whole numbers over a power of two, and its exponent."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(below.bit_length() for _, below in ratios)
    return [above << (scale - below.bit_length()) for above, below in ratios], scale - 1


def _total(parts: tuple[float, ...]) -> Fraction:
    return sum(map(Fraction, parts), Fraction(0))


def _parts(total: Fraction) -> tuple[float, ...]:
    """A sum of products of floats as floats: the rounded sum, then each rounded remainder."""
    parts = []
    while part := float(total):  # drops what is smaller than the smallest float
        parts.append(part)
        total -= Fraction(part)
    return tuple(parts)
