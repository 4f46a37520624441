"""Ratios of two sums over conversations, like gain per unit of a cost (SPEC 5, 6)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt
from operator import mul

from msgspec import Struct
from msgspec.structs import astuple, replace

from goodgain.transforms.core.means.mean_row import (
    CONFIDENCE,
    NO_CLUSTER_DIFFERS,
    NO_SPREAD,
    NO_VALUE,
    Estimate,
    IntervalKind,
)
from goodgain.transforms.core.records.search_call import LARGEST_COST
from goodgain.transforms.core.special_functions import student_quantile
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
        sums = (
            sum_parts(one) + sum_parts(another) for one, another in zip(mine, theirs, strict=True)
        )
        return RatioSums(n + more, *map(_parts, sums))

    @property
    def ratio(self) -> float | None:
        """The sum of x over the sum of y; None if the latter is 0 or too small to divide by."""
        x, y = sum_parts(self.x), sum_parts(self.y)
        return float(x / y) if y and x <= y * _LARGEST_RATIO else None

    @property
    def stderr(self) -> float | None:
        """The standard error of the ratio by the delta method.

        None for fewer than two pairs, or without a ratio.
        """
        y = sum_parts(self.y)
        if self.n < 2 or self.ratio is None:
            return None
        ratio = sum_parts(self.x) / y
        squares = (
            sum_parts(self.xx) - 2 * ratio * sum_parts(self.xy) + ratio * ratio * sum_parts(self.yy)
        )
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
        half = student_quantile(of.n - 1, (1 + CONFIDENCE) / 2) * stderr
    estimate = Estimate(
        sums.n,
        undefined,
        mean=ratio,
        stderr=stderr,
        clusters=None if clusters is None else clusters.n,
    )
    if ratio is None or half is None:
        note = _note_without_interval(sums, of.n, clusters is not None) if sums.n else NO_VALUE
        return replace(estimate, note=note)
    kind: IntervalKind = "student" if clusters is None else "clusters"
    return replace(estimate, ci_low=ratio - half, ci_high=ratio + half, interval=kind)


def _note_without_interval(sums: RatioSums, n: int, clustered: bool) -> str:
    if not sums.y:
        return "nothing was spent"
    if sums.ratio is None:
        return "too little was spent to divide by"
    if n == 1:
        return "one cluster has no interval" if clustered else "one value has no interval"
    return NO_CLUSTER_DIFFERS if clustered else NO_SPREAD


def _whole_numbers(values: Iterable[float | Fraction]) -> tuple[list[int], int]:
    """Values as whole numbers over a power of two, and its exponent."""
    ratios = [value.as_integer_ratio() for value in values]
    scale = max(below.bit_length() for _, below in ratios)
    return [above << (scale - below.bit_length()) for above, below in ratios], scale - 1


def sum_parts(parts: tuple[float, ...]) -> Fraction:
    """The exact sum of floats."""
    return sum(map(Fraction, parts), Fraction(0))


def _parts(total: Fraction) -> tuple[float, ...]:
    """A sum of products of floats as floats: the rounded sum, then each rounded remainder."""
    parts = []
    while part := float(total):  # drops what is smaller than the smallest float
        parts.append(part)
        total -= Fraction(part)
    return tuple(parts)
