"""Results that a benchmark leaves out of a topic, like the question's own document (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace
from xxhash import xxh32_intdigest

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.judgments.external_labels import name_digests
from goodgain.transforms.core.judgments.judgment import LabelKeys, document_digest
from goodgain.transforms.core.records.record_encoding import decode_record, record_encoding

NamesByCall = Mapping[bytes, Sequence[bytes]]  # as `ExternalLabels.documents`
_NOTHING: frozenset[bytes] = frozenset()


class Exclusions(Struct, frozen=True):
    """Documents that are excluded from topics.

    Attributes:
      keys: how they are matched to results.
      by_topic: by name of the topic, the digests of the names of documents.
      number: how many pairs of topic and document there are.
      digest: equal for equal exclusions.

    Example:
      >>> from goodgain import Exclusions, LabelKeys, Scoring
      >>> left_out = Exclusions.of_pairs(LabelKeys("doc_id"), [("q1", "d7"), ("q1", "d9")])
      >>> Scoring.default(exclusions=left_out).exclusions.number
      2
    """

    keys: LabelKeys
    by_topic: dict[str, frozenset[bytes]]
    number: int
    digest: str

    @classmethod
    def of_pairs(cls, keys: LabelKeys, pairs: Iterable[tuple[str, str]]) -> Exclusions:
        """The exclusions of pairs of topic and document, in any order and number."""
        topics: dict[str, set[bytes]] = {}
        distinct = set(pairs)
        for topic, document in distinct:
            topics.setdefault(topic, set()).add(document_digest(document))
        digest = sum(
            xxh32_intdigest(f"{topic}\n{document}".encode()) for topic, document in distinct
        )
        by_topic = {topic: frozenset(names) for topic, names in topics.items()}
        return cls(keys, by_topic, len(distinct), f"{digest:x}")

    def of_conversation(
        self, conversation_id: str, attributes: Mapping[str, str]
    ) -> frozenset[bytes]:
        """The digests of the names that are excluded from a conversation."""
        return self.by_topic.get(self.keys.topic(conversation_id, attributes), _NOTHING)

    def excludes(self, topic: str, document: str) -> bool:
        """Whether a document, by name, is excluded from a topic."""
        return document_digest(document) in self.by_topic.get(topic, _NOTHING)


class KeptResults(Struct, frozen=True):
    """The results of a conversation without those that are excluded.

    Attributes:
      calls: with the results that are left; a call may have none.
      documents: the names of these, as in `ExternalLabels`.
      indexes: by record_digest, where they stood in their call.
    """

    calls: list[CallFingerprint]
    documents: dict[bytes, list[bytes]]
    indexes: dict[bytes, list[int]]


def keep_results(
    calls: Iterable[CallFingerprint], documents: NamesByCall, excluded: frozenset[bytes]
) -> KeptResults:
    """Take results out of calls that have an excluded name.

    Args:
      documents: the names of the results, as in `ExternalLabels`.
    """
    kept = KeptResults([], {}, {})
    for call in calls:
        names = documents.get(call.record_digest) or [b""] * len(call.results)
        indexes = [at for at, name in enumerate(names) if excluded.isdisjoint(name_digests(name))]
        kept.calls.append(replace(call, results=[call.results[at] for at in indexes]))
        kept.documents[call.record_digest] = [names[at] for at in indexes]
        kept.indexes[call.record_digest] = indexes
    return kept


def keep_in_records(
    calls: Iterable[CallFingerprint], indexes: Mapping[bytes, Sequence[int]]
) -> list[CallFingerprint]:
    """Calls whose records, which pools need, have only the results that are left, too.

    Args:
      indexes: as in `KeptResults`; of a record that is missing, all are left.
    """
    return [
        replace(call, record=_with_results(call.record, indexes[call.record_digest]))
        if call.record is not None and call.record_digest in indexes
        else call
        for call in calls
    ]


def _with_results(encoded: bytes, indexes: Sequence[int]) -> bytes:
    record = decode_record(encoded)
    return record_encoding(replace(record, results=[record.results[at] for at in indexes]))
