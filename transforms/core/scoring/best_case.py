"""The best case of a turn: every unlabelled document has the best label (SPEC 8)."""

from __future__ import annotations

from msgspec.structs import replace

from goodgain.transforms.core.metrics.group import Values
from goodgain.transforms.core.metrics.prefix import IterationCounts, Turn
from goodgain.transforms.core.ranking import UNJUDGED
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations
from goodgain.transforms.core.scoring.ranked_lists import call_lists
from goodgain.transforms.core.scoring.settings import Scoring


def best_turn(folded: FoldedTurn, turn: Turn, scoring: Scoring) -> Turn:
    """The turn as it would be in the best case; the pool's finds have none."""
    best = scoring.ranking.best_label
    return replace(
        turn,
        iterations=_best_counts(folded, best, scoring.good_gain_threshold),
        labels=[best if label == UNJUDGED else label for label in turn.labels],
        judged=[*turn.judged, *[best] * turn.labels.count(UNJUDGED)],
    )


def best_calls(folded: FoldedTurn, turn: Turn, scoring: Scoring) -> list[Values]:
    """The ranking metrics of each search call in the best case; empty if they are not requested."""
    calls = call_lists(folded, scoring.hold_slot) if scoring.per_call else []
    return [scoring.ranking.best_case(call.labels, turn.judged) for call in calls]


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
