"""Means over clustered conversations, like repeated runs of one query (SPEC 6).

Conversations of one cluster resemble each other, so they are worth less than independent ones. With
S the sum and n the number of the values of a cluster, over G clusters:

    stderr^2 = G / (G - 1) * sum (S - n * mean)^2 / (sum n)^2

The sums of each cluster are kept until the rows are made, and are exact, so that order and grouping
change no bit. They take about 7 KB per cluster with the metrics of a run up to i = 10.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum

import msgspec
from msgspec import Struct

from goodgain.transforms.core.exact_sum import Parts, sum_exactly
from goodgain.transforms.core.means.cluster_variance import ClusterVariance

MOST_CLUSTERS = 10_000  # per slice; with more there is no interval
_BATCH = 256  # clusters to add in one go


class ClusterSums(Struct, frozen=True, array_like=True):
    """Sums over the values of one cluster so far, by index.

    Attributes:
      sums: exact sums, as in `sum_exactly`.
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
        return cls([len(column) for column in columns], [sum_exactly(column) for column in columns])

    def merge(self, other: ClusterSums) -> ClusterSums:
        """The sums over the values of both."""
        sums = zip(self.sums, other.sums, strict=True)
        return ClusterSums(
            [count + another for count, another in zip(self.counts, other.counts, strict=True)],
            [sum_exactly(mine + theirs) if theirs else mine for mine, theirs in sums],
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
                singleton.merge(another)
                for singleton, another in zip(self.singletons, added, strict=True)
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
