"""The best case of a turn: every unlabelled document has the best label (SPEC 8)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from goodgain.transforms.core.metrics.turn import IterationCounts, Turn
from goodgain.transforms.core.ranking.ranked_list import UNJUDGED
from goodgain.transforms.core.scoring.settings import Scoring


def make_best_turn(turn: Turn, scoring: Scoring) -> Turn:
    """The turn as it would be in the best case; the pool's finds have none."""
    best = scoring.ranking.best_label
    return replace(
        turn,
        iterations=_best_counts(turn.iterations, best, scoring.good_gain_threshold),
        labels=[best if label == UNJUDGED else label for label in turn.labels],
        judged=[*turn.judged, *[best] * turn.labels.count(UNJUDGED)],
    )


def _best_counts(
    iterations: Sequence[IterationCounts], best_label: int, good_gain_threshold: int
) -> Sequence[IterationCounts]:
    """The counts of a turn if every unlabelled document had this label from its first occurrence.

    Labels of copies never count, so only first occurrences change (SPEC 5).
    """
    if best_label < good_gain_threshold:
        return iterations
    return [
        replace(
            counts,
            good=counts.good + counts.unlabelled_documents,
            gain=counts.gain + counts.unlabelled_documents * best_label,
        )
        for counts in iterations
    ]
