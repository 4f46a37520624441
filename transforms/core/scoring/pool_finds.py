"""What a turn found of its topic's pool, and counts of how they match (SPEC 9)."""

from __future__ import annotations

from collections.abc import Mapping

from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.metrics.turn import TopicGains
from goodgain.transforms.core.pool.document import topic_of
from goodgain.transforms.core.pool.files import PoolUse, TopicPools
from goodgain.transforms.core.pool.index import is_weak
from goodgain.transforms.core.pool.matching import TurnPool, documents_of
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations


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


def topic_gains(turn: FoldedTurn, pool: TurnPool, good_gain_threshold: int) -> TopicGains:
    """What there was to find in the topic's pool, and what each iteration found of it."""
    labels = [label for label in pool.topic_pool.labels if label is not None]
    good = [label for label in labels if label >= good_gain_threshold]
    found: list[list[int]] = [[] for _ in turn.iterations]
    results = zip(result_iterations(turn.calls), turn.judged, turn.duplicates, strict=True)
    for i, label, duplicate in results:
        if duplicate is None and label is not None and label >= good_gain_threshold:
            found[i - 1].append(label)
    return TopicGains(len(good), sum(good), found)


def pool_columns(
    turn: FoldedTurn, pool: TurnPool, good_gain_threshold: int
) -> dict[str, int | str | None]:
    """The further columns of a conversation with a pool: see `ConversationRow`.

    pool_best determines which metrics a conversation without search has in `everyone`.
    """
    labels = pool.topic_pool.labels
    good = {at for at, label in enumerate(labels) if (label or 0) >= good_gain_threshold}
    pooled = [match.document for _, match in sorted((turn.pooled or {}).items())]
    return {
        "pool_good": len(good),
        "pool_best": max((label for label in labels if label is not None), default=None),
        "pool_found": " ".join(
            str(pool.topic_pool.documents[at].number) for at in pooled if at in good
        ),
    }


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
        "pool.pooled": sum(match.verdict is None for match in pooled),
        "pool.matched": sum(match.verdict is not None for match in pooled),
        "pool.outside": len(documents) - len(pooled),
        "pool.outside_pool": outside_pool,
        "pool.weak_documents": sum(
            is_weak([turn.results[place] for place in places], rules) for places in documents
        ),
        "pool.conversations_without_topic": int(pool.topic.value is None),
        "pool.conversations_without_pool": int(searched and not pool.topic_pool.documents),
        "pool.conversations_without_good_documents": int(searched and not has_good),
    }
