"""A prefix of a turn, its iterations up to one of them, as sums and lists (SPEC 5, 8, 9).

A metric is a function of a prefix. At N that is the prefix of N. What had been gathered within more
iterations is the prefix with empty ones after it, a conversation without search is the empty
prefix, and a budget is the longest prefix that keeps within it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from math import fsum, log2

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.exact_sum import sum_exactly
from goodgain.transforms.core.metrics.turn import IterationCounts, Turn
from goodgain.transforms.core.ranking.ranked_list import RankedList

HALF = 0.5
_MOST_TERMS = 64  # more than the parts of any exact sum


NO_COUNTS = IterationCounts(0)


Spent = Mapping[str, float | None]
_NOTHING_SPENT: Spent = {}


class Prefix(Struct, frozen=True, dict=True):
    """Iterations 1 to i of a turn; those beyond N are empty.

    Attributes:
      turn: what does not depend on i.
      last: the counts of iteration i.
      i: number of iterations, 0 = none.
      calls, results, unique, good, gain, unlabelled: sums of the counts: R, UR, GR, CG at i.
      discounted_gain: sum of G_k / log2(k + 1).
      gains_per_result: sum of AvgGain_k.
      discounted_gains_per_result: sum of AvgGain_k / log2(k + 1).
      last_good: the last iteration that found a new good result; 0 = none did.
      spent: by name, the costs so far; None if a call does not say it.
      spent_last: the same of iteration i alone.
      found, found_gain, found_discounted: number, gain and discounted gain of the good documents of
        the pool that were found.
      half_found: the iteration by which half of them had been found; None = not yet.

    Example: see `metric`.

    """

    turn: Turn
    last: IterationCounts
    i: int = 0
    calls: int = 0
    results: int = 0
    unique: int = 0
    good: int = 0
    gain: int = 0
    unlabelled: int = 0
    discounted_gain: float = 0.0
    gains_per_result: float = 0.0
    discounted_gains_per_result: float = 0.0
    last_good: int = 0
    spent: Spent = _NOTHING_SPENT
    spent_last: Spent = _NOTHING_SPENT
    found: float = 0
    found_gain: float = 0
    found_discounted: float = 0.0
    half_found: int | None = None

    @property
    def iterations(self) -> Sequence[IterationCounts]:
        """The counts of the iterations, without the empty ones beyond N."""
        return self.turn.iterations[: self.i]

    @cached_property
    def ranked(self) -> RankedList:
        """The ranked list so far; the judged documents are those of the whole turn or topic."""
        turn = self.turn
        ranks = self.results if turn.hold_slot else self.unique
        labels, scores = turn.labels, turn.scores
        if ranks < len(labels):
            labels, scores = labels[:ranks], scores[:ranks]
        later = [rise for rise in turn.raised if rise.i > self.i and rise.at < ranks]
        if later:
            labels = list(labels)
            for rise in reversed(later):
                labels[rise.at] = rise.before
        aspects = None if turn.aspects is None else turn.aspects.of_list(self.i, ranks)
        return RankedList(labels, turn.judged, scores, turn.ranking, turn.call_ends, aspects)


def empty_prefix(turn: Turn) -> Prefix:
    """The prefix of no iteration."""
    nothing = dict.fromkeys(turn.cost_names, 0.0)
    return Prefix(turn, NO_COUNTS, spent=nothing, spent_last=nothing)


def prefixes(turn: Turn, at_least: int) -> list[Prefix]:
    """The prefixes of 0, 1, ... to N iterations, or beyond N to `at_least`."""
    found = turn.pool.found if turn.pool else ()
    spent: dict[str, list[float] | None] = {name: [] for name in turn.cost_names}
    prefix = empty_prefix(turn)
    costs = costs_of_last = prefix.spent
    walked = [prefix]
    for i, counts in enumerate(turn.iterations, start=1):
        if spent:
            costs_of_last = _spend(turn.costs[i - 1], spent)
            costs = {name: None if terms is None else fsum(terms) for name, terms in spent.items()}
        prefix = _extend(prefix, counts, costs, costs_of_last, found[i - 1] if found else ())
        walked.append(prefix)
    walked.extend(extend_beyond(prefix, at_least))
    return walked


def extend_beyond(prefix: Prefix, at_least: int) -> Iterator[Prefix]:
    """The prefix with one more empty iteration, with two, and so on to i = `at_least`."""
    nothing = dict.fromkeys(prefix.spent, 0.0)
    while prefix.i < at_least:
        prefix = replace(prefix, last=NO_COUNTS, i=prefix.i + 1, spent_last=nothing)
        yield prefix


def _extend(
    before: Prefix,
    counts: IterationCounts,
    spent: Spent,
    spent_last: Spent,
    new: Sequence[float],
) -> Prefix:
    """The prefix with one more iteration; `new` has the gains that it found in the pool."""
    i = before.i + 1
    weight = discount(i)
    average = counts.gain / counts.results if counts.results else 0.0
    found, found_gain, discounted = before.found, before.found_gain, before.found_discounted
    half_found = before.half_found
    if new:
        found += len(new)
        found_gain += sum(new)
        discounted += weight * sum(new)
        pool = before.turn.pool
        if half_found is None and pool is not None and found / pool.good >= HALF:
            half_found = i
    return Prefix(
        before.turn,
        counts,
        i,
        before.calls + counts.calls,
        before.results + counts.results,
        before.unique + counts.unique,
        before.good + counts.good,
        before.gain + counts.gain,
        before.unlabelled + counts.unlabelled,
        before.discounted_gain + weight * counts.gain,
        before.gains_per_result + average,
        before.discounted_gains_per_result + weight * average,
        i if counts.good else before.last_good,
        spent,
        spent_last,
        found,
        found_gain,
        discounted,
        half_found,
    )


def _spend(calls: Sequence[Mapping[str, float]], spent: dict[str, list[float] | None]) -> Spent:
    """Add the costs of an iteration's calls to the terms of the sums, and return the iteration's.

    If a call lacks a cost, its iteration's cost is unknown, and the sum from there on.
    """
    costs: dict[str, float | None] = {}
    for name, terms in spent.items():
        said = [of_call[name] for of_call in calls if name in of_call]
        known = len(said) == len(calls)
        costs[name] = fsum(said) if known else None
        if not known:
            spent[name] = None
        elif terms is not None:
            terms += said
            if len(terms) > _MOST_TERMS:  # long turns must not take quadratic time
                terms[:] = sum_exactly(terms)
    return costs


@lru_cache(maxsize=2**12)
def discount(i: int) -> float:
    """w(i) = 1 / log2(i + 1) (SPEC 5; Järvelin and Kekäläinen 2002, with base 2)."""
    return 1 / log2(i + 1)
