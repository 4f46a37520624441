"""The ranked lists of a folded turn, for the ranking metrics (SPEC 8)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from goodgain.transforms.core.ranking import HELD_COPY, UNJUDGED
from goodgain.transforms.core.scoring.turn import Turn


class LabelledList(Struct, frozen=True):
    """A ranked list: labels and retriever's scores by rank."""

    labels: list[int]
    scores: list[float | None]


def judged_pool(turn: Turn) -> list[int]:
    """Gains of the labelled documents of the turn."""
    return [
        label
        for label, duplicate in zip(turn.labels, turn.duplicates, strict=True)
        if duplicate is None and label is not None
    ]


def turn_list(turn: Turn, hold_slot: bool) -> LabelledList:
    """All first occurrences in order; with `hold_slot` later copies keep their places."""
    first = [place for place, duplicate in enumerate(turn.duplicates) if duplicate is None]
    if not hold_slot:
        return _list_of(turn, first, ())
    held = [place for place, duplicate in enumerate(turn.duplicates) if duplicate is not None]
    return _list_of(turn, range(len(turn.results)), held)


def call_lists(turn: Turn, hold_slot: bool) -> list[LabelledList]:
    """One list per call: its documents, even if an earlier call had found them.

    Only repetitions within the call are copies here; every document has the label of its first
    occurrence in the turn.
    """
    lists = []
    start = 0
    for call in turn.calls:
        places = range(start, start + len(call.results))
        start = places.stop
        seen: set[int] = set()
        kept: list[int] = []
        held: list[int] = []
        for place in places:
            duplicate = turn.duplicates[place]
            document = place if duplicate is None else duplicate.first
            (held if document in seen else kept).append(place)
            seen.add(document)
        lists.append(_list_of(turn, places, held) if hold_slot else _list_of(turn, kept, ()))
    return lists


def _list_of(turn: Turn, places: Sequence[int], held: Sequence[int]) -> LabelledList:
    copies = set(held)
    return LabelledList(
        [HELD_COPY if place in copies else _label(turn, place) for place in places],
        [turn.results[place].score for place in places],
    )


def _label(turn: Turn, place: int) -> int:
    label = turn.judged[place]
    return UNJUDGED if label is None else label
