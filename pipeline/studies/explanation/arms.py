"""What two arms found in one conversation (SPEC 4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from msgspec import Struct

from goodgain.pipeline.studies.explanation.explain import ExplainedTurn
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace, TurnDetails
from goodgain.transforms.core.scoring.score_rows import ConversationRow


class ArmDocument(Struct, frozen=True):
    """A document that an arm found.

    Attributes:
      place: its first occurrence.
      gain: its label; None if it has none.
      title, url, id: from the trace, if present.
    """

    place: ResultPlace
    gain: int | None
    good: bool
    title: str | None
    url: str | None
    id: str | None


class DocumentOfBoth(Struct, frozen=True):
    """A document that both arms found, as each found it."""

    input: ArmDocument
    against: ArmDocument


class ArmGain(Struct, frozen=True):
    """The gain of one iteration, and of all up to it."""

    G_i: int
    CG_at_i: int


class IterationGain(Struct, frozen=True):
    """The gain of both arms at one iteration; None for an arm that ended before it."""

    i: int
    input: ArmGain | None
    against: ArmGain | None


class ArmsExplanation(Struct, frozen=True):
    """One conversation in two arms: `input`, and the one it is held `against`.

    Attributes:
      both: each document of `against` that `input` found, too, in the order of `input`.
    """

    input: ConversationRow
    against: ConversationRow
    iterations: list[IterationGain]
    only_input: list[ArmDocument]
    only_against: list[ArmDocument]
    both: list[DocumentOfBoth]


def explain_arms(one: ExplainedTurn, other: ExplainedTurn) -> ArmsExplanation:
    """Match the documents that two arms found.

    A document of the second arm is the first document of the first arm of which its first
    occurrence verifies an occurrence, so that several may be the same.

    Args:
      one, other: the turn in the arm `input`, and in the arm `against`, scored by the same rules.

    Raises:
      UsageError: the rules look for no duplicates.
    """
    if one.scoring.rules.policy == "none":
        raise UsageError(
            "The documents of two arms cannot be matched: the rules say `policy: none`, by which "
            "no two results are the same document."
        )
    found, theirs = dict(_documents(one)), dict(_documents(other))
    matches = {
        index: first
        for index in theirs
        if (first := one.turn.deduplicator.find_first_match(other.turn.results[index])) is not None
    }
    pairs = sorted((first, index) for index, first in matches.items())
    met = set(matches.values())
    return ArmsExplanation(
        input=one.explanation.row,
        against=other.explanation.row,
        iterations=[
            IterationGain(i, mine, their)
            for i, (mine, their) in enumerate(zip_longest(_gains(one), _gains(other)), start=1)
        ],
        only_input=[document for index, document in found.items() if index not in met],
        only_against=[document for index, document in theirs.items() if index not in matches],
        both=[DocumentOfBoth(found[first], theirs[index]) for first, index in pairs],
    )


def _documents(arm: ExplainedTurn) -> Iterator[tuple[int, ArmDocument]]:
    """The first occurrences of a turn, by their index in it."""
    details = TurnDetails(arm.turn, arm.scoring.rules)
    results = [
        result
        for iteration in arm.explanation.iterations
        for call in iteration.calls
        for result in call.results
    ]
    for index, result in enumerate(results):
        if result.duplicate is None:
            gain = arm.turn.labels[index]
            good = gain is not None and gain >= arm.scoring.good_gain_threshold
            place = details.place(index)
            yield index, ArmDocument(place, gain, good, result.title, result.url, result.id)


def _gains(arm: ExplainedTurn) -> list[ArmGain]:
    rows = (iteration.row for iteration in arm.explanation.iterations)
    return [ArmGain(row.G_i, row.CG_at_i) for row in rows]
