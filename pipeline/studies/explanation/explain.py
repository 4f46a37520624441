"""Finds one conversation, scores it, and explains the outcome of each of its results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import groupby

from msgspec import Struct

from goodgain.pipeline.results.manifest import counts_of_group
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.sources import LocalFiles, TraceSource
from goodgain.pipeline.studies.explanation import model
from goodgain.pipeline.studies.explanation.calls import explain_calls
from goodgain.pipeline.studies.explanation.observed_turn import (
    JudgmentsOf,
    fold_observed,
    observe,
)
from goodgain.pipeline.studies.explanation.pairs import Pairs
from goodgain.pipeline.studies.explanation.records import ConversationRecords, gather
from goodgain.transforms.core.files.outcomes import join_outcomes
from goodgain.transforms.core.judgments.result_labels import ResultLabel
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.scoring.fold import FoldedTurn
from goodgain.transforms.core.scoring.score import score_folded
from goodgain.transforms.core.scoring.settings import Scoring

Pair = tuple[str, str]  # the places of two results, like 1.1.3: i, call and rank


class ExplainedTurn(Struct, frozen=True):
    """An explanation, the folded turn that it is about, and how that was scored."""

    explanation: model.ConversationExplanation
    turn: FoldedTurn
    scoring: Scoring


def find_turn(
    conversation_id: str,
    evaluation: Evaluation,
    source: TraceSource | None = None,
    pair: Pair | None = None,
) -> ExplainedTurn:
    """Find a conversation in the traces of an evaluation, and explain its last turn.

    Args:
      source: the traces; None = the evaluation's files.
      pair: two results that are compared.

    Raises:
      UsageError: there is no such conversation or result, or a judgment cannot be used.
      GoodGainError: it holds more than `max_held_bytes` allows.
    """
    source = source or LocalFiles(evaluation.traces.files, evaluation.settings)
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
    records, folded = fold_observed(gathered, scoring, budget, judgments_of, result_labels)
    rejected_records = sum(row.records for row in gathered.rejected)
    score = score_folded(folded, rejected_records, scoring, outcomes)
    observed = observe(folded, records, scoring)
    pairs = Pairs(folded.turn, observed.results, observed.details, scoring.rules)
    calls: dict[int, list[model.ExplainedCall]] = defaultdict(list)
    for i, call in explain_calls(folded, observed, pairs, scoring.good_gain_threshold):
        calls[i].append(call)
    delivered, usages = folded.delivered, observed.usages
    earlier = [call.turn for call in delivered.calls if call.turn != delivered.last_turn]
    explanation = model.ConversationExplanation(
        row=score.conversation,
        ranking=scoring.ranking.names,
        iterations=[model.ExplainedIteration(row, calls[row.i]) for row in score.iterations],
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
