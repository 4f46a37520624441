"""The variance of a mean over clustered conversations, as sums that are merged (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import sqrt

from msgspec import Struct

from goodgain.transforms.core.means.power_sums import PowerSums

_FEW = 10  # effective clusters; with fewer, unequal ones, intervals are far too narrow
_UNEQUAL = 0.8  # effective clusters per cluster; with more, intervals miss in at most 7 %


def are_few_effective(clusters: int | None, effective: float | None) -> bool:
    """Whether unequal clusters are so few in effect that their intervals are too narrow.

    Student's t accounts for few clusters of the same size, but not for one that has most values.
    """
    return bool(clusters and effective and effective < min(_FEW, _UNEQUAL * clusters))


class ClusterVariance(Struct, frozen=True, array_like=True):
    """The sums for the variance between clusters, for one mean. `ClusterVariance()` is zero.

    Attributes:
      sizes: number of clusters with a value, by their n.
      by_size, by_square: power sums of the means of the clusters, weighted by n and n^2.
    """

    sizes: dict[int, int] = {}
    by_size: PowerSums = PowerSums()
    by_square: PowerSums = PowerSums()

    @classmethod
    def of(cls, clusters: Iterable[tuple[int, float]]) -> ClusterVariance:
        """The sums over clusters with n >= 1 values each, given as (n, S)."""
        sizes: dict[int, int] = {}
        by_size: dict[float, int] = {}
        by_square: dict[float, int] = {}
        for n, total in clusters:
            mean = total / n
            sizes[n] = sizes.get(n, 0) + 1
            by_size[mean] = by_size.get(mean, 0) + n
            by_square[mean] = by_square.get(mean, 0) + n * n
        return cls(sizes, PowerSums.of(by_size), PowerSums.of(by_square))

    def merge(self, other: ClusterVariance) -> ClusterVariance:
        """The sums over the clusters of both, which must be disjoint."""
        if not other.sizes:
            return self
        sizes = {**self.sizes}
        for n, clusters in other.sizes.items():
            sizes[n] = sizes.get(n, 0) + clusters
        return ClusterVariance(
            sizes,
            self.by_size.merge(other.by_size),
            self.by_square.merge(other.by_square),
        )

    @property
    def clusters(self) -> int:
        """The number of clusters with a value."""
        return sum(self.sizes.values())

    @property
    def size(self) -> int:
        """The number of values."""
        return sum(n * clusters for n, clusters in self.sizes.items())

    @property
    def squared(self) -> int:
        """The sum of n^2."""
        return sum(n * n * clusters for n, clusters in self.sizes.items())

    @property
    def effective(self) -> float | None:
        """The number of clusters of the same size that would weigh as much; None for none.

        It is (sum n)^2 / sum n^2: the number of clusters if all have the same size, else less.
        """
        return self.size**2 / self.squared if self.sizes else None

    @property
    def stderr(self) -> float | None:
        """The standard error of the mean over all values; None for fewer than two clusters."""
        count, scale, n = self.clusters, self.by_size.scale, self.size
        if count < 2:
            return None
        total = self.by_size.numerators(scale)[0]
        weighted, squares, _ = self.by_square.numerators(scale)
        spread = squares * n * n - 2 * total * weighted * n + total * total * self.squared
        below = (count - 1) * n**4 << (2 * scale)
        return sqrt(count * spread / below)

    def intraclass_correlation(self, variance: float) -> float | None:
        """The share of the variance that is between clusters, by analysis of variance.

        It is below 0 if the values within clusters differ more than those of different clusters.

        Args:
          variance: variance of all values (n - 1).

        Returns:
          None if no cluster has two values, or no values differ.
        """
        squares = self._mean_squares(variance)
        if squares is None:
            return None
        between, within = squares
        repeats = (self.size - self.squared / self.size) / (self.clusters - 1)
        whole = between + (repeats - 1) * within
        return (between - within) / whole if whole else None

    def stderr_within(self, variance: float) -> float | None:
        """The standard error that is left between runs of the same clusters with the same repeats.

        It is that of the mean over the means of clusters, which all weigh the same, as when values
        are paired by cluster. With W the variance within clusters, a cluster's mean varies by
        W / n, so the mean over G clusters has the standard error sqrt(W sum(1 / n)) / G. With r
        repeats of each cluster, that is sqrt(W / (G r)). The variance between clusters is the same
        in both runs, and does not count. W is the mean square within clusters, at most the variance
        of all values: if it is greater, clusters do not differ, and all values estimate it.

        Args:
          variance: variance of all values (n - 1).

        Returns:
          None if no cluster has two values, or there are fewer than two clusters.
        """
        squares = self._mean_squares(variance)
        if squares is None:
            return None
        reciprocals = sum(Fraction(clusters, n) for n, clusters in self.sizes.items())
        return sqrt(min(squares[1], variance) * reciprocals) / self.clusters

    def _mean_squares(self, variance: float) -> tuple[float, float] | None:
        """The mean squares between and within clusters, if both can be estimated."""
        count, n = self.clusters, self.size
        if count < 2 or n == count:
            return None
        scale = self.by_size.scale
        total, squares, _ = self.by_size.numerators(scale)
        between = (squares * n - total * total) / (n << (2 * scale))
        return between / (count - 1), max(variance * (n - 1) - between, 0.0) / (n - count)
