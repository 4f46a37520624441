"""The parts of a score that need single calls and results: their rows, and the best case."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from goodgain.transforms.core.metrics.group import Values
from goodgain.transforms.core.metrics.plan import keep_bounded
from goodgain.transforms.core.metrics.prefix import prefixes
from goodgain.transforms.core.metrics.turn import Turn
from goodgain.transforms.core.ranking.aspects import ListAspects
from goodgain.transforms.core.scoring.aspects import TurnCoverage
from goodgain.transforms.core.scoring.best_case import make_best_turn
from goodgain.transforms.core.scoring.conversation_score import BestValues
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.duplicate_table import DuplicateTable
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.ranked_lists import call_lists
from goodgain.transforms.core.scoring.score_rows import CallRow, ConversationRow
from goodgain.transforms.core.scoring.settings import Scoring


class CallList(Struct, frozen=True):
    """A search call with its ranked list.

    Attributes:
      i, iteration, call_position, call, results: as in `CallRow`.
      labels, scores: as in `LabelledList`.
      aspects: None if aspects are not evaluated.
    """

    i: int
    iteration: int
    call_position: int
    call: int | None
    results: int
    labels: list[int]
    scores: list[float | None]
    aspects: ListAspects | None = None


class ScoreDetails(Struct, frozen=True):
    """What a folded turn has of single calls and results.

    Attributes:
      calls: None if they are not evaluated.
      duplicates: None if they were not requested.
    """

    calls: Sequence[CallList] | None = None
    duplicates: DuplicateTable | None = None


def details_of(
    turn: FoldedTurn, places: TurnDetails, coverage: TurnCoverage | None, scoring: Scoring
) -> ScoreDetails:
    """The details that are asked for; `coverage` has the aspects of documents."""
    return ScoreDetails(
        _lists_of_calls(turn, places, coverage, scoring.hold_slot) if scoring.per_call else None,
        places.table() if scoring.write_duplicates else None,
    )


def _lists_of_calls(
    turn: FoldedTurn, places: TurnDetails, coverage: TurnCoverage | None, hold_slot: bool
) -> list[CallList]:
    return [
        CallList(
            *places.call_place(at),
            call.call,
            len(call.results),
            ranked.labels,
            ranked.scores,
            None if coverage is None else coverage.of_call(ranked),
        )
        for at, (call, ranked) in enumerate(
            zip(turn.calls, call_lists(turn, hold_slot), strict=True)
        )
    ]


def score_calls(
    calls: Sequence[CallList],
    conversation: ConversationRow,
    judged: Sequence[int],
    scoring: Scoring,
) -> list[CallRow]:
    """The rows of search calls; `judged` has the gains of the topic's judged documents."""
    ranking, columns = scoring.ranking, " ".join(scoring.ranking.names)
    return [
        CallRow(
            conversation_id=conversation.conversation_id,
            turn=conversation.turn or 0,
            attributes=conversation.attributes,
            i=call.i,
            iteration=call.iteration,
            call_position=call.call_position,
            call=call.call,
            results=call.results,
            columns=columns,
            values=ranking.evaluate(call.labels, judged, call.scores, aspects=call.aspects),
        )
        for call in calls
    ]


def score_best_case(
    turn: Turn, at_n: Values, by_i: Sequence[Values], calls: Sequence[CallList], scoring: Scoring
) -> BestValues:
    """The best case of a turn that searched.

    Args:
      at_n, by_i: its values as they are.
    """
    plan, best = scoring.plan, make_best_turn(turn, scoring)
    walked = prefixes(best, plan.max_i)
    return BestValues(
        keep_bounded(plan.at_n, plan.values_at_n(walked[len(turn.iterations)]), at_n),
        [
            keep_bounded(plan.by_i, values, actual)
            for values, actual in zip(map(plan.values_by_i, walked[1:]), by_i, strict=True)
        ],
        [scoring.ranking.best_case(call.labels, turn.judged) for call in calls],
    )
