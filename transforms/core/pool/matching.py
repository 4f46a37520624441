"""Matches a turn's documents with those of the topic's pool: keys propose, verification decides.

The definition is in SPEC 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.fingerprint import (
    CallFingerprint,
    Fingerprinter,
    ResultFingerprint,
)
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.dedup.verification import Verdict
from goodgain.transforms.core.pool.document import PoolDocument, PooledPlace, Topic
from goodgain.transforms.core.pool.document_order import document_order
from goodgain.transforms.core.pool.index import PoolIndex, same_evidence
from goodgain.transforms.core.ranking.aspects import TopicAspects, aspects_of
from goodgain.transforms.core.records.record_encoding import decode_record
from goodgain.transforms.core.records.search_call import SearchCall

PlaceKey = tuple[int, int, int | None, str | None, int, bytes, bytes]


def place_key(
    place: PooledPlace | CallFingerprint, rank: int, result: ResultFingerprint
) -> PlaceKey:
    """A key that is equal for results of a conversation at one place with the same evidence."""
    at = place.turn, place.iteration, place.call, place.record_id
    return *at, rank, *same_evidence(result)


def documents_of(duplicates: Sequence[Duplicate | None]) -> list[list[int]]:
    """For each document, the indexes of its occurrences; in the order of the turn.

    Args:
      duplicates: by index in the turn; None for first occurrences.
    """
    by_first: dict[int, list[int]] = {}
    for index, duplicate in enumerate(duplicates):
        by_first.setdefault(index if duplicate is None else duplicate.first, []).append(index)
    return list(by_first.values())


def records_of(calls: Iterable[CallFingerprint]) -> Iterator[SearchCall]:
    """The records that fingerprints were made from, decoded.

    Raises:
      ValueError: a fingerprint has no record.
    """
    for call in calls:
        if call.record is None:
            raise ValueError("pools need fingerprints that keep their records")
        yield decode_record(call.record)


class Pooled(Struct, frozen=True):
    """The pool document that a document of the turn matches.

    Attributes:
      document: number of the pool document, from 0.
      verdict: why it matches; None if this result itself was pooled.
    """

    document: int
    verdict: Verdict | None


class TopicPool:
    """The pool of one topic, ready for scoring, which does not change it.

    Attributes:
      documents: in the order in which they were added.
      labels: of each, the label that counts.
      aspects: of each, the aspects that it covers; None if it was not judged for aspects.
    """

    def __init__(
        self,
        documents: Iterable[PoolDocument],
        rules: RuleTable,
        fingerprinter: Fingerprinter,
        preferred: str | None = None,
    ) -> None:
        """Index the evidence of `documents`; `preferred` as in `PoolDocument.label`."""
        self.documents = tuple(documents)
        self.labels = tuple(document.label(preferred) for document in self.documents)
        covered = [document.covered_aspects(preferred) for document in self.documents]
        self.aspects = tuple(None if names is None else aspects_of(names) for names in covered)
        self._rules = rules
        self._index = PoolIndex(rules)
        # For each conversation, run, index, key and document of its places, in order.
        self._places: dict[str, list[tuple[str, int, PlaceKey, int]]] = {}
        names: dict[bytes, str] = {}
        for number, document in enumerate(self.documents):
            self._index.add_document()
            fingerprints = [
                fingerprinter.result_fingerprint(result, names) for result in document.evidence
            ]
            for result in fingerprints:
                self._index.register(number, result)
            for place in document.places:
                key = place_key(place, place.rank, fingerprints[place.evidence])
                places = self._places.setdefault(place.conversation_id, [])
                places.append((place.run, place.at, key, number))
        for places in self._places.values():
            places.sort(key=lambda place: place[:2])

    @cached_property
    def topic_aspects(self) -> TopicAspects:
        """What the judged documents of the topic cover."""
        return TopicAspects(tuple(aspects for aspects in self.aspects if aspects is not None))

    def match(
        self,
        conversation_id: str,
        calls: Sequence[CallFingerprint],
        duplicates: Sequence[Duplicate | None],
        run: str | None = None,
    ) -> dict[int, Pooled]:
        """The pool document of each first occurrence, by index; those outside the pool are missing.

        Args:
          calls: calls of the turn, in order, with their records.
          duplicates: by index in the turn; None for first occurrences.
          run: the name under which the turn was pooled, if only places of that run should count.
        """
        documents = documents_of(duplicates)
        pooled = self._that_were_pooled(conversation_id, calls, documents, run)
        taken = {match.document for match in pooled.values()}
        results = [result for call in calls for result in call.results]
        for indexes in self._in_order(
            calls, [document for document in documents if document[0] not in pooled]
        ):
            match = self._index.find_first_match([results[index] for index in indexes], taken)
            if match is not None:
                pooled[indexes[0]] = Pooled(*match)
                taken.add(match[0])
        return pooled

    def _that_were_pooled(
        self,
        conversation_id: str,
        calls: Sequence[CallFingerprint],
        documents: Sequence[Sequence[int]],
        run: str | None,
    ) -> dict[int, Pooled]:
        free: dict[PlaceKey, list[int]] = {}
        for pooled_run, _, key, number in self._places.get(conversation_id, ()):
            if run in (None, pooled_run):
                free.setdefault(key, []).append(number)
        if not free:
            return {}
        pooled_as: dict[int, int] = {}
        keys = (
            place_key(call, at, result)
            for call in calls
            for at, result in enumerate(call.results, 1)
        )
        for index, key in enumerate(keys):
            if numbers := free.get(key):
                pooled_as[index] = numbers.pop(0)
        pooled: dict[int, Pooled] = {}
        taken: set[int] = set()
        for indexes in documents:
            candidates = (pooled_as[index] for index in indexes if index in pooled_as)
            document = next((candidate for candidate in candidates if candidate not in taken), None)
            if document is not None:
                taken.add(document)
                pooled[indexes[0]] = Pooled(document, None)
        return pooled

    def _in_order(
        self, calls: Sequence[CallFingerprint], documents: list[list[int]]
    ) -> list[list[int]]:
        """The documents in the order in which `pool build` would add them."""
        if len(documents) < 2:
            return documents
        results = [result for call in records_of(calls) for result in call.results]
        return sorted(
            documents,
            key=lambda indexes: (
                document_order([results[index] for index in indexes], self._rules),
                indexes[0],
            ),
        )


class TurnPool(Struct, frozen=True):
    """The pool that a turn is scored with.

    Attributes:
      run: the name under which the turn was pooled, if only places of that run should count.
    """

    topic: Topic
    topic_pool: TopicPool
    conversation_id: str
    run: str | None = None
