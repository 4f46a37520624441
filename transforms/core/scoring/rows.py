"""The rows that result from scoring a conversation, with the column names of SPEC 6."""

from __future__ import annotations

from msgspec import Struct


class PoolShares(Struct, frozen=True, array_like=True):
    """Shares of the topic's good documents found up to an iteration (SPEC 9).

    All are null if the pool has no good document of the topic.
    """

    pool_recall_at_i: float | None
    pool_nCG_at_i: float | None  # noqa: N815
    pool_nDCG_at_i: float | None  # noqa: N815


class PoolOutcome(Struct, frozen=True, array_like=True):
    """The pool columns in the row of a conversation (SPEC 9).

    Attributes:
      pool_good: number of good documents in the topic's pool.
      pool_best: the greatest label there; None without labels. It determines which metrics a
        conversation without search has in the population `everyone`.
      pool_found: numbers of the good documents that were found, in that order.
    """

    pool_recall: float | None = None
    pool_nCG: float | None = None  # noqa: N815
    pool_nDCG: float | None = None  # noqa: N815
    half_of_pool_reached: int | None = None
    iterations_for_half_of_pool: int | None = None
    pool_good: int = 0
    pool_best: int | None = None
    pool_found: str = ""


class IterationRow(Struct, frozen=True, array_like=True):
    """One iteration of the last turn; `goodgain metrics` defines the metrics.

    Attributes:
      conversation_id, turn, attributes: the conversation, its last turn, and its attributes.
      i: the iteration, counted from 1 over those that searched.
      iteration: its raw number in the traces.
      calls: number of search calls.
      R_i, UR_i, GR_i, Dup_i: results of this iteration: all, new, new and good, and repeated ones.
      G_i: gain of the new, good ones.
      unlabelled_i: number of results without a label.
      AvgGain_i: gain per result of this iteration.
      R_at_i, UR_at_i, GR_at_i, DupR_at_i: the same numbers, of iterations 1 to i together.
      CG_at_i, RG_at_i, DCG_at_i, DRG_at_i, RAG_at_i, DRAG_at_i, SRE_at_i, SRR_at_i: the metrics of
        iterations 1 to i.
      pool: shares of the topic's pool found so far; None without a pool.
      costs: the requested costs by column.
      computed: values of further metrics.

    Example: see `ScoreConversations`.
    """

    conversation_id: str
    turn: int
    attributes: dict[str, str]
    i: int
    iteration: int
    calls: int
    R_i: int
    UR_i: int
    GR_i: int
    Dup_i: int
    G_i: int
    unlabelled_i: int
    AvgGain_i: float
    R_at_i: int
    UR_at_i: int
    GR_at_i: int
    DupR_at_i: int
    CG_at_i: int
    RG_at_i: float
    DCG_at_i: float
    DRG_at_i: float
    RAG_at_i: float
    DRAG_at_i: float
    SRE_at_i: float
    SRR_at_i: float
    pool: PoolShares | None = None
    costs: dict[str, float | None] = {}
    computed: tuple[int | float | None, ...] = ()


class ConversationRow(Struct, frozen=True, array_like=True):
    """One conversation; `goodgain metrics` defines the metrics.

    Attributes:
      conversation_id, turn, attributes: the conversation, its last turn, and its attributes.
      N: number of iterations that searched; with 0, the metrics are None.
      calls: number of search calls.
      R, UR, GR, DupR: number of results: all, new, new and good, and repeated ones.
      CG, RG, DCG, DRG, RAG, DRAG, SRE, SRR: the metrics at the last iteration.
      unlabelled: number of results without a label.
      label_conflicts: number of copies that are labelled unlike their first occurrence.
      judgments_met_again: number of documents without a label because an earlier document already
        has their judgment; None if the labels of the traces count.
      qrels_best: the greatest label of the topic in the judgments; None without labels.
      rejected_records, redelivered: number of records that could not be used, and of those that
        were delivered again.
      first_timestamp, last_timestamp: event times in milliseconds since 1970, if known.
      ranking: values of the requested ranking metrics, in their order.
      pool: shares of the topic's pool that were found; None without a pool.
      costs: the requested costs by column, and gain per unit.
      computed: values of further metrics.

    Example: see `ScoreConversations`.
    """

    conversation_id: str
    turn: int | None
    attributes: dict[str, str]
    N: int
    calls: int
    R: int
    UR: int
    GR: int
    DupR: int
    CG: int | None
    RG: float | None
    DCG: float | None
    DRG: float | None
    RAG: float | None
    DRAG: float | None
    SRE: float | None
    SRR: float | None
    unlabelled: int
    label_conflicts: int
    judgments_met_again: int | None
    qrels_best: int | None
    rejected_records: int
    redelivered: int
    first_timestamp: int | None
    last_timestamp: int | None
    ranking: tuple[float | None, ...] = ()
    pool: PoolOutcome | None = None
    costs: dict[str, float | None] = {}
    computed: tuple[int | float | None, ...] = ()


class CallRow(Struct, frozen=True, array_like=True):
    """The ranked list of one search call, evaluated by itself (SPEC 8).

    Attributes:
      call_position: from 0, the call's place within its iteration.
      call: the producer's number of the call, if given.
      results: number of its results, duplicates included.
      ranking: values of the requested ranking metrics, in their order.
    """

    conversation_id: str
    turn: int
    attributes: dict[str, str]
    i: int
    iteration: int
    call_position: int
    call: int | None
    results: int
    ranking: tuple[float | None, ...]


class LateRow(Struct, frozen=True, array_like=True):
    """A record that arrived after its conversation was closed (SPEC 3, 7)."""

    conversation_id: str
    turn: int
    iteration: int
    call: int | None
    record_id: str | None
    timestamp: int | None
    results: int


class DuplicateRow(Struct, frozen=True, array_like=True):
    """One duplicate: its place, the place of its first occurrence, and the evidence (SPEC 4).

    Attributes:
      call_position, first_call_position: from 0, the call's place within its iteration.
      rank, first_rank: from 1, the place in the call's results.
      key, step, clause: the first key that proposed the pair, and what decided.
    """

    conversation_id: str
    turn: int
    i: int
    iteration: int
    call_position: int
    rank: int
    first_i: int
    first_iteration: int
    first_call_position: int
    first_rank: int
    entity_type: str | None
    gain: int | None
    first_gain: int | None
    key: str
    step: str
    clause: int | None
