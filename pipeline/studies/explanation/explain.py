"""Finds one conversation, scores it, and explains the outcome of each of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.inputs.local_files import open_local
from goodgain.pipeline.results.manifest import counts_of_group
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.joined_judgments import join
from goodgain.pipeline.run.plan.judgments import Judged
from goodgain.pipeline.run.plan.sources import TraceSource
from goodgain.pipeline.studies.explanation import model
from goodgain.pipeline.studies.explanation.calls import explain_calls
from goodgain.pipeline.studies.explanation.pairs import Pairs
from goodgain.pipeline.studies.explanation.records import ConversationRecords, gather
from goodgain.pipeline.studies.explanation.usage import Usages
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint, Fingerprinter
from goodgain.transforms.core.files.outcomes import join_outcomes
from goodgain.transforms.core.judgments.external_labels import ExternalLabels, document_digests
from goodgain.transforms.core.judgments.judgment import label_request
from goodgain.transforms.core.judgments.result_labels import ResultLabel, keys_of
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring.duplicate_rows import TurnDetails
from goodgain.transforms.core.scoring.excluded_results import KeptConversation
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.folded_conversation import (
    FoldedConversation,
    fold_conversation,
)
from goodgain.transforms.core.scoring.score import score_folded
from goodgain.transforms.core.scoring.score_rows import IterationRow
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.scoring.topic_request import topic_request

JudgmentsOf = Callable[[str], Judged]
_Records = Mapping[bytes, SearchCall]  # by digest
Pair = tuple[str, str]  # the places of two results, like 1.1.3: i, call and rank


class ExplainedTurn(Struct, frozen=True):
    """An explanation, the folded turn that it is about, and how that was scored."""

    explanation: model.ConversationExplanation
    turn: FoldedTurn
    scoring: Scoring


def find_turn(
    conversation_id: str,
    evaluation: Evaluation,
    source: TraceSource,
    pair: Pair | None = None,
) -> ExplainedTurn:
    """Find a conversation in the traces of an evaluation, and explain its last turn.

    Args:
      pair: two results that are compared.

    Raises:
      UsageError: there is no such conversation or result, or a judgment cannot be used.
      GoodGainError: it holds more than `max_held_bytes` allows.
    """
    budget = source.budget(evaluation)
    labels = list(evaluation.read_labels(budget).usable())
    keys = {label.key for label in labels}
    # Labels must match no other conversation, so that the records of all are needed.
    records = (
        source.records()
        if keys
        else source.conversations({conversation_id}, evaluation.scoring.rules)
    )
    gathered = gather(conversation_id, records, budget, keys)
    outcomes = evaluation.read_outcomes(budget).usable()
    rows = [row for row in outcomes if row.conversation_id == conversation_id]
    return explain_turn(
        gathered,
        evaluation.scoring,
        budget,
        lambda topic: evaluation.read_judgments(budget, {topic}),
        labels,
        pair,
        join_outcomes(rows, exists=True).values,
    )


def explain_turn(
    gathered: ConversationRecords,
    scoring: Scoring,
    budget: MemoryBudget,
    judgments_of: JudgmentsOf | None = None,
    result_labels: Iterable[ResultLabel] = (),
    pair: Pair | None = None,
    outcomes: Mapping[str, float] | None = None,
) -> ExplainedTurn:
    """Score a conversation and explain the outcome of each of its results.

    Folds and scores as the pipeline does (SPEC 3-5).

    Args:
      budget: counts the judgments.
      judgments_of: at least the judgments of a topic, if `scoring.label_keys` is given.
      result_labels: labels of single results that override those of the trace; may include labels
        of other conversations.
      pair: two results that are compared.
      outcomes: outcomes that override those of the trace.

    Raises:
      UsageError: a judgment cannot be used, or differs from another; or a place has no result.
      GoodGainError: there are more judgments than `budget` allows.
    """
    records, folded = _fold(gathered, scoring, budget, judgments_of, result_labels)
    rejected_records = sum(row.records for row in gathered.rejected)
    score = score_folded(folded, rejected_records, scoring, outcomes)
    observed = _observe(folded, records, scoring)
    pairs = Pairs(folded.turn, observed.results, observed.details, scoring.rules)
    delivered, usages = folded.delivered, observed.usages
    earlier = [call.turn for call in delivered.calls if call.turn != delivered.last_turn]
    explanation = model.ConversationExplanation(
        row=score.conversation,
        ranking=scoring.ranking.names,
        iterations=_explain_iterations(score.iterations, folded, observed, scoring),
        earlier_turns=[
            model.EarlierTurn(turn, len(list(group))) for turn, group in groupby(earlier)
        ],
        conflicting_redeliveries=delivered.conflicting,
        rejected=gathered.rejected,
        near_misses=counts_of_group(score.counts, "near_misses_by_step"),
        near_miss_pairs=pairs.near_misses(),
        pair=None if pair is None else pairs.explain(*pair),
        unreadable=gathered.unreadable,
        usages=[] if usages is None else usages.explain(),
    )
    return ExplainedTurn(explanation, folded.turn, scoring)


class _ObservedTurn(Struct, frozen=True):
    """The records behind a folded turn.

    Attributes:
      searched: those of its search calls, without excluded results.
      excluded: how many results each of them lacks therefore.
      usages: what was opened and cited; None if that is not counted.
    """

    details: TurnDetails
    searched: list[SearchCall]
    excluded: list[int]
    usages: Usages | None

    @property
    def results(self) -> list[Result]:
        """The results of all calls."""
        return [result for call in self.searched for result in call.results]


def _fold(
    gathered: ConversationRecords,
    scoring: Scoring,
    budget: MemoryBudget,
    judgments_of: JudgmentsOf | None,
    result_labels: Iterable[ResultLabel],
) -> tuple[_Records, FoldedConversation]:
    """Fold a conversation as the pipeline does; its records by digest come first."""
    fingerprinter = Fingerprinter(scoring.rules)
    pool = scoring.pool
    fingerprints = [
        fingerprinter.call_fingerprint(call, pool is not None) for call in gathered.calls
    ]
    record_ids = [call.record_id for call in gathered.calls if call.record_id is not None]
    # A label that matches several conversations is not used, as in a run.
    keys = set(keys_of(gathered.conversation_id, record_ids)) - gathered.elsewhere
    folded = fold_conversation(
        gathered.conversation_id,
        fingerprints,
        scoring,
        _external(gathered, fingerprints, scoring, judgments_of),
        None if pool is None else TopicPools(pool.files, scoring.rules, open_local, budget),
        [label for label in result_labels if label.key in keys],
    )
    # Records with equal digests are equal.
    records = {
        fingerprint.record_digest: call
        for fingerprint, call in zip(fingerprints, gathered.calls, strict=True)
    }
    return records, folded


def _observe(folded: FoldedConversation, records: _Records, scoring: Scoring) -> _ObservedTurn:
    """Find the records of a folded turn."""

    def find(calls: Iterable[CallFingerprint]) -> list[SearchCall]:
        return [_drop_excluded(records[call.record_digest], call, folded.kept) for call in calls]

    turn = folded.turn
    details, searched = TurnDetails(turn, scoring.rules), find(turn.calls)
    excluded = [
        len(records[call.record_digest].results) - len(kept.results)
        for call, kept in zip(turn.calls, searched, strict=True)
    ]
    usages = None
    if scoring.usage:
        used = folded.usages()
        usages = Usages(turn, used, find(used), details, scoring)
    return _ObservedTurn(details, searched, excluded, usages)


def _explain_iterations(
    rows: Iterable[IterationRow],
    folded: FoldedConversation,
    observed: _ObservedTurn,
    scoring: Scoring,
) -> list[model.ExplainedIteration]:
    by_iteration: dict[int, list[model.ExplainedCall]] = {}
    for i, explained in explain_calls(
        folded.turn, observed.details, observed.searched, observed.results, scoring, folded.pool,
        observed.usages, observed.excluded,
    ):  # fmt: skip
        by_iteration.setdefault(i, []).append(explained)
    return [model.ExplainedIteration(row, by_iteration[row.i]) for row in rows]


def _drop_excluded(
    record: SearchCall, fingerprint: CallFingerprint, kept: KeptConversation
) -> SearchCall:
    """A record without excluded results."""
    indexes = kept.indexes.get(fingerprint.record_digest)
    if indexes is None:
        return record
    return replace(record, results=[record.results[at] for at in indexes])


def _external(
    gathered: ConversationRecords,
    fingerprints: list[CallFingerprint],
    scoring: Scoring,
    judgments_of: JudgmentsOf | None,
) -> ExternalLabels | None:
    keys = scoring.name_keys
    if keys is None:
        return None
    documents = {
        fingerprint.record_digest: document_digests(call, keys)
        for fingerprint, call in zip(fingerprints, gathered.calls, strict=True)
    }
    if scoring.label_keys is None or judgments_of is None:
        return ExternalLabels(documents)
    request = label_request(
        gathered.conversation_id,
        gathered.calls,
        [fingerprint.record_digest for fingerprint in fingerprints],
        keys,
    )
    topic = topic_request([request]).topic
    by_conversation, _ = join([request], judgments_of(topic), scoring.exclusions)
    return replace(by_conversation[gathered.conversation_id], documents=documents)
