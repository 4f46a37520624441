"""The distribution behind a mean: an exact accumulator, independent of order (SPEC 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import isnan, sqrt
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from msgspec import Struct

from goodgain.transforms.core.means.power_sums import PowerSums

MOST_DISTINCT = 1_024  # distinct values that are kept; beyond this, exact sums and bins
_BIN_SHIFT = 44  # bins share the exponent and the first 8 bits of the mantissa: 0.2 % either way
Column = Sequence[float | None]
GREATEST_MAGNITUDE = 2.0**500  # of a value; squares of greater ones may overflow


class Binned(Struct, frozen=True, array_like=True):
    """A summary of values that are too many to be kept.

    Attributes:
      bins: number of values in each bin; a mergeable quantile sketch with bounded relative error
        (DDSketch with linear interpolation, Masson et al. 2019).
    """

    sums: PowerSums
    lowest: float
    highest: float
    bins: dict[int, int]

    @classmethod
    def of(cls, counts: Mapping[float, int]) -> Binned:
        """The summary of values with counts; there is at least one."""
        return cls(PowerSums.of(counts), min(counts), max(counts), _bin(counts))

    def merge(self, other: Binned) -> Binned:
        """The distribution of both samples."""
        bins = dict(self.bins)
        for bin_, count in other.bins.items():
            bins[bin_] = bins.get(bin_, 0) + count
        return Binned(
            self.sums.merge(other.sums),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            bins,
        )


class Distribution(Struct, frozen=True, array_like=True):
    """The distribution of a metric over the conversations in which it is defined.

    `Distribution()` is zero; `merge` is associative and commutative to the bit.

    Attributes:
      n, undefined: number of values, and of conversations in which the metric is null.
      counts: number of occurrences of each value, up to MOST_DISTINCT distinct values.
      binned: replaces `counts` beyond that.
    """

    n: int = 0
    undefined: int = 0
    counts: dict[float, int] = {}
    binned: Binned | None = None

    def add(self, values: Column, undefined: int = 0) -> Distribution:
        """The distribution with more values; pass many at once, since most of the cost is per call.

        Args:
          values: numbers of a magnitude below GREATEST_MAGNITUDE; null where undefined.
          undefined: number of further conversations with a null.

        Raises:
          ValueError: a value is not finite, or too large.
        """
        found: Counter[Any] = Counter(values)
        nulls = found.pop(None, 0)
        counts: dict[float, int] = {}
        for value, count in found.items():
            number = float(value) + 0.0  # -0.0 becomes 0.0
            counts[number] = counts.get(number, 0) + count  # large whole numbers may round to one
        if counts and (
            isnan(sum(counts))
            or max(counts) >= GREATEST_MAGNITUDE
            or min(counts) <= -GREATEST_MAGNITUDE
        ):
            raise ValueError("A metric has a value that is not finite or is beyond 2**500.")
        return self.merge(_distribution(len(values) - nulls, undefined + nulls, counts))

    def merge(self, other: Distribution) -> Distribution:
        """The distribution of the values of both."""
        if not self.n and not self.undefined:
            return other
        if not other.n and not other.undefined:
            return self
        n, undefined = self.n + other.n, self.undefined + other.undefined
        if self.binned is None and other.binned is None:
            counts = dict(self.counts)
            for value, count in other.counts.items():
                counts[value] = counts.get(value, 0) + count
            return _distribution(n, undefined, counts)
        parts = [
            distribution.binned or Binned.of(distribution.counts)
            for distribution in (self, other)
            if distribution.n
        ]
        binned = parts[0] if len(parts) == 1 else parts[0].merge(parts[1])
        return Distribution(n, undefined, binned=binned)

    @property
    def sums(self) -> PowerSums:
        """The exact sums of the values and of their powers."""
        return PowerSums.of(self.counts) if self.binned is None else self.binned.sums

    @property
    def lowest(self) -> float | None:
        """None when n = 0."""
        return min(self.counts, default=None) if self.binned is None else self.binned.lowest

    @property
    def highest(self) -> float | None:
        """None when n = 0."""
        return max(self.counts, default=None) if self.binned is None else self.binned.highest

    @property
    def mean(self) -> float | None:
        """None when n = 0."""
        return self.sums.mean(self.n) if self.n else None

    @property
    def stddev(self) -> float | None:
        """The sample standard deviation (n - 1); None when n < 2."""
        return None if self.n < 2 else sqrt(self.sums.variance(self.n))

    @property
    def frequencies(self) -> Mapping[float, int]:
        """How often each value occurs; with bins, the middle of each, exact to 0.2 %."""
        if self.binned is None:
            return self.counts
        bins = self.binned.bins
        middles = _middles(np.fromiter(bins, dtype=np.int64, count=len(bins))).tolist()
        # Those of -0.0 and of 0 have the same middle.
        frequencies: dict[float, int] = {}
        for middle, count in zip(middles, bins.values(), strict=True):
            frequencies[middle] = frequencies.get(middle, 0) + count
        return frequencies

    def quantiles(self, shares: Sequence[float]) -> list[float | None]:
        """The quantile for each share of 0..1; None if n = 0.

        Interpolates between values as numpy does by default; from bins, exact to 0.2 %.
        """
        lowest, highest = self.lowest, self.highest
        if not self.n or lowest is None or highest is None:
            return [None] * len(shares)
        counts = self.frequencies
        points = np.fromiter(counts, dtype=np.float64, count=len(counts))
        order = np.argsort(points, kind="stable")
        ascending = points[order]
        passed = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))[order].cumsum()
        values: list[float | None] = []
        for share in shares:
            position = share * (self.n - 1)
            below = int(position)
            places = np.searchsorted(passed, [below, min(below + 1, self.n - 1)], side="right")
            low, high = ascending[places].tolist()
            value = low + (high - low) * (position - below)
            values.append(min(max(value, lowest), highest))
        return values


NOTHING = Distribution()


class _Mergeable(Protocol):
    def merge(self, other: Self, /) -> Self: ...


_Sums = TypeVar("_Sums", bound=_Mergeable)


def merge_all(mine: list[_Sums], theirs: list[_Sums]) -> list[_Sums]:
    """Merge lists of sums one by one; an empty list stands for nothing in each place."""
    if not mine or not theirs:
        return mine or theirs
    return [sums.merge(other) for sums, other in zip(mine, theirs, strict=True)]


class Adder:
    """Adds columns of values to distributions; reuses the result if a column repeats.

    Beyond the last iteration of all conversations, most columns of an i equal those of the previous
    i.
    """

    def __init__(self) -> None:
        """Start without any column."""
        self._last: dict[Hashable, tuple[Distribution, Column, Distribution]] = {}

    def add(self, key: Hashable, before: Distribution, column: Column) -> Distribution:
        """A distribution with one more column.

        Args:
          key: key of columns that may be equal.
          column: values of conversations; null if undefined.
        """
        last = self._last.get(key)
        if last is not None and last[0] is before and last[1] == column:
            return last[2]
        added = before.add(column)
        self._last[key] = before, column, added
        return added


def _distribution(n: int, undefined: int, counts: dict[float, int]) -> Distribution:
    if len(counts) <= MOST_DISTINCT:
        return Distribution(n, undefined, counts)
    return Distribution(n, undefined, binned=Binned.of(counts))


def _bin(counts: Mapping[float, int]) -> dict[int, int]:
    values = np.fromiter(counts, dtype=np.float64, count=len(counts))
    # Bit arithmetic gives the same bins on every machine, which logarithms do not guarantee.
    bins, places = np.unique(values.view(np.int64) >> _BIN_SHIFT, return_inverse=True)
    weights = np.fromiter(counts.values(), dtype=np.int64, count=len(counts))
    totals = np.zeros(len(bins), dtype=np.int64)
    np.add.at(totals, places, weights)
    return dict(zip(bins.tolist(), totals.tolist(), strict=True))


def _middles(bins: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The midpoints of bins; that of -0.0 is next to 0."""
    lows = bins << _BIN_SHIFT
    highs = lows | ((1 << _BIN_SHIFT) - 1)
    middles = (lows.view(np.float64) + highs.view(np.float64)) / 2
    middles[bins == 0] = 0.0
    return middles
