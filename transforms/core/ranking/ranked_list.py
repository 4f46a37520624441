"""One ranked list, its judged pool, and the sums shared by the metrics of SPEC 8."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, count
from math import log2
from operator import mul, truediv
from typing import Generic, TypeVar

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.ranking.aspects import ListAspects

UNJUDGED = -1
HELD_COPY = -2


class RankedListOptions(Struct, frozen=True):
    """How labels are interpreted; the same for every list of a run.

    Attributes:
      threshold: smallest gain of a relevant result (`relevance_threshold`, SPEC 8).
      stop_probabilities: by gain g = 0..g_max, the probability (2^g - 1) / 2^g_max that a result
        satisfies the reader, who then stops (SPEC 8, err).
      depth: number of ranks that any metric needs; None = all.
      gain_depth: number of ranks that any metric of graded gains needs; None = all.
      judged_outside: whether documents are judged by qrels or a pool; without them only those in
        the list are, so that one without a relevant document is a failure and not undefined.
    """

    threshold: int
    stop_probabilities: tuple[float, ...]
    depth: int | None
    gain_depth: int | None
    judged_outside: bool = True


_T = TypeVar("_T")


class _computed_once(Generic[_T]):  # noqa: N801
    """`functools.cached_property` without the lock that it has in Python 3.11."""

    def __init__(self, make: Callable[[RankedList], _T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, ranked: RankedList, owner: type[RankedList]) -> _T:
        value = ranked.__dict__[self._name] = self._make(ranked)
        return value


class RankedList:
    """The labels of one list and of its pool; shared sums are computed once, on first access.

    Ranks count from 1. A sum over the first k ranks is at index k of its list, so index 0 is 0.

    Attributes:
      labels: by rank, a gain >= 0, UNJUDGED, or HELD_COPY (a later copy that keeps its place: not
        relevant, gain 0, not in the pool).
      pool: the gains of all judged documents, retrieved or not, in any order.
      scores: by rank, the retriever's score or None; None if there are no scores at all.
      call_ends: the last rank of each search call, ascending, whose scores can be compared; a call
        that added nothing repeats the one before. Empty = all results are of one call.
      aspects: what the results cover; None if that is unknown.
    """

    def __init__(
        self,
        labels: Sequence[int],
        pool: Sequence[int],
        scores: Sequence[float | None] | None,
        options: RankedListOptions,
        call_ends: Sequence[int] = (),
        aspects: ListAspects | None = None,
    ) -> None:
        """Store the labels down to the depth, and the other inputs."""
        self.labels = labels if options.depth is None else labels[: options.depth]
        self.pool = pool
        self.scores = scores
        self.options = options
        self.call_ends = call_ends
        self.aspects = aspects

    @_computed_once
    def relevant_ranks(self) -> list[int]:
        """Ranks of the relevant results, ascending."""
        threshold = self.options.threshold
        return [rank for rank, label in enumerate(self.labels, 1) if label >= threshold]

    @_computed_once
    def nonrelevant_ranks(self) -> list[int]:
        """Ranks of the results judged not relevant, ascending, without held copies."""
        threshold = self.options.threshold
        return [rank for rank, label in enumerate(self.labels, 1) if 0 <= label < threshold]

    @_computed_once
    def unjudged_ranks(self) -> list[int]:
        """Ranks of the results without a label, ascending."""
        if UNJUDGED not in self.labels:
            return []
        return [rank for rank, label in enumerate(self.labels, 1) if label == UNJUDGED]

    @_computed_once
    def nonrelevant_above(self) -> list[int]:
        """For each relevant result, the number of results judged not relevant above it."""
        nonrelevant = self.nonrelevant_ranks
        return [bisect_left(nonrelevant, rank) for rank in self.relevant_ranks]

    @_computed_once
    def precision_sums(self) -> list[float]:
        """At m, the sum of precision@rank over the first m relevant results."""
        return list(accumulate(map(truediv, count(1), self.relevant_ranks), initial=0.0))

    @_computed_once
    def pool_ascending(self) -> list[int]:
        """The pool's gains, ascending."""
        return sorted(self.pool)

    @_computed_once
    def relevant_in_pool(self) -> int:
        """Number of relevant documents in the pool: R of SPEC 8."""
        return len(self.pool) - self.nonrelevant_in_pool

    @_computed_once
    def nonrelevant_in_pool(self) -> int:
        """Number of documents in the pool that are judged not relevant: N- of SPEC 8."""
        return bisect_left(self.pool_ascending, self.options.threshold)

    @_computed_once
    def gains(self) -> list[int]:
        """Gain by rank, 0 for unjudged results and held copies, down to the gain depth."""
        depth = self.options.gain_depth
        labels = self.labels if depth is None else self.labels[:depth]
        return [label if label > 0 else 0 for label in labels]

    @_computed_once
    def ideal_gains(self) -> list[int]:
        """The pool's positive gains, greatest first, down to the gain depth."""
        ascending = self.pool_ascending
        ideal = ascending[bisect_left(ascending, 1) :]
        ideal.reverse()
        return ideal if self.options.gain_depth is None else ideal[: self.options.gain_depth]

    @_computed_once
    def gain_sums(self) -> list[int]:
        """At k, the gain of the first k ranks."""
        return list(accumulate(self.gains, initial=0))

    @_computed_once
    def discounted_sums(self) -> list[float]:
        """At k, the discounted gain of the first k ranks."""
        return _discounted_sums(self.gains)

    @_computed_once
    def ideal_discounted_sums(self) -> list[float]:
        """At k, the discounted gain of the first k ranks of the ideal ordering."""
        return _discounted_sums(self.ideal_gains)

    @_computed_once
    def discounted_sums_burges(self) -> list[float]:
        """At k, the discounted 2^gain - 1 of the first k ranks."""
        return _discounted_sums([(1 << gain) - 1 for gain in self.gains])

    @_computed_once
    def ideal_discounted_sums_burges(self) -> list[float]:
        """At k, the discounted 2^gain - 1 of the first k ranks of the ideal ordering."""
        return _discounted_sums([(1 << gain) - 1 for gain in self.ideal_gains])

    @_computed_once
    def reciprocal_rank_steps(self) -> tuple[list[int], list[float]]:
        """Ranks with a positive gain, and the expected reciprocal rank down to each."""
        return _reciprocal_rank_steps(self.gains, self.options.stop_probabilities)

    @_computed_once
    def ideal_reciprocal_rank_steps(self) -> tuple[list[int], list[float]]:
        """`reciprocal_rank_steps` of the ideal ordering."""
        return _reciprocal_rank_steps(self.ideal_gains, self.options.stop_probabilities)


