"""Scores one conversation: a pure function from its fingerprints to the rows of SPEC 6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.judgments.external_labels import ExternalLabels
from goodgain.transforms.core.judgments.result_labels import (
    RejectedLabel,
    ResultLabel,
    label_calls,
)
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.pool.matching import TurnPool
from goodgain.transforms.core.ranking import judged_results
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.best_case import BestCase, best_case
from goodgain.transforms.core.scoring.computed import computed, with_computed
from goodgain.transforms.core.scoring.costs import (
    AtBudget,
    at_budgets,
    conversation_costs,
    with_costs,
)
from goodgain.transforms.core.scoring.delivery import Delivered, deliver
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.fold import FoldedTurn, fold_turn
from goodgain.transforms.core.scoring.gains import IterationCounts, iteration_rows, values_at_n
from goodgain.transforms.core.scoring.pool_shares import (
    pool_counts,
    pool_outcome,
    pool_shares,
    turn_pool_of,
    unsearched_outcome,
)
from goodgain.transforms.core.scoring.ranked_lists import (
    LabelledList,
    call_lists,
    judged_pool,
    turn_list,
)
from goodgain.transforms.core.scoring.rows import (
    CallRow,
    ConversationRow,
    DuplicateRow,
    IterationRow,
    PoolShares,
)
from goodgain.transforms.core.scoring.settings import Scoring


class Tally(Struct, frozen=True):
    """A folded conversation without its calls and results.

    Attributes:
      last_turn: the turn that is scored; None without any usable record.
      calls, usages: number of search calls of the last turn, and of its records of documents that
        were opened or cited.
      earlier_records: number of records of earlier turns.
      times: timestamps of the usable records, in ms.
      costs: for each iteration, the costs of each call.
      judgments_met_again: number of those in `FoldedTurn`.
      judged: gains of the judged documents, in any order.
      counts: results, duplicates and labels of the last turn, by dotted name.
    """

    last_turn: int | None
    attributes: dict[str, str]
    calls: int
    usages: int
    earlier_records: int
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
    usages = len(delivered.usages())
    by_iteration = groupby(turn.calls, key=attrgetter("iteration"))
    return Tally(
        delivered.last_turn,
        delivered.attributes(),
        len(turn.calls),
        usages,
        len(delivered.calls) - len(turn.calls) - usages,
        delivered.redelivered,
        delivered.conflicting,
        [call.timestamp for call in delivered.calls if call.timestamp is not None],
        turn.iterations,
        [[call.costs for call in calls] for _, calls in by_iteration],
        turn.labelled_copies,
        turn.label_conflicts,
        None if turn.judgments_met_again is None else len(turn.judgments_met_again),
        turn_list(turn, hold_slot),
        judged,
        {
            **TurnDetails(turn, rules).counts(),
            **data_counts.data_counts(
                data_counts.labels_of(turn),
                data_counts.unidentified_of(turn, rules),
                turn.iterations,
            ),
        },
    )


class ConversationScore(Struct, frozen=True, array_like=True):
    """The score of one conversation: its rows, and its contribution to counts and means.

    Attributes:
      conversation: its row of the dataset `conversations`, a `ConversationRow`.
      iterations: its rows of `iterations`, each an `IterationRow`, in order.
      calls: a row for each search call, if requested.
      duplicates: a row for each duplicate, if requested.
      judged: number of judged results in its ranked list, the weight in gauc_weighted.
      best: the rows if every unlabelled document had the best label; None if not requested or
        without search.
      counts: its contribution to the manifest's counts, by dotted name, like `records.scored`.
      closed: when a stream closed it, in ms of event time; None in batch.
      unsearched: without search, the ranking metrics of the empty list and the pool metrics, for
        the population `everyone`.
      budgets: gains at the requested budgets.
      rejected_labels: labels for its results that could not be used.

    Example: see `ScoreConversations`.
    """

    conversation: ConversationRow
    iterations: list[IterationRow]
    calls: list[CallRow]
    duplicates: list[DuplicateRow]
    judged: int
    best: BestCase | None
    counts: dict[str, int]
    closed: int | None = None
    unsearched: tuple[float | None, ...] = ()
    budgets: list[AtBudget] = []
    rejected_labels: list[RejectedLabel] = []


def score_conversation(
    conversation_id: str,
    fingerprints: Iterable[CallFingerprint],
    rejected_records: int,
    scoring: Scoring,
    external: ExternalLabels | None = None,
    pools: TopicPools | None = None,
    labels: Sequence[ResultLabel] = (),
) -> ConversationScore:
    """Score a conversation from all its fingerprints, in any order.

    Args:
      fingerprints: every delivery of every call.
      rejected_records: how many of the conversation's records were rejected (SPEC 3).
      external: external judgments, used if `scoring.label_keys` is given.
      pools: pools of topics, used if `scoring.pool` is given; then fingerprints must have
        encodings.
      labels: labels of single results, which replace those of the trace.

    Raises:
      EncodingsNeededError: an order depends on canonical encodings that were not kept.
      GoodGainError: a file of the pool cannot be read.
    """
    delivered = deliver(fingerprints)
    labelled = label_calls(delivered.calls, labels) if labels else None
    if labelled is not None:
        delivered = replace(delivered, calls=labelled.calls)
    calls = delivered.searches()
    attributes = delivered.attributes()
    keys, threshold = scoring.label_keys, scoring.good_gain_threshold
    judgments = None
    if keys is not None:
        topic = keys.topic(conversation_id, attributes)
        judgments = (external or ExternalLabels()).of_topic(topic)
    turn_pool = turn_pool_of(conversation_id, attributes, scoring.pool, pools)
    turn = fold_turn(calls, scoring.rules, threshold, judgments, turn_pool)
    if turn_pool is not None:
        judged = [label for label in turn_pool.topic_pool.labels if label is not None]
    else:
        judged = judged_pool(turn) if judgments is None else judgments.pool
    tally = tally_of(delivered, turn, judged, scoring.rules, scoring.hold_slot)
    shares = None if turn_pool is None else pool_shares(turn, turn_pool, threshold)
    score = score_tally(conversation_id, tally, rejected_records, scoring, shares)
    if keys is not None:
        topics = {keys.topic(conversation_id, call.attributes) for call in delivered.calls}
        topic_counts = {
            data_counts.WITHOUT_TOPIC: int(topics == {""}),
            data_counts.SEVERAL_TOPICS: int(len(topics - {""}) > 1),
        }
        score = replace(score, counts={**score.counts, **topic_counts})
    if labelled is not None:
        counts = {
            **score.counts,
            "labels.joined": labelled.joined,
            "labels.replaced": labelled.replaced,
            "labels.repeated": labelled.repeated,
            "labels.rejected": len(labelled.rejected),
        }
        score = replace(score, counts=counts, rejected_labels=labelled.rejected)
    return _with_details(score, turn, judged, turn_pool, scoring)


def score_tally(
    conversation_id: str,
    tally: Tally,
    rejected_records: int,
    scoring: Scoring,
    shares: Sequence[PoolShares] | None = None,
) -> ConversationScore:
    """The score of a conversation from its tally, without the parts that need single results.

    Args:
      shares: for each iteration, the shares of the topic's pool found up to it; None without a
        pool.
    """
    iterations = with_computed(
        iteration_rows(conversation_id, tally.last_turn or 0, tally.attributes, tally.iterations),
        tally.iterations,
    )
    if shares is not None:
        iterations = [
            replace(row, pool=share) for row, share in zip(iterations, shares, strict=True)
        ]
    if scoring.costs:
        iterations = with_costs(iterations, tally.costs, scoring.costs)
    ranking = scoring.ranking.evaluate(tally.ranked.labels, tally.judged, tally.ranked.scores)
    unsearched: tuple[float | None, ...] = ()
    if not iterations:
        ranking, unsearched = (None,) * len(ranking), ranking
        if shares is not None:
            unsearched += unsearched_outcome(tally.judged, scoring.good_gain_threshold)
    row = ConversationRow(
        conversation_id=conversation_id,
        turn=tally.last_turn,
        attributes=tally.attributes,
        N=len(iterations),
        calls=tally.calls,
        **values_at_n(iterations),
        unlabelled=sum(counts.unlabelled for counts in tally.iterations),
        label_conflicts=tally.label_conflicts,
        judgments_met_again=tally.judgments_met_again,
        qrels_best=None if tally.judgments_met_again is None else max(tally.judged, default=None),
        rejected_records=rejected_records,
        redelivered=tally.redelivered,
        first_timestamp=min(tally.times, default=None),
        last_timestamp=max(tally.times, default=None),
        ranking=ranking,
        computed=computed(tally.iterations),
        costs=conversation_costs(iterations, scoring.costs),
    )
    return ConversationScore(
        conversation=row,
        iterations=iterations,
        calls=[],
        duplicates=[],
        judged=judged_results(tally.ranked.labels),
        best=None,
        counts={
            **tally.counts,
            **_record_counts(tally, row),
            **data_counts.times_counts(tally.times, scoring.clock),
        },
        unsearched=unsearched,
        budgets=at_budgets(iterations, scoring.budgets),
    )


def _with_details(
    score: ConversationScore,
    turn: FoldedTurn,
    judged: list[int],
    turn_pool: TurnPool | None,
    scoring: Scoring,
) -> ConversationScore:
    """Add the parts that need single calls and results: their rows, best case and pool metrics."""
    row, iterations = score.conversation, score.iterations
    if turn_pool is not None:
        threshold = scoring.good_gain_threshold
        row = replace(row, pool=pool_outcome(iterations, turn, turn_pool, threshold))
        pool_counters = pool_counts(turn, turn_pool, scoring.rules, threshold)
        score = replace(score, conversation=row, counts={**score.counts, **pool_counters})
    if scoring.bounds and iterations:
        score = replace(score, best=best_case(row, iterations, turn, judged, scoring))
    if not scoring.per_call and not scoring.keep_duplicates:
        return score
    details = TurnDetails(turn, scoring.rules)
    return replace(
        score,
        calls=_call_rows(turn, row, details, judged, scoring) if scoring.per_call else [],
        duplicates=details.rows(row.conversation_id) if scoring.keep_duplicates else [],
    )


def _call_rows(
    turn: FoldedTurn,
    conversation: ConversationRow,
    details: TurnDetails,
    pool: list[int],
    scoring: Scoring,
) -> list[CallRow]:
    rows = []
    for at, (call, ranked) in enumerate(
        zip(turn.calls, call_lists(turn, scoring.hold_slot), strict=True)
    ):
        i, iteration, call_position = details.call_place(at)
        rows.append(
            CallRow(
                conversation.conversation_id,
                call.turn,
                conversation.attributes,
                i,
                iteration,
                call_position,
                call.call,
                len(call.results),
                scoring.ranking.evaluate(ranked.labels, pool, ranked.scores),
            )
        )
    return rows


def _record_counts(tally: Tally, row: ConversationRow) -> dict[str, int]:
    """Outcomes of the records (SPEC 3), and sizes of the sets (SPEC 5)."""
    return {
        data_counts.SCORED: tally.calls + tally.usages,
        data_counts.EARLIER_TURN: tally.earlier_records,
        data_counts.REDELIVERED: tally.redelivered,
        data_counts.CONFLICTING: tally.conflicting,
        data_counts.CONVERSATIONS: 1,
        # A rejected record may be why there is no search.
        "conversations.without_search": int(row.N == 0 and row.rejected_records == 0),
        "conversations.with_rejected_records": int(row.rejected_records > 0),
        "conversations.in_means": int(row.N > 0 and row.rejected_records == 0),
        "results.total": row.R,
        "results.unique": row.UR,
        "results.good": row.GR,
        "results.duplicates": row.DupR,
        "results.unlabelled": row.unlabelled,
        "results.labelled_duplicates": tally.labelled_copies,
        "results.label_conflicts": row.label_conflicts,
        "qrels.judgments_met_again": row.judgments_met_again or 0,
    }
