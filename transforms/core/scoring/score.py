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
from goodgain.transforms.core.pool.matching import TurnPool
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.aspects import coverage_of
from goodgain.transforms.core.scoring.conversation_score import AtBudget, ConversationScore
from goodgain.transforms.core.scoring.details import details_of, with_details
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.folded_conversation import (
    FoldedConversation,
    fold_conversation,
)
from goodgain.transforms.core.scoring.pool_finds import (
    pool_columns,
    pool_counts,
    topic_gains,
)
from goodgain.transforms.core.scoring.ranked_lists import pool_of_judged
from goodgain.transforms.core.scoring.score_rows import ConversationRow
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.tally import Tally, tally_of
from goodgain.transforms.core.scoring.usage import use_turn


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
    delivered, turn, turn_pool = folded.delivered, folded.turn, folded.pool
    threshold = scoring.good_gain_threshold
    if turn_pool is not None:
        judged = [label for label in turn_pool.topic_pool.labels if label is not None]
    else:
        judged = pool_of_judged(turn) if folded.judgments is None else folded.judgments.pool
    findable = None if turn_pool is None else topic_gains(turn, turn_pool, threshold)
    coverage = coverage_of(folded, scoring)
    tally = tally_of(delivered, turn, judged, scoring, findable, coverage)
    used = folded.usages() if scoring.usage else []
    if used:
        usage = use_turn(turn, used, scoring.rules, threshold).counts
        tally = replace(tally, turn=replace(tally.turn, usage=usage))
    if outcomes:
        given = {**tally.turn.outcomes, **outcomes}
        tally = replace(tally, turn=replace(tally.turn, outcomes=given))
    score = score_tally(folded.conversation_id, tally, rejected_records, scoring)
    score = with_topic_counts(score, [call.attributes for call in delivered.calls], scoring)
    if folded.labelled is not None:
        rejected = folded.labelled.rejected
        score = replace(
            score, counts={**score.counts, **folded.labelled.counts()}, rejected_labels=rejected
        )
    if folded.kept.excluded is not None:
        counts = {**score.counts, data_counts.EXCLUDED: folded.kept.excluded}
        score = replace(score, counts=counts)
    if turn_pool is not None:
        score = _with_pool(score, turn, turn_pool, scoring)
    return with_details(score, tally.turn, details_of(turn, coverage, scoring), scoring)


def score_tally(
    conversation_id: str, tally: Tally, rejected_records: int, scoring: Scoring
) -> ConversationScore:
    """The score of a conversation from its tally, without the parts that need single results.

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
    plan, turn = scoring.plan, tally.turn
    walked = prefixes(turn, plan.max_i)
    n = len(turn.iterations)
    whole = walked[n]
    values = plan.values_at_n(whole) if n else plan.counts_at_n(whole)
    idle = () if n else plan.idle_at_n(whole)
    of_iteration = plan.values_by_i if n else plan.idle_by_i
    of_topic: dict[str, int | str | None] = {}
    if tally.judgments_met_again is not None:
        of_topic["judgments_met_again"] = tally.judgments_met_again
        of_topic["qrels_best"] = max(turn.judged, default=None)
    if turn.aspects is not None:
        of_topic["topic_aspects"] = turn.aspects.topic.number
    return ConversationScore(
        ConversationRow(
            conversation_id=conversation_id,
            turn=tally.last_turn,
            attributes=tally.attributes,
            rejected_records=rejected_records,
            first_timestamp=min(tally.times, default=None),
            last_timestamp=max(tally.times, default=None),
            topic=of_topic,
            columns=plan.columns,
            values=values,
        ),
        [counts.iteration for counts in turn.iterations],
        plan.iteration_columns,
        [of_iteration(prefix) for prefix in walked[1:]],
        idle,
        _at_budgets(walked[: n + 1], plan),
        [ratio.terms(whole, values if n else idle) for ratio in plan.ratios],
        {
            **tally.counts,
            **_record_counts(tally, whole, rejected_records),
            **data_counts.call_counts(whole.calls, turn.call_counts),
            **data_counts.times_counts(tally.times, scoring.clock),
        },
        contradicted_ids=[
            replace(example, conversation_id=conversation_id) for example in tally.contradicted_ids
        ],
    )


def with_topic_counts(
    score: ConversationScore, attributes: Iterable[Mapping[str, str]], scoring: Scoring
) -> ConversationScore:
    """A score that also counts whether its conversation has one topic, if judgments are joined.

    Args:
      attributes: those of its calls.
    """
    keys = scoring.label_keys
    if keys is None:
        return score
    conversation_id = score.conversation.conversation_id
    topics = {keys.topic(conversation_id, values) for values in attributes}
    topic_counts = {
        data_counts.WITHOUT_TOPIC: int(topics == {""}),
        data_counts.SEVERAL_TOPICS: int(len(topics - {""}) > 1),
    }
    return replace(score, counts={**score.counts, **topic_counts})


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


def _with_pool(
    score: ConversationScore, turn: FoldedTurn, turn_pool: TurnPool, scoring: Scoring
) -> ConversationScore:
    """A score with the columns and counts of its pool."""
    row, threshold = score.conversation, scoring.good_gain_threshold
    row = replace(row, topic={**row.topic, **pool_columns(turn, turn_pool, threshold)})
    pool_counters = pool_counts(turn, turn_pool, scoring.rules, threshold)
    return replace(score, conversation=row, counts={**score.counts, **pool_counters})


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
