"""The content of an explanation; its JSON has the same fields."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from goodgain.pipeline.studies.explanation.pair_model import PairExplanation
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.duplicate_rows import ResultPlace
from goodgain.transforms.core.scoring.score_rows import ConversationRow, IterationRow

Outcome = Literal["good", "other", "duplicate"]


class Why(Struct, frozen=True):
    """Why a result is a duplicate.

    Attributes:
      first: the place of its first occurrence.
      matched: the place of the earlier result that it matched: `first`, or a copy of that.
      key: the key that proposed the pair (SPEC 4.2).
      step, clause: the rule that decided (SPEC 4.3).
      reason: the step and clause in words.
      first_gain: the label that counts.
    """

    first: ResultPlace
    matched: ResultPlace
    key: str
    step: str
    clause: int | None
    reason: str
    first_gain: int | None
    label_conflict: bool


class Raised(Struct, frozen=True):
    """How a copy raised the label of its document.

    Attributes:
      before, label: the greatest label before, None if there was none, and its own.
      gain: what it adds to the gain of the iteration.
    """

    before: int | None
    label: int
    gain: int


class NearMiss(Struct, frozen=True):
    """Two results that share a key but are two documents.

    Attributes:
      place: of the later result.
      earlier: of the result that it was compared with.
      key: the key that proposed the pair (SPEC 4.2).
      step: the step that found them different (SPEC 4.3).
    """

    place: ResultPlace
    earlier: ResultPlace
    key: str
    step: str


class InPool(Struct, frozen=True):
    """Which document of the topic's pool a result is.

    Attributes:
      number, document: its number in the pool, from 1, and its id; None outside the pool.
      how: `pooled` if this result itself was pooled, else the step that matched it, or `outside`.
    """

    number: int | None
    document: str | None
    label: int | None
    how: str


class ExplainedResult(Struct, frozen=True, omit_defaults=True):
    """One result with its label and its outcome.

    Attributes:
      rank: from 1, its place in the call.
      entity_type: its name in the rules.
      title, url, id: from the trace, if present.
      duplicate: None for a first occurrence.
      raised: None unless documents have the label of their best passage, and this copy has a
        greater label than all occurrences before it.
      pooled: None for duplicates, and without a pool.
      used: what the agent did with the document, `open` or `cite`, on its first occurrence.
      judged_at: the earlier document that took the judgment for its name, since a judgment counts
        once; None if the missing label has another cause.
    """

    rank: int
    gain: int | None
    entity_type: str | None
    title: str | None
    url: str | None
    id: str | None
    outcome: Outcome
    duplicate: Why | None
    pooled: InPool | None = None
    judged_at: ResultPlace | None = None
    raised: Raised | None = None
    used: tuple[str, ...] = ()


class CallPlace(Struct, frozen=True):
    """A search call: its i, and its place within the iteration, from 0."""

    i: int
    call_position: int


class ExplainedCall(Struct, frozen=True, omit_defaults=True):
    """One search call; `call_position` counts from 0 within the iteration.

    Attributes:
      error: what it said when it failed; None if it did not.
      repeats: the first call of the turn with the same query, but for case and punctuation.
      excluded: number of results that are excluded, which ranks do not count.
    """

    call_position: int
    call: int | None
    record_id: str | None
    timestamp: str | None
    tool: str | None
    query: str | None
    error: str | None
    repeats: CallPlace | None
    results: list[ExplainedResult]
    excluded: int = 0


class ExplainedIteration(Struct, frozen=True):
    """One iteration: its row of `iterations` (SPEC 6), and the calls behind it."""

    row: IterationRow
    calls: list[ExplainedCall]


class UsedResult(Struct, frozen=True):
    """A document that was opened or cited.

    Attributes:
      title, url, id: from the trace, if present.
      label: that of the document.
      found: its first occurrence among the results of searches; None if no search found it.
    """

    title: str | None
    url: str | None
    id: str | None
    label: int | None
    good: bool
    found: ResultPlace | None


class ExplainedUsage(Struct, frozen=True):
    """A record of documents that were opened or cited.

    Attributes:
      action: `open` or `cite`.
      iteration: the raw number.
    """

    action: str
    iteration: int
    results: list[UsedResult]


class EarlierTurn(Struct, frozen=True):
    """A turn before the last, which does not count."""

    turn: int
    calls: int


class ConversationExplanation(Struct, frozen=True):
    """One conversation.

    Attributes:
      ranking: names of the ranking metrics.
      conflicting_redeliveries: redelivered records that differ from the one that counts.
      near_misses: number of pairs that a key proposed and verification found different, by step.
      near_miss_pairs: the first of these; of results with equal evidence only the first.
      pair: the two results that were asked about, or None.
      usages: the records of documents that were opened or cited, in order.
      unreadable: rejected rows without a conversation, which may belong to this one.
    """

    row: ConversationRow
    ranking: tuple[str, ...]
    iterations: list[ExplainedIteration]
    earlier_turns: list[EarlierTurn]
    conflicting_redeliveries: int
    rejected: list[RejectedRecord]
    near_misses: dict[str, int]
    near_miss_pairs: list[NearMiss]
    unreadable: int
    pair: PairExplanation | None = None
    usages: list[ExplainedUsage] = []
