"""Scores one conversation: a pure function from its fingerprints to the rows of SPEC 6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.external_labels import ExternalLabels
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.metrics.own import OwnMetricError
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.metrics.prefix import Prefix, prefixes
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.conversation_score import AtBudget, ConversationScore
from goodgain.transforms.core.scoring.details import score_best_case, score_calls
from goodgain.transforms.core.scoring.folded_conversation import (
    FoldedConversation,
    fold_conversation,
)
from goodgain.transforms.core.scoring.score_rows import ConversationRow
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.tally import Tally, tally_of


def score_conversation(
    conversation_id: str,
    fingerprints: Iterable[CallFingerprint],
    rejected_records: int,
    scoring: Scoring,
    external: ExternalLabels | None = None,
    pools: TopicPools | None = None,
    labels: Sequence[ResultLabel] = (),
    outcomes: Mapping[str, float] | None = None,
) -> ConversationScore:
    """Score a conversation from all its fingerprints, in any order.

    Args:
      fingerprints: every delivery of every call.
      rejected_records: how many of the conversation's records were rejected (SPEC 3).
      external: external judgments, used if `scoring.label_keys` is given, and names of documents,
        if `scoring.name_keys` are.
      pools: pools of topics, used if `scoring.pool` is given; then fingerprints must have
        their records.
      labels: labels of single results, which replace those of the trace.
      outcomes: outcomes by name, which replace those of the trace.

    Raises:
      GoodGainError: a file of the pool cannot be read.
    """
    folded = fold_conversation(conversation_id, fingerprints, scoring, external, pools, labels)
    return score_folded(folded, rejected_records, scoring, outcomes)


def score_folded(
    folded: FoldedConversation,
    rejected_records: int,
    scoring: Scoring,
    outcomes: Mapping[str, float] | None = None,
) -> ConversationScore:
    """Score a conversation that is folded; see `score_conversation`."""
    tally = tally_of(folded, scoring, outcomes)
    return score_tally(folded.conversation_id, tally, rejected_records, scoring)


def score_tally(
    conversation_id: str, tally: Tally, rejected_records: int, scoring: Scoring
) -> ConversationScore:
    """Score a conversation from its tally, which Python and native code make alike.

    Raises:
      UsageError: a metric of the user failed for this conversation.
    """
    try:
        return _score_tally(conversation_id, tally, rejected_records, scoring)
    except OwnMetricError as error:
        raise UsageError(f"In conversation {conversation_id}: {error}") from error


def _score_tally(
    conversation_id: str, tally: Tally, rejected_records: int, scoring: Scoring
) -> ConversationScore:
    plan, turn, details = scoring.plan, tally.turn, tally.details
    walked = prefixes(turn, plan.max_i)
    n = len(turn.iterations)
    whole = walked[n]
    values = plan.values_at_n(whole) if n else plan.counts_at_n(whole)
    idle = () if n else plan.idle_at_n(whole)
    by_i = list(map(plan.values_by_i if n else plan.idle_by_i, walked[1:]))
    row = ConversationRow(
        conversation_id=conversation_id,
        turn=tally.last_turn,
        attributes=tally.attributes,
        rejected_records=rejected_records,
        first_timestamp=min(tally.times, default=None),
        last_timestamp=max(tally.times, default=None),
        topic=_columns_of_topic(tally),
        columns=plan.columns,
        values=values,
    )
    calls = details.calls or ()
    return ConversationScore(
        row,
        [counts.iteration for counts in turn.iterations],
        plan.iteration_columns,
        by_i,
        idle,
        _at_budgets(walked[: n + 1], plan),
        [ratio.terms(whole, values if n else idle) for ratio in plan.ratios],
        {
            **tally.counts,
            **_record_counts(tally, whole, rejected_records),
            **data_counts.call_counts(whole.calls, turn.call_counts),
            **data_counts.times_counts(tally.times, scoring.clock),
        },
        calls=score_calls(calls, row, turn.judged, scoring),
        duplicate_table=details.duplicates,
        best=score_best_case(turn, values, by_i, calls, scoring) if scoring.bounds and n else None,
        rejected_labels=list(tally.rejected_labels),
        contradicted_ids=[
            replace(example, conversation_id=conversation_id) for example in tally.contradicted_ids
        ],
    )


def _columns_of_topic(tally: Tally) -> dict[str, int | str | None]:
    """The further columns of a conversation: see `ConversationRow`."""
    columns: dict[str, int | str | None] = {}
    if tally.judgments_met_again is not None:
        columns["judgments_met_again"] = tally.judgments_met_again
        columns["qrels_best"] = max(tally.turn.judged, default=None)
    if tally.turn.aspects is not None:
        columns["topic_aspects"] = tally.turn.aspects.topic.number
    return {**columns, **tally.pool_columns}


def _at_budgets(walked: Sequence[Prefix], plan: MetricPlan) -> list[AtBudget]:
    """The values within each budget; null if it is unknown what the conversation spent."""
    values = []
    for budget in plan.budgets:
        within = budget.prefix(walked)
        values.append(
            AtBudget(
                tuple(
                    metric.function(within) if metric.function and within else None
                    for metric in budget.metrics
                ),
                budget.is_reached(walked[-1]),
            )
        )
    return values


def _record_counts(tally: Tally, whole: Prefix, rejected_records: int) -> dict[str, int]:
    """Outcomes of the records (SPEC 3), and sizes of the sets (SPEC 5)."""
    turn = tally.turn
    return {
        data_counts.SCORED: tally.calls + tally.usages,
        data_counts.EARLIER_TURN: tally.earlier_records,
        data_counts.REDELIVERED: turn.redelivered,
        data_counts.CONFLICTING: tally.conflicting,
        data_counts.CONVERSATIONS: 1,
        # A rejected record may be why there is no search.
        "conversations.without_search": int(whole.i == 0 and rejected_records == 0),
        "conversations.with_rejected_records": int(rejected_records > 0),
        "conversations.in_means": int(whole.i > 0 and rejected_records == 0),
        "results.total": whole.results,
        "results.unique": whole.unique,
        "results.good": whole.good,
        "results.duplicates": whole.results - whole.unique,
        "results.unlabelled": whole.unlabelled,
        "results.labelled_duplicates": tally.labelled_copies,
        "results.label_conflicts": turn.label_conflicts,
        data_counts.CONFLICTS_BETWEEN_TEXTS: tally.conflicts_between_texts,
        "qrels.judgments_met_again": tally.judgments_met_again or 0,
    }
