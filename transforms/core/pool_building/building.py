"""Builds the pool of one topic: documents are created and joined in three passes (SPEC 9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count

import xxhash
from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter, ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.pool.document import PoolDocument, PooledPlace, Topic, Vote
from goodgain.transforms.core.pool.index import PlaceKey, PoolIndex, is_weak, place_key
from goodgain.transforms.core.pool.order import DocumentOrder, document_order
from goodgain.transforms.core.pool_building.contribution import (
    Contribution,
    Occurrence,
    vote_of,
    without_label,
)

Conversation = tuple[str, str]  # run and conversation_id


class BuiltTopic(Struct, frozen=True):
    """The documents of a topic in the order in which they were added, and counts."""

    topic: Topic
    documents: list[PoolDocument]
    counts: dict[str, int]


class _Growing:
    """A pool document while documents join it."""

    def __init__(self, document: PoolDocument) -> None:
        self.before = document
        self.evidence = list(document.evidence)
        self.places = list(document.places)
        self.votes = list(document.votes)

    def finished(self) -> PoolDocument:
        return replace(
            self.before,
            evidence=tuple(self.evidence),
            places=tuple(sorted(self.places)),
            votes=tuple(sorted(self.votes)),
        )


class _PendingDocument(Struct, frozen=True):
    """A document to be added, and its place in the order."""

    order: DocumentOrder
    conversation: Conversation
    first_place: int
    occurrences: list[Occurrence]
    fingerprints: list[ResultFingerprint]

    @property
    def key(self) -> tuple[DocumentOrder, Conversation, int]:
        return self.order, self.conversation, self.first_place


def build_topic(
    topic: Topic,
    held: Sequence[PoolDocument],
    contributions: Iterable[Contribution],
    rules: RuleTable,
    fingerprinter: Fingerprinter,
    replaced: Collection[Conversation] = (),
) -> BuiltTopic:
    """The documents of a topic.

    Args:
      held: documents of the pool to update, which come first and keep their ids.
      contributions: contributions of the conversations to add, in any order.
      replaced: conversations whose places and votes are removed first. A result at the same place
        with the same evidence stays the same document, even if its evidence is weak, so that
        documents keep the labels added to them.
    """
    documents = [_Growing(without(document, replaced)) for document in held]
    index = PoolIndex(rules)
    names: dict[bytes, str] = {}
    joined: dict[Conversation, set[int]] = {}
    freed: dict[_Freed, list[tuple[int, int]]] = {}
    for number, document in enumerate(documents):
        index.found()
        fingerprints = [fingerprinter.result_fingerprint(one, names) for one in document.evidence]
        for result in fingerprints:
            index.register(number, result)
        for place in held[number].places:
            if (place.run, place.conversation_id) in replaced:
                key = _freed_key(place, fingerprints[place.evidence])
                freed.setdefault(key, []).append((place.at, number))
        for place in document.places:
            joined.setdefault((place.run, place.conversation_id), set()).add(number)
    ids = {document.before.document for document in documents}
    counts: Counter[str] = Counter()
    in_order = _in_order(contributions, rules, fingerprinter)
    before = _pooled_before(in_order, freed, joined)
    for waiting in in_order:
        taken = joined.setdefault(waiting.conversation, set())
        known = before.get((waiting.conversation, waiting.first_place))
        if known is None:
            match = index.first_match(waiting.fingerprints, taken)
            known = None if match is None else match.document
        number = index.found() if known is None else known
        if known is None:
            documents.append(_Growing(_founded(topic, number, waiting, ids)))
        taken.add(number)
        _join(documents[number], waiting, number, index)
        counts["pool.results"] += len(waiting.occurrences)
        counts["pool.documents_of_conversations"] += 1
        counts["pool.weak_documents"] += is_weak(waiting.fingerprints, rules)
    counts["pool.candidates_cut"] = index.cut
    return BuiltTopic(topic, [document.finished() for document in documents], dict(counts))


_Freed = tuple[Conversation, PlaceKey]


def _freed_key(place: PooledPlace, result: ResultFingerprint) -> _Freed:
    return (place.run, place.conversation_id), place_key(place, place.rank, result)


def _pooled_before(
    documents: Iterable[_PendingDocument],
    freed: dict[_Freed, list[tuple[int, int]]],
    joined: dict[Conversation, set[int]],
) -> dict[tuple[Conversation, int], int]:
    """For each conversation and first place, the document that it was part of before.

    Args:
      freed: indexes of the places to replace, each with the number of its document.
      joined: by conversation, the numbers of its documents; updated.
    """
    if not freed:
        return {}
    free = {key: sorted(numbers) for key, numbers in freed.items()}
    occurrences = sorted(
        (
            (one.conversation, occurrence.place.at, one.first_place),
            _freed_key(occurrence.place, result),
        )
        for one in documents
        for occurrence, result in zip(one.occurrences, one.fingerprints, strict=True)
    )
    candidates: dict[tuple[Conversation, int], list[int]] = {}
    for (conversation, _, first_place), key in occurrences:
        if places := free.get(key):
            candidates.setdefault((conversation, first_place), []).append(places.pop(0)[1])
    before: dict[tuple[Conversation, int], int] = {}
    for (conversation, first_place), numbers in sorted(candidates.items()):
        taken = joined.setdefault(conversation, set())
        number = next((one for one in numbers if one not in taken), None)
        if number is not None:
            taken.add(number)
            before[conversation, first_place] = number
    return before


def without(document: PoolDocument, replaced: Collection[Conversation]) -> PoolDocument:
    """A document without the places and votes of some conversations; its evidence stays."""
    if not replaced:
        return document
    return replace(
        document,
        places=tuple(p for p in document.places if (p.run, p.conversation_id) not in replaced),
        votes=tuple(v for v in document.votes if (v.run, v.conversation_id) not in replaced),
    )


def _in_order(
    contributions: Iterable[Contribution], rules: RuleTable, fingerprinter: Fingerprinter
) -> list[_PendingDocument]:
    waiting = []
    names: dict[bytes, str] = {}
    for contribution in contributions:
        conversation = contribution.run, contribution.conversation_id
        for occurrences in contribution.documents:
            results = [one.result for one in occurrences]
            waiting.append(
                _PendingDocument(
                    document_order(results, rules),
                    conversation,
                    occurrences[0].place.at,
                    occurrences,
                    [fingerprinter.result_fingerprint(result, names) for result in results],
                )
            )
    return sorted(waiting, key=lambda one: one.key)


def _founded(topic: Topic, number: int, waiting: _PendingDocument, ids: set[str]) -> PoolDocument:
    """A document with an id that depends only on its topic and its first evidence."""
    _, weights = waiting.order
    evidence = [(type_, text.decode()) for _, type_, text in weights]
    name = xxhash.xxh3_64_hexdigest(repr((topic.value, topic.conversation_id, evidence)).encode())
    # Only evidence that is too weak to match itself can create two documents.
    free = next(one for one in chain([name], (f"{name}-{n}" for n in count(2))) if one not in ids)
    ids.add(free)
    return PoolDocument(topic, number + 1, free, (), (), ())


def _join(document: _Growing, waiting: _PendingDocument, number: int, index: PoolIndex) -> None:
    for occurrence, result_fingerprint in zip(
        waiting.occurrences, waiting.fingerprints, strict=True
    ):
        evidence = index.register(number, result_fingerprint)
        if evidence == len(document.evidence):
            document.evidence.append(without_label(occurrence.result))
        document.places.append(replace(occurrence.place, evidence=evidence))
    gain = vote_of(waiting.occurrences)
    if gain is not None:
        document.votes.append(Vote(*waiting.conversation, gain))
