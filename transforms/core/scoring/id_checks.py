"""Duplicates by ids whose URLs and titles speak against it (SPEC 10).

Positions in a list, or numbers that are used again, are no ids: they make different documents one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from msgspec import Struct

from goodgain.transforms.core.dedup.evidence import read_evidence
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.dedup.verification import find_agreeing_id
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn

MOST_EXAMPLES = 3
_Place = tuple[int, int, int]


class PlaceInTurn(NamedTuple):
    """Raw iteration, place of the call in it from 0, and rank from 1."""

    iteration: int
    call_position: int
    rank: int

    def __str__(self) -> str:
        search = f" of search {self.call_position + 1}" if self.call_position else ""
        return f"result {self.rank}{search} of iteration {self.iteration}"


class ContradictedId(Struct, frozen=True, order=True, array_like=True):
    """A result that an id makes a duplicate, though URL and title differ.

    Attributes:
      conversation_id: "" as long as the conversation is not named.
      place, first: the places of the result and of its first occurrence.
      name: of the id.
    """

    conversation_id: str
    place: PlaceInTurn
    first: PlaceInTurn
    name: str

    def __str__(self) -> str:
        return f"{self.conversation_id}: {self.place} and {self.first}"


class IdChecks(Struct, frozen=True):
    """What URLs and titles say about the duplicates of a turn that ids decided.

    Attributes:
      compared, contradicted: number of duplicates with both to compare, and where both differ.
      examples: the first of the latter.
    """

    compared: int
    contradicted: int
    examples: list[ContradictedId]


def id_checks(turn: FoldedTurn, details: TurnDetails, rules: RuleTable) -> IdChecks:
    """Check the duplicates of a turn."""
    checked = [
        (place, duplicate.first, duplicate.contradicted)
        for place, duplicate in enumerate(turn.duplicates)
        if duplicate is not None and duplicate.contradicted is not None
    ]
    contradicted = [(place, first) for place, first, differs in checked if differs]
    examples: list[tuple[int, _Place, _Place]] = []
    for place, first in contradicted:
        if len(examples) == MOST_EXAMPLES:
            break
        one, other = (read_evidence(turn.results[at]) for at in (first, place))
        id_ = find_agreeing_id(one, other, rules)
        if id_ is not None:
            examples.append((id_, _place(details, place), _place(details, first)))
    return IdChecks(len(checked), len(contradicted), list(name_examples(examples, rules)))


def name_examples(
    examples: Iterable[tuple[int, _Place, _Place]], rules: RuleTable
) -> Iterator[ContradictedId]:
    """Examples from the number of an id, and the places of a result and its first occurrence."""
    for number, place, first in examples:
        name = next(name for name, known in rules.ids.items() if known == number)
        yield ContradictedId("", PlaceInTurn(*place), PlaceInTurn(*first), name)


def least_examples(examples: Iterable[ContradictedId]) -> list[ContradictedId]:
    """The least of some examples, in order."""
    return list(islice(sorted(examples), MOST_EXAMPLES))


def _place(details: TurnDetails, index: int) -> _Place:
    place = details.place(index)
    return place.iteration, place.call_position, place.rank