def _discounted_sums(gains: list[int]) -> list[float]:
    return list(accumulate(map(mul, gains, _rank_discounts(len(gains).bit_length())), initial=0.0))


def _reciprocal_rank_steps(
    gains: list[int], stop_probabilities: tuple[float, ...]
) -> tuple[list[int], list[float]]:
    ranks: list[int] = []
    sums: list[float] = []
    total, not_yet_stopped = 0.0, 1.0
    for rank, gain in enumerate(gains, 1):
        if gain:
            if gain >= len(stop_probabilities):
                raise UsageError(
                    f"A label has gain {gain}, above g_max = {len(stop_probabilities) - 1}; set "
                    "g_max to the greatest gain of the labelling scale."
                )
            stop = stop_probabilities[gain]
            total += not_yet_stopped * stop / rank
            not_yet_stopped *= 1.0 - stop
            ranks.append(rank)
            sums.append(total)
    return ranks, sums


def powers(base: float, size: int) -> list[float]:
    """base^0, base^1, ... at least to base^size; shared, so do not modify it."""
    return _powers(base, size.bit_length())


# Table lengths are powers of two, so that few tables are made, which all lists share.
@cache
def _rank_discounts(bits: int) -> list[float]:
    """1 / log2(rank + 1) for ranks from 1 (SPEC 8, dcg); shared, so do not modify it."""
    return [1.0 / log2(rank + 1) for rank in range(1, (1 << bits) + 1)]


@lru_cache(maxsize=256)
def _powers(base: float, bits: int) -> list[float]:
    return [base**exponent for exponent in range((1 << bits) + 1)]
