"""The aspects that the documents of a folded turn cover (SPEC 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from goodgain.transforms.core.judgments.aspects import JudgedAspects
from goodgain.transforms.core.judgments.external_labels import TopicLabels, document_labels
from goodgain.transforms.core.metrics.turn import TurnAspects
from goodgain.transforms.core.pool.matching import TopicPool
from goodgain.transforms.core.ranking.aspects import Aspects, ListAspects, TopicAspects
from goodgain.transforms.core.ranking.ranked_list import HELD_COPY
from goodgain.transforms.core.scoring.fold import FoldedTurn, result_iterations
from goodgain.transforms.core.scoring.folded_conversation import FoldedConversation
from goodgain.transforms.core.scoring.ranked_lists import LabelledList
from goodgain.transforms.core.scoring.settings import Scoring

_DIGEST_BYTES = 8


class TurnCoverage(Struct, frozen=True):
    """What the documents of a turn cover.

    Attributes:
      covered: for each document, by index of its first occurrence, the iteration from which on it
        covers an aspect, by aspect.
      topic: what the judged documents of the topic cover.
    """

    turn: FoldedTurn
    covered: Mapping[int, Mapping[bytes, int]]
    topic: TopicAspects

    def of_turn(self, ranked: LabelledList) -> TurnAspects:
        """The aspects of the turn, with its ranked list."""
        return TurnAspects(list(self._by_rank(ranked)), self.topic)

    def of_call(self, ranked: LabelledList) -> ListAspects:
        """The aspects of the ranked list of one search call."""
        return ListAspects(list(map(Aspects, self._by_rank(ranked))), self.topic)

    def _by_rank(self, ranked: LabelledList) -> Iterator[Mapping[bytes, int]]:
        """What the document at each rank covers; nothing at the ranks of held copies."""
        for index, label in zip(ranked.places, ranked.labels, strict=True):
            duplicate = self.turn.duplicates[index]
            document = index if duplicate is None else duplicate.first
            yield {} if label == HELD_COPY else self.covered.get(document, {})


def coverage_of(folded: FoldedConversation, scoring: Scoring) -> TurnCoverage | None:
    """What the documents of a turn cover; None if aspects are not evaluated."""
    if not scoring.with_aspects:
        return None
    turn, pool = folded.turn, folded.pool
    if scoring.aspect_judgments is not None:
        judged: JudgedAspects = scoring.aspect_judgments.of(
            folded.conversation_id, folded.attributes
        )
        names = folded.kept.external
        documents = {} if names is None else names.documents
        return TurnCoverage(turn, _judged_coverage(turn, documents, judged), judged.topic)
    if pool is not None and scoring.pool is not None and scoring.pool.aspects:
        return TurnCoverage(
            turn, _pooled_coverage(turn, pool.topic_pool), pool.topic_pool.topic_aspects
        )
    own = _own_coverage(turn)
    in_order = tuple(Aspects(own[first]) for first in sorted(own))
    return TurnCoverage(turn, own, TopicAspects(in_order))


def _own_coverage(turn: FoldedTurn) -> dict[int, dict[bytes, int]]:
    """What the judged documents cover by the results of the turn."""
    numbers = result_iterations(turn.calls)
    covered: dict[int, dict[bytes, int]] = {}
    for index, (result, duplicate) in enumerate(zip(turn.results, turn.duplicates, strict=True)):
        if result.aspects is None or (duplicate is not None and turn.rises is None):
            continue
        of_document = covered.setdefault(index if duplicate is None else duplicate.first, {})
        for aspect in _digests(result.aspects):
            of_document.setdefault(aspect, numbers[index])
    return covered


def _pooled_coverage(turn: FoldedTurn, pool: TopicPool) -> dict[int, dict[bytes, int]]:
    """What the documents cover by the pool; those outside it, or not judged there, nothing."""
    numbers = result_iterations(turn.calls)
    return {
        index: dict.fromkeys(pool.aspects[pooled.document] or (), numbers[index])
        for index, pooled in (turn.pooled or {}).items()
    }


def _judged_coverage(
    turn: FoldedTurn, documents: Mapping[bytes, list[bytes]], judged: JudgedAspects
) -> dict[int, dict[bytes, int]]:
    """What the documents cover by judgments from outside, from their first occurrence on."""
    names = list(judged.names)
    numbered = TopicLabels(dict(documents), {name: at for at, name in enumerate(names)}, [])
    labels, _ = document_labels(turn.calls, turn.duplicates, numbered)
    numbers = result_iterations(turn.calls)
    return {
        index: dict.fromkeys(judged.names[names[label]], numbers[index])
        for index, (label, duplicate) in enumerate(zip(labels, turn.duplicates, strict=True))
        if duplicate is None and label is not None
    }


def _digests(joined: bytes) -> Iterable[bytes]:
    starts = range(0, len(joined), _DIGEST_BYTES)
    return (joined[start : start + _DIGEST_BYTES] for start in starts)
