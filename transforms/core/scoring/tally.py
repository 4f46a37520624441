"""What remains of a folded conversation to score: numbers, without its calls and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.metrics.prefix import NO_COUNTS
from goodgain.transforms.core.metrics.turn import CallCounts, Turn, UsageCounts
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.aspects import coverage_of
from goodgain.transforms.core.scoring.details import ScoreDetails, details_of
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.folded_conversation import FoldedConversation
from goodgain.transforms.core.scoring.id_checks import ContradictedId, id_checks
from goodgain.transforms.core.scoring.pool_finds import pool_columns, pool_counts, topic_gains
from goodgain.transforms.core.scoring.ranked_lists import (
    LabelledList,
    find_raised_ranks,
    pool_of_judged,
    turn_list,
)
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.usage import use_turn


class Tally(Struct, frozen=True, kw_only=True):
    """A folded conversation without its calls and results, but for the details asked for.

    Attributes:
      last_turn: the turn that is scored; None without any usable record.
      calls, usages: number of search calls of the last turn, and of its records of documents that
        were opened or cited.
      earlier_records: number of records of earlier turns.
      times: timestamps of the usable records, in ms.
      turn: what its metrics are computed from.
      labelled_copies, conflicts_between_texts, judgments_met_again: numbers of those in
        `FoldedTurn`.
      counts: results, duplicates and labels of the last turn, its topics and its pool, by dotted
        name.
      details: what is asked for of single calls and results.
      pool_columns: further columns of a conversation with a pool: see `ConversationRow`.
      contradicted_ids: examples of duplicates by ids that URL and title contradict.
      rejected_labels: labels for its results that could not be used.
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
    conflicts_between_texts: int
    judgments_met_again: int | None
    counts: Mapping[str, int]
    details: ScoreDetails
    pool_columns: Mapping[str, int | str | None] = {}
    contradicted_ids: Sequence[ContradictedId] = ()
    rejected_labels: Sequence[UnusedRow] = ()


def tally_of(
    folded: FoldedConversation, scoring: Scoring, outcomes: Mapping[str, float] | None = None
) -> Tally:
    """The tally of a folded conversation.

    Args:
      outcomes: outcomes by name, which replace those of the trace.
    """
    delivered, turn, pool = folded.delivered, folded.turn, folded.pool
    threshold = scoring.good_gain_threshold
    usages = len(delivered.usages())
    ranked = turn_list(turn, scoring.hold_slot)
    places = TurnDetails(turn, scoring.rules)
    checks = id_checks(turn, places, scoring.rules)
    coverage = coverage_of(folded, scoring)
    by_iteration = groupby(turn.calls, key=attrgetter("iteration"))
    return Tally(
        last_turn=delivered.last_turn,
        attributes=delivered.attributes(),
        calls=len(delivered.searches()),
        usages=usages,
        earlier_records=len(delivered.calls) - len(delivered.searches()) - usages,
        conflicting=delivered.conflicting,
        times=[call.timestamp for call in delivered.calls if call.timestamp is not None],
        turn=Turn(
            turn.iterations,
            ranked.labels,
            ranked.scores,
            _judged_gains(folded),
            scoring.ranking.options,
            scoring.hold_slot,
            turn.label_conflicts,
            delivered.redelivered,
            [[call.costs for call in calls] for _, calls in by_iteration],
            scoring.costs,
            pool=None if pool is None else topic_gains(turn, pool, threshold),
            call_ends=ranked.call_ends,
            call_counts=_call_counts(turn.calls),
            outcomes={**delivered.outcomes(), **(outcomes or {})},
            raised=find_raised_ranks(turn, scoring.hold_slot),
            usage=_usage_counts(folded, scoring),
            aspects=None if coverage is None else coverage.of_turn(ranked),
        ),
        labelled_copies=turn.labelled_copies,
        conflicts_between_texts=turn.conflicts_between_texts,
        judgments_met_again=(
            None if turn.judgments_met_again is None else len(turn.judgments_met_again)
        ),
        counts={
            **places.counts(),
            **data_counts.data_counts(
                data_counts.labels_of(turn),
                data_counts.count_unidentified(turn, scoring.rules),
                turn.iterations,
                checks,
            ),
            **_later_good_counts(turn, ranked, scoring),
            **data_counts.topic_counts(
                folded.conversation_id,
                [call.attributes for call in delivered.calls],
                scoring.label_keys,
            ),
            **({} if folded.labelled is None else folded.labelled.counts()),
            **data_counts.excluded_counts(folded.kept.excluded),
            **({} if pool is None else pool_counts(turn, pool, scoring.rules, threshold)),
        },
        details=details_of(turn, places, coverage, scoring),
        pool_columns={} if pool is None else pool_columns(turn, pool, threshold),
        contradicted_ids=checks.examples,
        rejected_labels=() if folded.labelled is None else folded.labelled.rejected,
    )


def _judged_gains(folded: FoldedConversation) -> list[int]:
    """The gains of the judged documents of the topic."""
    if folded.pool is not None:
        return [label for label in folded.pool.topic_pool.labels if label is not None]
    return pool_of_judged(folded.turn) if folded.judgments is None else folded.judgments.pool


def _usage_counts(folded: FoldedConversation, scoring: Scoring) -> UsageCounts:
    used = folded.usages() if scoring.usage else []
    if not used:
        return UsageCounts()
    return use_turn(folded.turn, used, scoring.rules, scoring.good_gain_threshold).counts


def _later_good_counts(turn: FoldedTurn, ranked: LabelledList, scoring: Scoring) -> dict[str, int]:
    if turn.pooled is not None:  # good is also what has no label in the pool
        ranked = turn_list(replace(turn, judged=turn.labels), scoring.hold_slot)
    first = turn.iterations[0] if turn.iterations else NO_COUNTS
    return data_counts.later_good_counts(
        ranked.labels,
        first.results if scoring.hold_slot else first.unique,
        scoring.ranking.greatest_cutoff,
        scoring.good_gain_threshold,
    )


def _call_counts(calls: Sequence[CallFingerprint]) -> CallCounts:
    """Counts of the search calls of a turn."""
    queries = [call.query for call in calls if call.query is not None]
    by_tool: dict[str, tuple[int, int]] = {}
    for call in calls:
        if call.tool is not None:
            of_tool, failed = by_tool.get(call.tool, (0, 0))
            by_tool[call.tool] = of_tool + 1, failed + call.failed
    return CallCounts(
        sum(not call.results for call in calls),
        sum(call.failed for call in calls),
        len(queries) - len(set(queries)),
        by_tool,
    )
