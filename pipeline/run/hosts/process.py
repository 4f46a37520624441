"""Evaluates all conversations in one process, in the same steps as the pipeline."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import Struct

from goodgain.pipeline.inputs import progress
from goodgain.pipeline.inputs.local_files import count_usable_threads, open_local
from goodgain.pipeline.run.plan.evaluation import Evaluation
from goodgain.pipeline.run.plan.given_tables import JoinableTable
from goodgain.pipeline.run.plan.joined_judgments import JudgedDocuments
from goodgain.pipeline.run.plan.sources import TraceSource
from goodgain.transforms.core.files.read_counts import ReadCounts
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.means.slices import EVERYTHING, slice_of
from goodgain.transforms.core.means.values import cluster_counts, values_by_slice
from goodgain.transforms.core.memory_budget import TRACES, MemoryBudget
from goodgain.transforms.core.pool.files import TopicPools
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.core.scoring.packers import packer_for, reading_counts
from goodgain.transforms.core.scoring.packing import Packed, Packing
from goodgain.transforms.core.scoring.payload import record_ids
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.score_sums import ScoreSums
from goodgain.transforms.core.scoring.settings import Scoring

_OBJECT_BYTES_PER_CALL = 1_000


class Evaluated(Struct, frozen=True):
    """What an evaluation found.

    Attributes:
      scores: of all conversations, in no particular order.
      rejected_rows: for each table beside the traces, like `labels`, its rows that are not used.
      counts: by dotted name.
      contradicted_ids: examples for a warning.
    """

    scores: list[ConversationScore]
    rejected: list[RejectedRecord]
    rejected_rows: dict[str, list[RejectedRecord]]
    means: list[MeanRow]
    relations: list[OutcomeRelation]
    counts: Counter[str]
    contradicted_ids: list[ContradictedId]


def evaluate_here(
    options: MeansOptions,
    evaluation: Evaluation,
    source: TraceSource,
) -> Evaluated:
    """Evaluate everything in this process.

    Args:
      options: what means are computed over.

    Raises:
      UsageError: judgments cannot be used.
      GoodGainError: the files hold more than `max_held_bytes` allows.
    """
    pool = evaluation.pool
    scoring = evaluation.scoring
    budget = evaluation.budget()
    trace_budget = budget if evaluation.traces.files else source.budget(evaluation)
    tables: dict[str, JoinableTable] = {}
    labels = evaluation.read_labels(budget)
    if evaluation.labels:
        tables["labels"] = labels
    if evaluation.qrels:
        judged = evaluation.read_judgments(budget)
        tables["qrels"] = JudgedDocuments(judged, scoring.exclusions)
    if evaluation.outcomes:
        tables["outcomes"] = evaluation.read_outcomes(budget)
    pools = TopicPools(pool.use.files, scoring.rules, open_local, budget) if pool else None
    packer = packer_for(Packing.of(scoring, count_usable_threads()))
    gathered = gather(source.pack(packer), trace_budget)
    joined = {}
    for name, table in tables.items():
        conversations = {found: record_ids(packed) for found, packed in gathered.payloads.items()}
        joined[name] = table.join(conversations, gathered.label_requests)
    for conversation_id, packed in chain.from_iterable(table.payloads for table in joined.values()):
        gathered.payloads[conversation_id].append(packed)
    sums, scores = RunSums(options, scoring), []
    for score in scores_of(gathered.payloads, scoring, pools, trace_budget):
        sums.add(score)
        scores.append(score)
    rejected_rows: dict[str, list[RejectedRecord]] = {
        name: joined[name].rejected for name in ("labels", "outcomes") if name in joined
    }
    if evaluation.labels:
        unmatched = (labels.reject(score.rejected_labels) for score in scores)
        rejected_rows["labels"] += chain.from_iterable(unmatched)
    # `+` would drop the counts that are 0, which warnings need.
    counts = Counter(sums.of_scores.counts)
    for more in (
        gathered.counts,
        reading_counts(packer),
        *(table.counts for table in joined.values()),
    ):
        counts.update(more)
    return Evaluated(
        scores,
        gathered.rejected,
        rejected_rows,
        list(sums.means()),
        list(sums.relations()),
        counts,
        sums.of_scores.contradicted_ids,
    )


class GatheredInput(Struct, frozen=True):
    """Everything that was read.

    Attributes:
      payloads: the payloads of the calls, by conversation_id.
      counts: `records.read`, `records.rejected` and `records.unknown_losses`.
    """

    payloads: dict[str, list[bytes]]
    rejected: list[RejectedRecord]
    label_requests: list[LabelRequest]
    counts: dict[str, int]


def gather(packed: Iterable[Packed | RejectedRecord], budget: MemoryBudget) -> GatheredInput:
    """Gather what was read, by conversation.

    Raises:
      GoodGainError: they exceed the limit of `budget`.
    """
    payloads: dict[str, list[bytes]] = {}
    rejected: list[RejectedRecord] = []
    label_requests: list[LabelRequest] = []
    counts = ReadCounts()
    for item in packed:
        if isinstance(item, RejectedRecord):
            rejected.append(item)
            budget.count_read(item.conversation_id, item.reason, item.payload)
            counts.add_rejected(item)
            progress.advance({"records.read": item.records, "records.rejected": item.records})
        else:
            budget.count_read(item.conversation_id, item.payload)
            budget.count(_OBJECT_BYTES_PER_CALL * item.calls)
            payloads.setdefault(item.conversation_id, []).append(item.payload)
            counts.add_calls(item.calls)
            if item.label_request is not None:
                names = list(item.label_request.names())
                budget.count_labels(len(names), names, TRACES)
                label_requests.append(item.label_request)
            progress.advance({"records.read": item.calls})
    return GatheredInput(payloads, rejected, label_requests, counts.by_name())


def scores_of(
    payloads: Mapping[str, Sequence[bytes]],
    scoring: Scoring,
    pools: TopicPools | None,
    budget: MemoryBudget,
) -> Iterator[ConversationScore]:
    """Score every conversation.

    Args:
      payloads: by conversation_id.

    Raises:
      GoodGainError: a conversation is too large.
    """
    scorer = PayloadScorer(scoring, pools)
    for conversation_id, packed in payloads.items():
        budget.check_conversation(packed)
        yield scorer.score(conversation_id, packed)
        progress.advance({"conversations.total": 1})


class RunSums:
    """The sums over all conversations: means by slice, and counts."""

    def __init__(self, options: MeansOptions, scoring: Scoring) -> None:
        self._options = options
        self._plan = scoring.plan
        self._means: defaultdict[str, MeansAccumulator] = defaultdict(MeansAccumulator)
        _ = self._means[EVERYTHING]  # also without conversations
        self.of_scores = ScoreSums()

    def add(self, score: ConversationScore) -> None:
        """Add one conversation."""
        self.of_scores.add(score)
        if self._options.cluster:
            self.of_scores.counts.update(cluster_counts(score, self._options.cluster))
        for key, values in values_by_slice(score, self._plan, self._options):
            self._means[key].add(values)

    def means(self) -> Iterator[MeanRow]:
        """The rows of `means`, in no particular order."""
        for key, accumulator in self._means.items():
            yield from accumulator.rows(slice_of(key), self._plan, self._options.interval)

    def relations(self) -> Iterator[OutcomeRelation]:
        """The rows of `outcome_relations`, in no particular order."""
        for key, accumulator in self._means.items():
            yield from accumulator.relations(slice_of(key), self._plan)
