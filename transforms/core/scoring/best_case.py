"""The best case of a conversation: its metrics if every unlabelled document had the best label.

The worst case is the metrics themselves, since an unlabelled result has gain 0 (SPEC 5, 8).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.scoring.computed import computed, with_computed
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations
from goodgain.transforms.core.scoring.gains import IterationCounts, iteration_rows, values_at_n
from goodgain.transforms.core.scoring.ranked_lists import call_lists, turn_list
from goodgain.transforms.core.scoring.rows import ConversationRow, IterationRow
from goodgain.transforms.core.scoring.settings import Scoring

_Values = tuple[float | None, ...]


class BestCase(Struct, frozen=True, array_like=True):
    """The rows of a conversation in the best case; only their bounded metrics are meaningful.

    Attributes:
      conversation: ranking metrics without bounds are null.
      calls: values of the ranking metrics by search call, null as above.
    """

    conversation: ConversationRow
    iterations: list[IterationRow]
    calls: list[_Values]


def best_case(
    row: ConversationRow,
    iterations: Sequence[IterationRow],
    turn: FoldedTurn,
    judged: Sequence[int],
    scoring: Scoring,
) -> BestCase:
    """The best case of a conversation that searched.

    Args:
      row, iterations: its actual rows; pool metrics have no best case.
      judged: gains of the judged documents.
    """
    ranking, hold_slot = scoring.ranking, scoring.hold_slot
    counts = _best_counts(turn, ranking.best_label, scoring.good_gain_threshold)
    rows = iteration_rows(row.conversation_id, row.turn or 0, row.attributes, counts)
    best_iterations = [
        replace(best, pool=actual.pool)
        for best, actual in zip(with_computed(rows, counts), iterations, strict=True)
    ]
    conversation = replace(
        row,
        **values_at_n(best_iterations),
        ranking=ranking.best_case(turn_list(turn, hold_slot).labels, judged),
        computed=computed(counts),
    )
    calls = call_lists(turn, hold_slot) if scoring.per_call else []
    return BestCase(
        conversation,
        best_iterations,
        [ranking.best_case(call.labels, judged) for call in calls],
    )


def _best_counts(
    turn: FoldedTurn, best_label: int, good_gain_threshold: int
) -> list[IterationCounts]:
    """The counts of the turn if every unlabelled first occurrence had this label.

    Labels of copies never count, so only first occurrences change (SPEC 5).
    """
    iterations = [replace(counts) for counts in turn.iterations]
    if best_label >= good_gain_threshold:
        results = zip(result_iterations(turn.calls), turn.labels, turn.duplicates, strict=True)
        for i, label, duplicate in results:
            if label is None and duplicate is None:
                iterations[i - 1].good += 1
                iterations[i - 1].gain += best_label
    return iterations
