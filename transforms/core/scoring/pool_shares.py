"""The pool metrics of a scored turn: shares of the pool that it found, and counts (SPEC 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.files import PoolUse, TopicPools
from goodgain.transforms.core.pool.matching import TurnPool, documents_of, is_weak
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations
from goodgain.transforms.core.scoring.gains import discount
from goodgain.transforms.core.scoring.registry import POOL_METRICS
from goodgain.transforms.core.scoring.rows import IterationRow, PoolOutcome, PoolShares

HALF = 0.5


def turn_pool_of(
    conversation_id: str,
    attributes: Mapping[str, str],
    use: PoolUse | None,
    pools: TopicPools | None,
) -> TurnPool | None:
    """The pool to score a conversation's turn with; None if there is none.

    Raises:
      GoodGainError: a file of the pool cannot be read.
    """
    if use is None or pools is None:
        return None
    topic = topic_of(conversation_id, attributes, use.topic_attribute)
    return TurnPool(topic, pools.of_topic(topic), conversation_id, use.run)


def pool_shares(turn: FoldedTurn, pool: TurnPool, good_gain_threshold: int) -> list[PoolShares]:
    """For each iteration, the shares of the pool's good documents found up to it."""
    labels = [label for label in pool.topic_pool.labels if label is not None]
    good = [label for label in labels if label >= good_gain_threshold]
    if not good:
        return [PoolShares(None, None, None)] * len(turn.iterations)
    new_gains: list[list[int]] = [[] for _ in turn.iterations]
    results = zip(result_iterations(turn.calls), turn.judged, turn.duplicates, strict=True)
    for i, label, duplicate in results:
        if duplicate is None and label is not None and label >= good_gain_threshold:
            new_gains[i - 1].append(label)
    gain_of_pool = sum(good)
    shares: list[PoolShares] = []
    found = cumulated_gain = 0
    discounted_gain = 0.0
    for i, gains in enumerate(new_gains, start=1):
        found += len(gains)
        cumulated_gain += sum(gains)
        discounted_gain += discount(i) * sum(gains)
        shares.append(
            PoolShares(
                found / len(good), cumulated_gain / gain_of_pool, discounted_gain / gain_of_pool
            )
        )
    return shares


def pool_outcome(
    iterations: Sequence[IterationRow], turn: FoldedTurn, pool: TurnPool, good_gain_threshold: int
) -> PoolOutcome:
    """The shares at N, the iteration that reached half of the good documents, and those found."""
    labels = pool.topic_pool.labels
    good = {at for at, label in enumerate(labels) if (label or 0) >= good_gain_threshold}
    pooled = [one.document for _, one in sorted((turn.pooled or {}).items())]
    outcome = PoolOutcome(
        pool_good=len(good),
        pool_best=max((label for label in labels if label is not None), default=None),
        pool_found=" ".join(
            str(pool.topic_pool.documents[at].number) for at in pooled if at in good
        ),
    )
    shares = [row.pool for row in iterations]
    last = shares[-1] if shares else None
    if last is None or last.pool_recall_at_i is None:
        return outcome
    reached = [
        i
        for i, share in enumerate(shares, start=1)
        if share and (share.pool_recall_at_i or 0) >= HALF
    ]
    return replace(
        outcome,
        pool_recall=last.pool_recall_at_i,
        pool_nCG=last.pool_nCG_at_i,
        pool_nDCG=last.pool_nDCG_at_i,
        half_of_pool_reached=int(bool(reached)),
        iterations_for_half_of_pool=reached[0] if reached else None,
    )


def unsearched_outcome(labels: Sequence[int], good_gain_threshold: int) -> tuple[int | None, ...]:
    """The values of pool metrics for a conversation that never searched, so found nothing.

    Args:
      labels: labels of the labelled documents in the topic's pool.
    """
    if not any(label >= good_gain_threshold for label in labels):
        return (None,) * len(POOL_METRICS)
    return (0, 0, 0, 0, None)


def pool_counts(
    turn: FoldedTurn, pool: TurnPool, rules: RuleTable, good_gain_threshold: int
) -> dict[str, int]:
    """Counts of how a turn's documents match the pool, by dotted name."""
    documents = documents_of(turn.duplicates)
    pooled = (turn.pooled or {}).values()
    firsts = [places[0] for places in documents]
    good = [first for first in firsts if (turn.labels[first] or 0) >= good_gain_threshold]
    outside_pool = sum(turn.judged[first] is None for first in good)
    has_good = any((label or 0) >= good_gain_threshold for label in pool.topic_pool.labels)
    searched = bool(turn.calls)
    return {
        "pool.pooled": sum(one.verdict is None for one in pooled),
        "pool.matched": sum(one.verdict is not None for one in pooled),
        "pool.outside": len(documents) - len(pooled),
        "pool.outside_pool": outside_pool,
        "pool.weak_documents": sum(
            is_weak([turn.results[place] for place in places], rules) for places in documents
        ),
        "pool.conversations_without_topic": int(pool.topic.value is None),
        "pool.conversations_without_pool": int(searched and not pool.topic_pool.documents),
        "pool.conversations_without_good_documents": int(searched and not has_good),
    }
