"""Makes the tally of a conversation from what native code folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goodgain.transforms.core.metrics.prefix import NO_COUNTS
from goodgain.transforms.core.metrics.turn import (
    CallCounts,
    IterationCounts,
    RaisedRank,
    Turn,
)
from goodgain.transforms.core.scoring.data_counts import data_counts, later_good_counts
from goodgain.transforms.core.scoring.delivery import merge_attributes
from goodgain.transforms.core.scoring.duplicate_rows import duplicate_counts
from goodgain.transforms.core.scoring.duplicate_table import STEPS
from goodgain.transforms.core.scoring.id_checks import IdChecks, name_examples
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.tally import Tally


def tally_of(delivered: Any, turn: Any, counts: Any, scoring: Scoring) -> Tally:
    """The tally of a conversation from the tuples that native code folds it to."""
    (
        last_turn, calls, usages, earlier, redelivered, conflicting, _, times, attributes,
        call_counts, outcomes,
    ) = delivered  # fmt: skip
    iterations, copies, labels, scores, call_ends, judged, raised, met_again, costs = turn
    labelled_copies, label_conflicts, conflicts_between_texts = copies
    by_type, by_step, near_misses, cut, by_gain, unidentified, checked = counts
    compared, contradicted, examples = checked
    checks = IdChecks(compared, contradicted, list(name_examples(examples, scoring.rules)))
    iterations = [IterationCounts(*sizes, *gains) for *sizes, gains in iterations]
    first = iterations[0] if iterations else NO_COUNTS
    later_from = first.results if scoring.hold_slot else first.unique
    threshold, cutoff = scoring.good_gain_threshold, scoring.ranking.greatest_cutoff
    return Tally(
        last_turn,
        merge_attributes(attributes),
        calls,
        usages,
        earlier,
        conflicting,
        times,
        Turn(
            iterations,
            labels,
            scores,
            judged,
            scoring.ranking.options,
            scoring.hold_slot,
            label_conflicts,
            redelivered,
            costs,
            scoring.costs,
            call_ends=call_ends,
            call_counts=CallCounts(*call_counts),
            outcomes=outcomes,
            raised=[RaisedRank(*rank) for rank in raised],
        ),
        labelled_copies,
        conflicts_between_texts,
        met_again,
        {
            **duplicate_counts(by_type, _by_step(by_step), _by_step(near_misses), cut),
            **data_counts(dict(enumerate(by_gain)), unidentified, iterations, checks),
            **later_good_counts(labels, later_from, cutoff, threshold),
        },
        checks.examples,
    )


def _by_step(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(STEPS, counts, strict=True))
