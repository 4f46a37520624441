"""The counts from which a conversation's rows are computed, made in Python or native code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.scoring.costs import costs_by_iteration
from goodgain.transforms.core.scoring.data_counts import data_counts, labels_of, unidentified_of
from goodgain.transforms.core.scoring.delivery import Delivered
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.gains import IterationCounts
from goodgain.transforms.core.scoring.ranked_lists import LabelledList, turn_list


class Tally(Struct, frozen=True):
    """A folded conversation without its calls and results.

    Attributes:
      last_turn: the turn that is scored; None without any usable record.
      calls, earlier_calls: number of search calls of the last turn, and of earlier turns.
      times: timestamps of the usable records, in ms.
      costs: for each iteration, the costs of each call.
      judgments_met_again: number of those in `FoldedTurn`.
      judged: gains of the judged documents, in any order.
      counts: results, duplicates and labels of the last turn, by dotted name.
    """

    last_turn: int | None
    attributes: dict[str, str]
    calls: int
    earlier_calls: int
    redelivered: int
    conflicting: int
    times: Sequence[int]
    iterations: Sequence[IterationCounts]
    costs: Sequence[Sequence[Mapping[str, float]]]
    labelled_copies: int
    label_conflicts: int
    judgments_met_again: int | None
    ranked: LabelledList
    judged: list[int]
    counts: Mapping[str, int]


def tally_of(
    delivered: Delivered, turn: FoldedTurn, judged: list[int], rules: RuleTable, hold_slot: bool
) -> Tally:
    """The tally of a folded turn; `judged` has the gains of the judged documents."""
    return Tally(
        delivered.last_turn,
        delivered.attributes(),
        len(turn.calls),
        len(delivered.calls) - len(turn.calls),
        delivered.redelivered,
        delivered.conflicting,
        [call.timestamp for call in delivered.calls if call.timestamp is not None],
        turn.iterations,
        costs_by_iteration(turn.calls),
        turn.labelled_copies,
        turn.label_conflicts,
        None if turn.judgments_met_again is None else len(turn.judgments_met_again),
        turn_list(turn, hold_slot),
        judged,
        {
            **TurnDetails(turn, rules).counts(),
            **data_counts(labels_of(turn), unidentified_of(turn, rules), turn.iterations),
        },
    )
