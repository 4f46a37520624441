"""Means of what conversations cost and of what they gained for it (SPEC 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import sqrt
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace
from scipy.special import stdtrit

from goodgain.transforms.core.means.distribution import Distribution
from goodgain.transforms.core.means.rows import (
    CONFIDENCE,
    NO_CLUSTER_DIFFERS,
    NO_SPREAD,
    Estimate,
    IntervalKind,
    estimate_of,
)
from goodgain.transforms.core.scoring.costs import CG_PER_TOTAL, COST, nothing_more
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.statistics import has_spread

_ALL: Literal["all"] = "all"
_REACHED: Literal["reached"] = "reached"
_Key = tuple[str, int | None, Literal["reached", "all", "calls"]]


class CostValues(Struct, frozen=True, array_like=True):
    """What the means need of one conversation's costs.

    Attributes:
      values: metric, i, population and value; null where it is unknown.
      ratios: name of a cost, CG and the cost, where the conversation tells it.
    """

    values: list[tuple[str, int | None, str, float | None]]
    ratios: list[tuple[str, int, float]]


def cost_values(score: ConversationScore, max_i: int) -> CostValues | None:
    """The costs of a conversation that searched; None where none are looked at."""
    row = score.conversation
    if not row.costs and not score.budgets:
        return None
    values: list[tuple[str, int | None, str, float | None]] = [
        (metric, None, _ALL, value) for metric, value in row.costs.items()
    ]
    for iteration in score.iterations[:max_i]:
        for metric, value in iteration.costs.items():
            values += [(metric, iteration.i, population, value) for population in (_REACHED, _ALL)]
    for i in range(len(score.iterations) + 1, max_i + 1):
        more = nothing_more(score.iterations[-1].costs)
        values += [(metric, i, _ALL, value) for metric, value in more.items()]
    for at in score.budgets:
        values.append((at.metric, None, _ALL, at.value))
        if at.reached:
            values.append((at.metric, None, _REACHED, at.value))
    costs = {metric.removeprefix(COST): value for metric, value in row.costs.items()}
    ratios = [
        (name, row.CG or 0, value)
        for name, value in costs.items()
        if COST + name in row.costs and value is not None
    ]
    return CostValues(values, ratios)


class RatioSums(Struct, frozen=True, array_like=True):
    """Exact sums for the ratio of two means, each as floats whose sum it is.

    `RatioSums()` is zero; `merge` is associative and commutative to the bit.
    """

    n: int = 0
    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    xx: tuple[float, ...] = ()
    xy: tuple[float, ...] = ()
    yy: tuple[float, ...] = ()

    def add(self, pairs: Iterable[tuple[float | Fraction, float | Fraction]]) -> RatioSums:
        """With more pairs."""
        exact = [(Fraction(x), Fraction(y)) for x, y in pairs]
        added = RatioSums(
            len(exact),
            *(
                _parts(sum(terms, Fraction(0)))
                for terms in (
                    (x for x, _ in exact),
                    (y for _, y in exact),
                    (x * x for x, _ in exact),
                    (x * y for x, y in exact),
                    (y * y for _, y in exact),
                )
            ),
        )
        return self.merge(added)

    def merge(self, other: RatioSums) -> RatioSums:
        """The sums over the pairs of both."""
        return RatioSums(
            self.n + other.n,
            *(
                _parts(_total(mine) + _total(theirs))
                for mine, theirs in (
                    (self.x, other.x),
                    (self.y, other.y),
                    (self.xx, other.xx),
                    (self.xy, other.xy),
                    (self.yy, other.yy),
                )
            ),
        )

    @property
    def ratio(self) -> float | None:
        """The sum of x over that of y; None where the latter is 0."""
        y = _total(self.y)
        return float(_total(self.x) / y) if y else None

    @property
    def stderr(self) -> float | None:
        """Its standard error by the delta method; None for fewer than two pairs."""
        y = _total(self.y)
        if self.n < 2 or not y:
            return None
        ratio = _total(self.x) / y
        squares = _total(self.xx) - 2 * ratio * _total(self.xy) + ratio * ratio * _total(self.yy)
        # The residuals x - ratio y sum to zero, so that this is their variance already.
        variance = max(squares, Fraction(0)) / (self.n - 1)
        return sqrt(variance * self.n / (y * y))


def ratio_estimate(sums: RatioSums, undefined: int, clusters: RatioSums | None = None) -> Estimate:
    """A ratio of means with Student's interval by the delta method.

    Args:
      sums: over conversations.
      undefined: conversations on which it is not known.
      clusters: over the totals of clusters; None where conversations count as independent.
    """
    of = sums if clusters is None else clusters
    ratio, stderr, half = sums.ratio, of.stderr, None
    if ratio is not None and stderr and has_spread(stderr, abs(ratio)):
        half = float(stdtrit(of.n - 1, (1 + CONFIDENCE) / 2)) * stderr
    nothing = estimate_of(Distribution(), "student", False)
    found = replace(nothing, n=sums.n, undefined=undefined, mean=ratio, stderr=stderr)
    found = replace(found, clusters=None if clusters is None else clusters.n)
    if ratio is None or half is None:
        return replace(found, note=_without_interval(ratio, of.n, clusters is not None))
    kind: IntervalKind = "student" if clusters is None else "clusters"
    return replace(found, ci_low=ratio - half, ci_high=ratio + half, interval=kind, note=None)


def _without_interval(ratio: float | None, n: int, clustered: bool) -> str:
    if ratio is None:
        return "nothing was spent"
    if n == 1:
        return "one cluster has no interval" if clustered else "one value has no interval"
    return NO_CLUSTER_DIFFERS if clustered else NO_SPREAD


class CostSums(Struct, frozen=True, array_like=True):
    """Sums over the costs of conversations.

    `CostSums()` is zero; `merge` is associative and commutative to the bit.

    Attributes:
      values: by metric, i (-1: null) and population.
      ratios: by name of the cost.
    """

    values: dict[tuple[str, int, str], Distribution] = {}
    ratios: dict[str, RatioSums] = {}

    def add(self, several: Iterable[CostValues]) -> CostSums:
        """With the costs of more conversations."""
        columns: dict[tuple[str, int, str], list[float | None]] = {}
        pairs: dict[str, list[tuple[float, float]]] = {}
        for one in several:
            for metric, i, population, value in one.values:
                key = (metric, -1 if i is None else i, population)
                columns.setdefault(key, []).append(value)
            for name, gain, cost in one.ratios:
                pairs.setdefault(name, []).append((gain, cost))
        values = {}
        for key, column in columns.items():
            told = [value for value in column if value is not None]
            values[key] = Distribution().add(told, undefined=len(column) - len(told))
        ratios = {name: RatioSums().add(given) for name, given in pairs.items()}
        return self.merge(CostSums(values, ratios))

    def merge(self, other: CostSums) -> CostSums:
        """The sums over the conversations of both."""
        values = {**self.values}
        for key, distribution in other.values.items():
            values[key] = values[key].merge(distribution) if key in values else distribution
        ratios = {**self.ratios}
        for name, sums in other.ratios.items():
            ratios[name] = ratios[name].merge(sums) if name in ratios else sums
        return CostSums(values, ratios)

    def distributions(self) -> Iterator[tuple[_Key, Distribution]]:
        """Each metric, i and population with how it is distributed."""
        for (metric, i, population), distribution in sorted(self.values.items(), key=_by_key):
            at = None if i < 0 else i
            yield (metric, at, _REACHED if population == _REACHED else _ALL), distribution

    def ratios_of_means(self) -> Iterator[tuple[str, RatioSums, int]]:
        """Each metric that is a ratio of means, and on how many conversations it is undefined."""
        for name, sums in sorted(self.ratios.items()):
            cost = self.values.get((COST + name, -1, _ALL), Distribution())
            yield CG_PER_TOTAL + name, sums, cost.undefined


def _by_key(item: tuple[tuple[str, int, str], Distribution]) -> tuple[str, int, str]:
    return item[0]


def _total(parts: tuple[float, ...]) -> Fraction:
    return sum(map(Fraction, parts), Fraction(0))


def _parts(total: Fraction) -> tuple[float, ...]:
    """A sum of products of floats as floats: the sum rounded, each further one the rounded rest."""
    parts = []
    while part := float(total):  # what lies below the least float is left
        parts.append(part)
        total -= Fraction(part)
    return tuple(parts)
