"""Means over clustered conversations, like repeated runs of one query (SPEC 6).

Conversations of one cluster resemble each other, so they are worth less than independent ones. With
S the sum and n the number of the values of a cluster, over G clusters:

    stderr^2 = G / (G - 1) * sum (S - n * mean)^2 / (sum n)^2

The sums of each cluster are kept until the rows are made, and are exact, so that order and grouping
change no bit. They take about 7 KB per cluster with the metrics of a run up to i = 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import fsum, sqrt

import msgspec
from msgspec import Struct

from goodgain.transforms.core.exact_sum import Parts, exact_parts
from goodgain.transforms.core.means.distribution import PowerSums

MOST_CLUSTERS = 10_000  # per slice; with more there is no interval
_BATCH = 256  # clusters to add in one go
_FEW = 10  # effective clusters; with fewer, unequal ones, intervals are far too narrow
_UNEQUAL = 0.8  # effective clusters per cluster; with more, intervals miss in at most 7 %


def few_effective(clusters: int | None, effective: float | None) -> bool:
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


class ClusterSums(Struct, frozen=True, array_like=True):
    """Sums over the values of one cluster so far, by index.

    Attributes:
      sums: exact sums, as in `exact_parts`.
    """

    counts: list[int]
    sums: list[Parts]

    @classmethod
    def of(cls, members: Sequence[Sequence[Sequence[float]]]) -> ClusterSums:
        """The sums over conversations, each given as its values by index."""
        columns = [
            [value for values in at_index for value in values]
            for at_index in zip(*members, strict=True)
        ]
        return cls([len(column) for column in columns], [exact_parts(column) for column in columns])

    def merge(self, other: ClusterSums) -> ClusterSums:
        """The sums over the values of both."""
        sums = zip(self.sums, other.sums, strict=True)
        return ClusterSums(
            [one + another for one, another in zip(self.counts, other.counts, strict=True)],
            [exact_parts(one + another) if another else one for one, another in sums],
        )

    def total(self, indexes: Sequence[int]) -> tuple[int, float]:
        """The total n and S over some indexes."""
        parts = [part for index in indexes for part in self.sums[index]]
        return sum(self.counts[index] for index in indexes), fsum(parts)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ClusterSums).decode


class Clusters(Struct, array_like=True):
    """The clusters of one slice; mutable.

    Attributes:
      by_digest: encoded `ClusterSums` of each cluster (lists of floats would take eight times
        as much); None if there are more than MOST_CLUSTERS.
      singletons: by index, conversations without a cluster, each of which is a cluster of its own.
    """

    by_digest: dict[str, bytes] | None = {}
    singletons: list[ClusterVariance] = []

    def add(self, members: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> None:
        """Add conversations, each given as its values by index.

        Args:
          members: conversations by digest of their cluster; "" = each is a cluster of its own.
        """
        for digest, several in members.items():
            if digest:
                self._add_cluster(digest, ClusterSums.of(several))
                continue
            self._add_singletons(
                [
                    ClusterVariance.of((len(values), fsum(values)) for values in at_index if values)
                    for at_index in zip(*several, strict=True)
                ]
            )

    def merge(self, other: Clusters) -> None:
        """Add the clusters of another, which is not changed."""
        if other.by_digest is None:
            self.by_digest = None
        else:
            for digest, encoded in other.by_digest.items():
                self._add_cluster(digest, _decode(encoded))
        self._add_singletons(other.singletons)

    def _add_cluster(self, digest: str, sums: ClusterSums) -> None:
        if self.by_digest is None:
            return
        before = self.by_digest.get(digest)
        merged = sums if before is None else _decode(before).merge(sums)
        self.by_digest[digest] = _encode(merged)
        if len(self.by_digest) > MOST_CLUSTERS:
            self.by_digest = None

    def _add_singletons(self, added: Sequence[ClusterVariance]) -> None:
        if not self.singletons or not added:
            self.singletons = self.singletons or list(added)
        else:
            self.singletons = [
                one.merge(another) for one, another in zip(self.singletons, added, strict=True)
            ]

    def variances_between(self, wanted: Sequence[Sequence[int]]) -> list[ClusterVariance] | None:
        """The variance between clusters for each mean; None if there are too many clusters.

        Args:
          wanted: for each mean, the indexes of its values; a conversation without a cluster has a
            value at no more than one of them.
        """
        if self.by_digest is None:
            return None
        variances = [ClusterVariance()] * len(wanted)
        for at, indexes in enumerate(wanted):
            for index in indexes if self.singletons else ():
                variances[at] = variances[at].merge(self.singletons[index])
        encoded = list(self.by_digest.values())
        for start in range(0, len(encoded), _BATCH):
            batch = [_decode(cluster) for cluster in encoded[start : start + _BATCH]]
            for at, indexes in enumerate(wanted):
                totals = (sums.total(indexes) for sums in batch)
                of_batch = ClusterVariance.of(total for total in totals if total[0])
                variances[at] = of_batch.merge(variances[at])
        return variances

    def count_passes(self, indexes: Sequence[int]) -> dict[tuple[int, int], int] | None:
        """How many clusters have n >= 1 values at some indexes with the sum c, by (n, c).

        Args:
          indexes: of values that are 0 or 1.

        Returns:
          None if there are too many clusters.
        """
        if self.by_digest is None:
            return None
        clusters: Counter[tuple[int, int]] = Counter()
        for encoded in self.by_digest.values():
            n, total = _decode(encoded).total(indexes)
            clusters[n, int(total)] += 1
        for index in indexes if self.singletons else ():
            alone = self.singletons[index]
            passed = round(alone.by_size.mean(alone.size) * alone.size) if alone.sizes else 0
            clusters[1, 1] += passed
            clusters[1, 0] += alone.size - passed
        return {of: count for of, count in clusters.items() if of[0] and count}

    def sums(self, indexes: Sequence[int]) -> Iterator[list[tuple[int, Parts]]]:
        """For each named cluster, n and S at some indexes; empty if there are too many clusters."""
        for encoded in (self.by_digest or {}).values():
            one = _decode(encoded)
            yield [(one.counts[index], one.sums[index]) for index in indexes]
