"""Aspects that documents cover: recall of them, and gain that falls with repetition (SPEC 13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from math import log2

from msgspec import Struct
from xxhash import xxh3_64_digest

ALPHA = 0.5
Aspects = frozenset[bytes]  # digests of their names


def aspects_of(names: Iterable[str]) -> Aspects:
    """The digests of aspects."""
    return Aspects(xxh3_64_digest(name.encode()) for name in names)


class TopicAspects(Struct, frozen=True, dict=True):
    """What the judged documents of a topic cover.

    Attributes:
      judged: the aspects of each; of equally good ones, the ideal ranking takes the first.
    """

    judged: tuple[Aspects, ...] = ()

    @classmethod
    def of_number(cls, number: int) -> TopicAspects:
        """A topic with so many aspects, which one document covers."""
        aspects = Aspects(at.to_bytes(8) for at in range(number))
        return cls((aspects,) if aspects else ())

    @cached_property
    def number(self) -> int:
        """The number of aspects that some document covers: A of SPEC 13."""
        return len(Aspects().union(*self.judged))

    @cached_property
    def ideal(self) -> IdealRanking:
        """The judged documents in their best order."""
        return IdealRanking(self.judged)


class IdealRanking:
    """A greedy ranking: each rank has the document with the greatest gain there.

    Ranks are chosen as they are needed, since each compares all documents that are left.
    """

    def __init__(self, judged: Sequence[Aspects]) -> None:
        self._left = [aspects for aspects in judged if aspects]
        self._seen: Counter[bytes] = Counter()
        self._sums = [0.0]

    def gain(self, k: int | None) -> float:
        """The discounted gain of the first k ranks; None = of all."""
        while self._left and (k is None or len(self._sums) <= k):
            best = max(self._left, key=lambda aspects: _gain(aspects, self._seen))
            self._left.remove(best)
            rank = len(self._sums)
            self._sums.append(self._sums[-1] + _gain(best, self._seen) / log2(rank + 1))
            self._seen.update(best)
        return self._sums[-1 if k is None else min(k, len(self._sums) - 1)]


class ListAspects(Struct, frozen=True):
    """The aspects of a ranked list: what the result at each rank covers, and those of the topic."""

    covered: Sequence[Aspects]
    topic: TopicAspects

    def recall(self, k: int | None) -> float | None:
        """The share of the topic's aspects that the first k ranks cover; None without any."""
        number = self.topic.number
        return len(Aspects().union(*self.covered[:k])) / number if number else None

    def ndcg(self, k: int | None) -> float | None:
        """The discounted gain of the first k ranks by the ideal one; None without any aspect."""
        if not self.topic.number:
            return None
        total = 0.0
        seen: Counter[bytes] = Counter()
        for rank, aspects in enumerate(self.covered[:k], 1):
            total += _gain(aspects, seen) / log2(rank + 1)
            seen.update(aspects)
        return total / self.topic.ideal.gain(k)


def _gain(aspects: Aspects, seen: Counter[bytes]) -> float:
    """The gain of a document below others that cover these aspects so often."""
    return sum([(1 - ALPHA) ** seen[aspect] for aspect in aspects])
