"""What remains of a folded turn to score: numbers, without its calls and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct

from goodgain.transforms.core.metrics.prefix import TopicGains, Turn
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.delivery import Delivered
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.ranked_lists import turn_list
from goodgain.transforms.core.scoring.settings import Scoring


class Tally(Struct, frozen=True):
    """A folded conversation without its calls and results.

    Attributes:
      last_turn: the turn that is scored; None without any usable record.
      calls, usages: number of search calls of the last turn, and of its records of documents that
        were opened or cited.
      earlier_records: number of records of earlier turns.
      times: timestamps of the usable records, in ms.
      turn: what its metrics are computed from.
      judgments_met_again: number of those in `FoldedTurn`.
      counts: results, duplicates and labels of the last turn, by dotted name.
    """

    last_turn: int | None
    attributes: dict[str, str]
    calls: int
    usages: int
    earlier_records: int
    conflicting: int
    times: Sequence[int]
    turn: Turn
    labelled_copies: int
    judgments_met_again: int | None
    counts: Mapping[str, int]


def tally_of(
    delivered: Delivered,
    turn: FoldedTurn,
    judged: list[int],
    scoring: Scoring,
    pool: TopicGains | None = None,
) -> Tally:
    """The tally of a folded turn; `judged` has the gains of the judged documents."""
    usages = len(delivered.usages())
    by_iteration = groupby(turn.calls, key=attrgetter("iteration"))
    ranked = turn_list(turn, scoring.hold_slot)
    return Tally(
        delivered.last_turn,
        delivered.attributes(),
        len(turn.calls),
        usages,
        len(delivered.calls) - len(turn.calls) - usages,
        delivered.conflicting,
        [call.timestamp for call in delivered.calls if call.timestamp is not None],
        Turn(
            turn.iterations,
            ranked.labels,
            ranked.scores,
            judged,
            scoring.ranking.options,
            scoring.hold_slot,
            turn.label_conflicts,
            delivered.redelivered,
            [[call.costs for call in calls] for _, calls in by_iteration],
            scoring.costs,
            pool,
        ),
        turn.labelled_copies,
        None if turn.judgments_met_again is None else len(turn.judgments_met_again),
        {
            **TurnDetails(turn, scoring.rules).counts(),
            **data_counts.data_counts(
                data_counts.labels_of(turn),
                data_counts.unidentified_of(turn, scoring.rules),
                turn.iterations,
            ),
        },
    )
