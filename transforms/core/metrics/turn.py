"""The evaluated turn as counts and lists that all of its metrics share (SPEC 5, 8, 9)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from goodgain.transforms.core.ranking.aspects import Aspects, ListAspects, TopicAspects
from goodgain.transforms.core.ranking.ranked_list import RankedListOptions


class IterationCounts(Struct):
    """Counts of one iteration, from which the sums of SPEC 5 are computed.

    Attributes:
      iteration: the raw number.
      results, unique, good, gain: R, UR, GR, and G, the sum of gains over GR.
      unlabelled: number of results without a label.
      unlabelled_documents: of first occurrences, those whose document has no label.
    """

    iteration: int
    calls: int = 0
    results: int = 0
    unique: int = 0
    good: int = 0
    gain: int = 0
    unlabelled: int = 0
    unlabelled_documents: int = 0


class CallCounts(Struct, frozen=True):
    """Counts of the search calls of a turn.

    Attributes:
      empty: those without results.
      failed: those with an error.
      repeated: those with the query of an earlier one.
      by_tool: by name of the tool, number of calls, and of those that failed.
    """

    empty: int = 0
    failed: int = 0
    repeated: int = 0
    by_tool: Mapping[str, tuple[int, int]] = {}


class UseCounts(Struct, frozen=True):
    """Counts of what was opened in a turn, or of what was cited.

    Attributes:
      records: those that say so.
      documents: distinct documents in them.
      good, unsurfaced: those of them that are good, and those that no search found.
      found_good, found_gain: the good ones that a search found, and the sum of their gains.
    """

    records: int = 0
    documents: int = 0
    good: int = 0
    unsurfaced: int = 0
    found_good: int = 0
    found_gain: int = 0


class UsageCounts(Struct, frozen=True):
    """Counts of the documents that were opened and cited in a turn.

    Attributes:
      cited_unopened: number of cited documents that were not opened.
    """

    opened: UseCounts = UseCounts()
    cited: UseCounts = UseCounts()
    cited_unopened: int = 0


class RaisedRank(Struct, frozen=True):
    """A document of the ranked list whose label a copy raised (SPEC 5, `document_label`).

    Attributes:
      i: the iteration of the copy.
      at: the document's place in the list, from 0.
      before: its label until then.
    """

    i: int
    at: int
    before: int


class TurnAspects(Struct, frozen=True, dict=True):
    """The aspects that the documents of a turn cover (SPEC 13).

    Attributes:
      by_rank: for each rank of the whole turn's list, the iteration from which on its document
        covers an aspect, by aspect.
      topic: those of the judged documents of the topic.
    """

    by_rank: Sequence[Mapping[bytes, int]]
    topic: TopicAspects

    @cached_property
    def first_covered(self) -> list[int]:
        """For each aspect that is covered, the iteration that first does, ascending."""
        first: dict[bytes, int] = {}
        for covered in self.by_rank:
            for aspect, i in covered.items():
                first[aspect] = min(i, first.get(aspect, i))
        return sorted(first.values())

    def number(self, i: int) -> int:
        """The number of aspects that iterations 1 to i cover."""
        return bisect_right(self.first_covered, i)

    def of_list(self, i: int, ranks: int) -> ListAspects:
        """The aspects of the first ranks of the list after i iterations."""
        return ListAspects(
            [
                Aspects([aspect for aspect, since in covered.items() if since <= i])
                for covered in self.by_rank[:ranks]
            ],
            self.topic,
        )


class TopicGains(Struct, frozen=True):
    """What there was to find in the topic's pool, and what the turn found of it (SPEC 9).

    Attributes:
      good, gain: number of good documents in the pool, and the sum of their gains.
      found: for each iteration, the gains of the good documents that it found first.
    """

    good: int
    gain: float
    found: Sequence[Sequence[float]]


class Turn(Struct, frozen=True):
    """What all prefixes of a turn have in common.

    Attributes:
      iterations: counts of the iterations i = 1..N.
      labels, scores: the ranked list of the whole turn: labels and the retriever's scores by rank.
      call_ends: the last rank of each search call in it.
      judged: gains of the judged documents of the topic, in any order.
      ranking: how labels of ranked lists are interpreted.
      raised: what copies raised in `labels`, in order.
      aspects: None if aspects are not evaluated.
      hold_slot: whether copies keep their ranks in the list.
      costs: for each iteration, the costs of each call.
      cost_names: names of the costs to sum.
      pool: None without a pool.
      outcomes: the last value of each outcome in the turn's records, by name.
    """

    iterations: Sequence[IterationCounts]
    labels: Sequence[int] = ()
    scores: Sequence[float | None] = ()
    judged: Sequence[int] = ()
    ranking: RankedListOptions = RankedListOptions(1, (), None, None)
    hold_slot: bool = False
    label_conflicts: int = 0
    redelivered: int = 0
    costs: Sequence[Sequence[Mapping[str, float]]] = ()
    cost_names: tuple[str, ...] = ()
    pool: TopicGains | None = None
    call_ends: Sequence[int] = ()
    call_counts: CallCounts = CallCounts()
    outcomes: Mapping[str, float] = {}
    raised: Sequence[RaisedRank] = ()
    usage: UsageCounts = UsageCounts()
    aspects: TurnAspects | None = None
