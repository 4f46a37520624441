"""Means whose conversations come in clusters, like repeated runs of one query (SPEC 6).

Conversations of one cluster resemble each other, so that they count for less than as many
independent ones. With S the sum and n the number of the values of a cluster, over G clusters:

    stderr^2 = G / (G - 1) * sum (S - n * mean)^2 / (sum n)^2

The sums of each cluster are kept until the rows are made, and are exact, so that order and grouping
change no bit. What is kept takes about 7 KB a cluster with the metrics of a run up to i = 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum, sqrt

import msgspec
from msgspec import Struct

from goodgain.transforms.core.means.power_sums import PowerSums

MOST_CLUSTERS = 10_000  # of one slice; with more of them no interval is given
_BATCH = 256  # clusters that are added up together
Parts = tuple[float, ...]


class Between(Struct, frozen=True, array_like=True):
    """What the spread between clusters is made of, for one mean. `Between()` is zero.

    Attributes:
      clusters: how many have a value.
      size, squared: sums of n and of n^2.
      by_size, by_square: power sums of the means of the clusters, each taken n and n^2 times.
    """

    clusters: int = 0
    size: int = 0
    squared: int = 0
    by_size: PowerSums = PowerSums()
    by_square: PowerSums = PowerSums()

    @classmethod
    def of(cls, clusters: Iterable[tuple[int, float]]) -> Between:
        """Of clusters with n >= 1 values each, as (n, S)."""
        count = size = squared = 0
        by_size: dict[float, int] = {}
        by_square: dict[float, int] = {}
        for n, total in clusters:
            mean = total / n
            count, size, squared = count + 1, size + n, squared + n * n
            by_size[mean] = by_size.get(mean, 0) + n
            by_square[mean] = by_square.get(mean, 0) + n * n
        return cls(count, size, squared, PowerSums.of(by_size), PowerSums.of(by_square))

    def merge(self, other: Between) -> Between:
        """Of the clusters of both; none of them in both."""
        if not other.clusters:
            return self
        return Between(
            self.clusters + other.clusters,
            self.size + other.size,
            self.squared + other.squared,
            self.by_size.merge(other.by_size),
            self.by_square.merge(other.by_square),
        )

    @property
    def stderr(self) -> float | None:
        """Of the mean over all values; None for fewer than two clusters."""
        if self.clusters < 2:
            return None
        scale, n = self.by_size.scale, self.size
        total = self.by_size.numerators(scale)[0]
        weighted, squares, _ = self.by_square.numerators(scale)
        spread = squares * n * n - 2 * total * weighted * n + total * total * self.squared
        below = (self.clusters - 1) * n**4 << (2 * scale)
        return sqrt(self.clusters * spread / below)

    def intraclass_correlation(self, variance: float) -> float | None:
        """The share of the variance that lies between clusters, by analysis of variance.

        Below 0 where the values of a cluster differ more than those of different ones.

        Args:
          variance: of all values (n - 1).

        Returns:
          None where no cluster has two values, or no value differs.
        """
        if self.clusters < 2 or self.size == self.clusters:
            return None
        scale, n = self.by_size.scale, self.size
        total, squares, _ = self.by_size.numerators(scale)
        between = (squares * n - total * total) / (n << (2 * scale))
        within = max(variance * (n - 1) - between, 0.0) / (n - self.clusters)
        between /= self.clusters - 1
        repeats = (n - self.squared / n) / (self.clusters - 1)
        whole = between + (repeats - 1) * within
        return (between - within) / whole if whole else None


class ClusterSums(Struct, frozen=True, array_like=True):
    """The values of one cluster so far, by place.

    Attributes:
      counts: how many values there are.
      sums: their exact sums, as `exact_parts`.
    """

    counts: list[int]
    sums: list[Parts]

    @classmethod
    def of(cls, members: Sequence[Sequence[Sequence[float]]]) -> ClusterSums:
        """Of conversations, each with its values by place."""
        columns = [
            [value for values in at_place for value in values]
            for at_place in zip(*members, strict=True)
        ]
        return cls([len(column) for column in columns], [exact_parts(one) for one in columns])

    def merge(self, other: ClusterSums) -> ClusterSums:
        """The values of both."""
        sums = zip(self.sums, other.sums, strict=True)
        return ClusterSums(
            [one + another for one, another in zip(self.counts, other.counts, strict=True)],
            [exact_parts(one + another) if another else one for one, another in sums],
        )

    def total(self, places: Sequence[int]) -> tuple[int, float]:
        """n and S over some places together."""
        parts = [part for place in places for part in self.sums[place]]
        return sum(self.counts[place] for place in places), fsum(parts)


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ClusterSums).decode


class Clusters(Struct, array_like=True):
    """The clusters of one slice; changed in place by its owner.

    Attributes:
      known: `ClusterSums` by the digest of a cluster, encoded since a list of floats takes eight
        times as much; None: there are more than MOST_CLUSTERS.
      alone: by place, clusters of one conversation that has no cluster.
      conversations_alone: how many these are.
    """

    known: dict[str, bytes] | None = {}
    alone: list[Between] = []
    conversations_alone: int = 0

    def add(self, members: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> None:
        """Take in conversations, each with its values by place.

        Args:
          members: by digest of their cluster; "" = each is a cluster of its own.
        """
        for digest, several in members.items():
            if digest:
                self._take(digest, ClusterSums.of(several))
                continue
            self.conversations_alone += len(several)
            self._take_alone(
                [
                    Between.of((len(values), fsum(values)) for values in at_place if values)
                    for at_place in zip(*several, strict=True)
                ]
            )

    def merge(self, other: Clusters) -> None:
        """Take in what another holds; the other is not changed."""
        if other.known is None:
            self.known = None
        else:
            for digest, encoded in other.known.items():
                self._take(digest, _decode(encoded))
        self.conversations_alone += other.conversations_alone
        self._take_alone(other.alone)

    def _take(self, digest: str, sums: ClusterSums) -> None:
        if self.known is None:
            return
        before = self.known.get(digest)
        merged = sums if before is None else _decode(before).merge(sums)
        self.known[digest] = _encode(merged)
        if len(self.known) > MOST_CLUSTERS:
            self.known = None

    def _take_alone(self, alone: Sequence[Between]) -> None:
        if not self.alone or not alone:
            self.alone = self.alone or list(alone)
        else:
            self.alone = [
                one.merge(another) for one, another in zip(self.alone, alone, strict=True)
            ]

    def between(self, wanted: Sequence[Sequence[int]]) -> list[Between] | None:
        """The spread of each mean; None when there are too many clusters.

        Args:
          wanted: for each mean the places whose values it is over; no cluster of one conversation
            has values at two of them.
        """
        if self.known is None:
            return None
        found = [Between()] * len(wanted)
        for at, places in enumerate(wanted):
            for place in places if self.alone else ():
                found[at] = found[at].merge(self.alone[place])
        encoded = list(self.known.values())
        for start in range(0, len(encoded), _BATCH):
            batch = [_decode(one) for one in encoded[start : start + _BATCH]]
            for at, places in enumerate(wanted):
                totals = (sums.total(places) for sums in batch)
                found[at] = Between.of(one for one in totals if one[0]).merge(found[at])
        return found

    def sums(self, places: Sequence[int]) -> Iterator[list[tuple[int, Parts]]]:
        """Of each cluster that has a name, n and S at some places; none when there are too many."""
        for encoded in (self.known or {}).values():
            one = _decode(encoded)
            yield [(one.counts[place], one.sums[place]) for place in places]


def exact_parts(values: Sequence[float]) -> Parts:
    """The exact sum of finite doubles, as doubles that do not overlap, the greatest first.

    The parts depend on the sum alone: the first is the sum rounded, each further one the rounded
    rest. So they are the same for every order and grouping (Shewchuk 1997 has the theory).
    """
    terms = list(values)
    parts: list[float] = []
    while rest := fsum(terms):
        parts.append(rest)
        terms.append(-rest)
    return tuple(parts)
