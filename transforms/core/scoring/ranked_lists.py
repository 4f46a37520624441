"""The ranked lists of a folded turn, for the ranking metrics (SPEC 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.metrics.turn import RaisedRank
from goodgain.transforms.core.ranking.ranked_list import HELD_COPY, UNJUDGED
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations


class LabelledList(Struct, frozen=True):
    """A ranked list: labels and retriever's scores by rank.

    Attributes:
      places: the index in the turn of the result at each rank.
      call_ends: the last rank of each search call; empty = all results are of one call.
    """

    labels: list[int]
    scores: list[float | None]
    places: Sequence[int]
    call_ends: Sequence[int] = ()


def pool_of_judged(turn: FoldedTurn) -> list[int]:
    """Gains of the labelled documents of the turn."""
    return [
        label
        for label, duplicate in zip(turn.labels, turn.duplicates, strict=True)
        if duplicate is None and label is not None
    ]


def turn_list(turn: FoldedTurn, hold_slot: bool) -> LabelledList:
    """All first occurrences in order; with `hold_slot` later copies keep their ranks."""
    copies = {index for index, duplicate in enumerate(turn.duplicates) if duplicate is not None}
    ranked = _list_of(turn, range(len(turn.results)), copies, hold_slot)
    return replace(ranked, call_ends=_call_ends(turn, hold_slot))


def find_raised_ranks(turn: FoldedTurn, hold_slot: bool) -> list[RaisedRank]:
    """Where copies raised labels in `turn_list`, in order; empty if the first label counts."""
    raising = [rise for rise in turn.rises or () if rise.index != rise.first]
    if not raising:
        return []
    firsts = [index for index, duplicate in enumerate(turn.duplicates) if duplicate is None]
    places = range(len(turn.results)) if hold_slot else firsts
    place_of = {index: place for place, index in enumerate(places)}
    numbers = result_iterations(turn.calls)
    return [
        RaisedRank(
            numbers[rise.index],
            place_of[rise.first],
            UNJUDGED if rise.before is None else rise.before,
        )
        for rise in raising
    ]


def call_lists(turn: FoldedTurn, hold_slot: bool) -> list[LabelledList]:
    """One list per call: its documents, even if an earlier call had found them.

    Only repetitions within the call are copies here; every document has the label of its first
    occurrence in the turn, or the greatest label in the call if the best counts.
    """
    lists = []
    start = 0
    for call in turn.calls:
        indexes = range(start, start + len(call.results))
        start = indexes.stop
        seen: dict[int, int] = {}
        copies: set[int] = set()
        labels: dict[int, int] = {}
        for index in indexes:
            duplicate = turn.duplicates[index]
            shown = seen.setdefault(index if duplicate is None else duplicate.first, index)
            if shown != index:
                copies.add(index)
            if turn.rises is not None:
                own = turn.results[index].gain
                labels[shown] = max(labels.get(shown, UNJUDGED), UNJUDGED if own is None else own)
        lists.append(_list_of(turn, indexes, copies, hold_slot, labels))
    return lists


def _call_ends(turn: FoldedTurn, hold_slot: bool) -> list[int]:
    """The last rank of each call in the list of the turn."""
    ends = []
    start = last_rank = 0
    for call in turn.calls:
        stop = start + len(call.results)
        last_rank += stop - start if hold_slot else turn.duplicates[start:stop].count(None)
        ends.append(last_rank)
        start = stop
    return ends


def _list_of(
    turn: FoldedTurn,
    indexes: Sequence[int],
    copies: set[int],
    hold_slot: bool,
    labels: Mapping[int, int] | None = None,
) -> LabelledList:
    """A ranked list; `labels` has labels of this list that differ from those of the turn."""
    own = labels or {}
    if not hold_slot:
        indexes = [index for index in indexes if index not in copies]
    return LabelledList(
        [
            HELD_COPY if index in copies else own.get(index, _label(turn, index))
            for index in indexes
        ],
        [turn.results[index].score for index in indexes],
        indexes,
    )


def _label(turn: FoldedTurn, index: int) -> int:
    label = turn.judged[index]
    return UNJUDGED if label is None else label
