"""Builds the pool of one topic from the contributions of conversations (SPEC 9).

Documents are created and joined in three passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, count
from operator import attrgetter

import xxhash
from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.fingerprint import Fingerprinter, ResultFingerprint
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.pool.document import PoolDocument, PooledPlace, Topic, Vote
from goodgain.transforms.core.pool.document_order import DocumentOrder, document_order
from goodgain.transforms.core.pool.index import PoolIndex, is_weak
from goodgain.transforms.core.pool.matching import PlaceKey, place_key
from goodgain.transforms.core.pool_building.contribution import (
    Contribution,
    Occurrence,
)

Conversation = tuple[str, str]  # run and conversation_id


class BuiltTopic(Struct, frozen=True):
    """The documents of a topic in the order in which they were added, and counts."""

    topic: Topic
    documents: list[PoolDocument]
    counts: dict[str, int]


class _DocumentBuilder:
    """A pool document while documents join it."""

    def __init__(self, document: PoolDocument) -> None:
        self.before = document
        self.evidence = list(document.evidence)
        self.places = list(document.places)
        self.votes = list(document.votes)

    def finish(self) -> PoolDocument:
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


def build_topic(
    topic: Topic,
    existing: Sequence[PoolDocument],
    contributions: Iterable[Contribution],
    rules: RuleTable,
    fingerprinter: Fingerprinter,
    replaced: Collection[Conversation] = (),
) -> BuiltTopic:
    """The documents of a topic.

    Args:
      existing: documents of the pool to update, which come first and keep their ids.
      contributions: contributions of the conversations to add, in any order.
      replaced: conversations whose places and votes are removed first. A result at the same place
        with the same evidence stays the same document, even if its evidence is weak, so that
        documents keep the labels added to them.
    """
    documents = [_DocumentBuilder(drop_conversations(document, replaced)) for document in existing]
    index = PoolIndex(rules)
    names: dict[bytes, str] = {}
    joined: dict[Conversation, set[int]] = {}
    freed: dict[_Freed, list[tuple[int, int]]] = {}
    for number, document in enumerate(documents):
        index.add_document()
        fingerprints = [
            fingerprinter.result_fingerprint(evidence, names) for evidence in document.evidence
        ]
        for result in fingerprints:
            index.register(number, result)
        for place in existing[number].places:
            if (place.run, place.conversation_id) in replaced:
                key = _key_of_freed(place, fingerprints[place.evidence])
                freed.setdefault(key, []).append((place.at, number))
        for place in document.places:
            joined.setdefault((place.run, place.conversation_id), set()).add(number)
    ids = {document.before.document for document in documents}
    counts: Counter[str] = Counter()
    in_order = _in_order(contributions, rules, fingerprinter)
    before = _earlier_documents(in_order, freed, joined)
    for pending in in_order:
        taken = joined.setdefault(pending.conversation, set())
        known = before.get((pending.conversation, pending.first_place))
        if known is None:
            match = index.find_first_match(pending.fingerprints, taken)
            known = None if match is None else match[0]
        number = index.add_document() if known is None else known
        if known is None:
            documents.append(_DocumentBuilder(_new_document(topic, number, pending, ids)))
        taken.add(number)
        _join(documents[number], pending, number, index)
        counts["pool.results"] += len(pending.occurrences)
        counts["pool.documents_of_conversations"] += 1
        counts["pool.weak_documents"] += is_weak(pending.fingerprints, rules)
    counts["pool.candidates_cut"] = index.cut
    return BuiltTopic(topic, [document.finish() for document in documents], dict(counts))


_Freed = tuple[Conversation, PlaceKey]


def _key_of_freed(place: PooledPlace, result: ResultFingerprint) -> _Freed:
    return (place.run, place.conversation_id), place_key(place, place.rank, result)


def _earlier_documents(
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
            (document.conversation, occurrence.place.at, document.first_place),
            _key_of_freed(occurrence.place, result),
        )
        for document in documents
        for occurrence, result in zip(document.occurrences, document.fingerprints, strict=True)
    )
    candidates: dict[tuple[Conversation, int], list[int]] = {}
    for (conversation, _, first_place), key in occurrences:
        if places := free.get(key):
            candidates.setdefault((conversation, first_place), []).append(places.pop(0)[1])
    before: dict[tuple[Conversation, int], int] = {}
    for (conversation, first_place), numbers in sorted(candidates.items()):
        taken = joined.setdefault(conversation, set())
        number = next((number for number in numbers if number not in taken), None)
        if number is not None:
            taken.add(number)
            before[conversation, first_place] = number
    return before


def drop_conversations(document: PoolDocument, replaced: Collection[Conversation]) -> PoolDocument:
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
    pending = []
    names: dict[bytes, str] = {}
    for contribution in contributions:
        conversation = contribution.run, contribution.conversation_id
        for occurrences in contribution.documents:
            results = [occurrence.result for occurrence in occurrences]
            pending.append(
                _PendingDocument(
                    document_order(results, rules),
                    conversation,
                    occurrences[0].place.at,
                    occurrences,
                    [fingerprinter.result_fingerprint(result, names) for result in results],
                )
            )
    return sorted(pending, key=attrgetter("order", "conversation", "first_place"))


def _new_document(
    topic: Topic, number: int, pending: _PendingDocument, ids: set[str]
) -> PoolDocument:
    """A document with an id that depends only on its topic and its first evidence."""
    _, weights = pending.order
    evidence = [(type_, text.decode()) for _, type_, text in weights]
    # Not `repr`, which escapes what the running version of Unicode does not assign.
    text = ascii((topic.value, topic.conversation_id, evidence))
    name = xxhash.xxh3_64_hexdigest(text.encode())
    # Only evidence that is too weak to match itself can create two documents.
    free = next(
        candidate
        for candidate in chain([name], (f"{name}-{n}" for n in count(2)))
        if candidate not in ids
    )
    ids.add(free)
    return PoolDocument(topic, number + 1, free, (), (), ())


def _join(
    document: _DocumentBuilder, pending: _PendingDocument, number: int, index: PoolIndex
) -> None:
    for occurrence, result_fingerprint in zip(
        pending.occurrences, pending.fingerprints, strict=True
    ):
        evidence = index.register(number, result_fingerprint)
        if evidence == len(document.evidence):
            kept = replace(occurrence.result, gain=None, score=None, reference_id=None)
            document.evidence.append(kept)
        elif document.evidence[evidence].aspects is None:
            judged = replace(document.evidence[evidence], aspects=occurrence.result.aspects)
            document.evidence[evidence] = judged
        document.places.append(replace(occurrence.place, evidence=evidence))
    gains = [
        occurrence.result.gain
        for occurrence in pending.occurrences
        if occurrence.result.gain is not None
    ]
    if gains:  # a conversation votes with the label of its first labelled occurrence
        document.votes.append(Vote(*pending.conversation, gains[0]))
