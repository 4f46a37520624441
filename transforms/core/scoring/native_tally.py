"""Makes the tally of a conversation from what native code folds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goodgain.transforms.core.judgments.result_labels import LabelledCalls
from goodgain.transforms.core.metrics.prefix import NO_COUNTS
from goodgain.transforms.core.metrics.turn import (
    CallCounts,
    IterationCounts,
    RaisedRank,
    Turn,
    UsageCounts,
    UseCounts,
)
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.delivery import merge_attributes
from goodgain.transforms.core.scoring.details import CallList, ScoreDetails
from goodgain.transforms.core.scoring.duplicate_rows import duplicate_counts
from goodgain.transforms.core.scoring.duplicate_table import STEPS, DuplicateTable
from goodgain.transforms.core.scoring.id_checks import IdChecks, name_examples
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.tally import Tally


def tally_of(
    conversation_id: str, folded: Any, scoring: Scoring, labelled: LabelledCalls | None = None
) -> Tally:
    """The tally of a conversation from the tuples that native code folds it to.

    Args:
      labelled: what became of its labels, if native code got the usable ones only.
    """
    delivered, turn, counts, details = folded
    (
        last_turn, calls, usages, earlier, redelivered, conflicting, _, times, attributes,
        call_counts, outcomes,
    ) = delivered  # fmt: skip
    iterations, copies, labels, scores, call_ends, judged, raised, met_again, costs = turn
    labelled_copies, label_conflicts, conflicts_between_texts = copies
    by_type, by_step, near_misses, cut, by_gain, unidentified, checked = counts
    compared, contradicted, examples = checked
    duplicates, lists, joined_labels, usage, excluded = details
    if labelled is None and joined_labels is not None:
        joined, replaced, repeated = joined_labels
        labelled = LabelledCalls([], joined, replaced, repeated, [])
    checks = IdChecks(compared, contradicted, list(name_examples(examples, scoring.rules)))
    iterations = [IterationCounts(*sizes, *gains) for *sizes, gains in iterations]
    first = iterations[0] if iterations else NO_COUNTS
    later_from = first.results if scoring.hold_slot else first.unique
    threshold, cutoff = scoring.good_gain_threshold, scoring.ranking.greatest_cutoff
    return Tally(
        last_turn=last_turn,
        attributes=merge_attributes(attributes),
        calls=calls,
        usages=usages,
        earlier_records=earlier,
        conflicting=conflicting,
        times=times,
        turn=Turn(
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
            usage=_usage_counts(usage),
        ),
        labelled_copies=labelled_copies,
        conflicts_between_texts=conflicts_between_texts,
        judgments_met_again=met_again,
        counts={
            **duplicate_counts(by_type, _by_step(by_step), _by_step(near_misses), cut),
            **data_counts.data_counts(dict(enumerate(by_gain)), unidentified, iterations, checks),
            **data_counts.later_good_counts(labels, later_from, cutoff, threshold),
            **data_counts.topic_counts(conversation_id, attributes, scoring.label_keys),
            **({} if labelled is None else labelled.counts()),
            **data_counts.excluded_counts(excluded),
        },
        details=ScoreDetails(
            None if lists is None else [CallList(*parts) for parts in lists],
            None if duplicates is None else DuplicateTable(*duplicates),
        ),
        contradicted_ids=checks.examples,
        rejected_labels=() if labelled is None else labelled.rejected,
    )


def _usage_counts(usage: Any) -> UsageCounts:
    if usage is None:
        return UsageCounts()
    opened, cited, cited_unopened = usage
    return UsageCounts(UseCounts(*opened), UseCounts(*cited), cited_unopened)


def _by_step(counts: Sequence[int]) -> dict[str, int]:
    return dict(zip(STEPS, counts, strict=True))
