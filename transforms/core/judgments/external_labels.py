"""Replaces the labels of the traces by external judgments (SPEC 8, external qrels).

The judgments of a conversation are part of its payloads, in any number of parts and copies: merging
them is idempotent and independent of order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.dedup.duplicates import Duplicate
from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.judgments.judgment import DIGEST_BYTES, LabelKeys, document_digest
from goodgain.transforms.core.records.search_call import GREATEST_GAIN, SearchCall

GRADES = GREATEST_GAIN + 1


class ExternalLabels(Struct, frozen=True, array_like=True):
    """The external judgments for the results of one conversation, or a part of them.

    Attributes:
      documents: for each call's record_digest, by rank, the concatenated digests of the result's
        document names.
      labels: for each topic, the gains of documents that are judged and were retrieved, by digest.
      pools: for each topic, how many documents are judged with gain 0, 1, .. 4, retrieved or not.
    """

    documents: dict[bytes, list[bytes]] = {}
    labels: dict[str, dict[bytes, int]] = {}
    pools: dict[str, list[int]] = {}

    def of_topic(self, topic: str) -> TopicLabels:
        """The judgments of one topic."""
        pool = enumerate(self.pools.get(topic, ()))
        return TopicLabels(
            self.documents,
            self.labels.get(topic, {}),
            [gain for gain, documents in pool for _ in range(documents)],
        )


class TopicLabels(Struct, frozen=True):
    """The external judgments for the results of one conversation by the topic that it has.

    Attributes:
      documents: as in `ExternalLabels`.
      labels: gain by document digest.
      pool: the gains of all judged documents of the topic, retrieved or not.
    """

    documents: dict[bytes, list[bytes]]
    labels: dict[bytes, int]
    pool: list[int]


def document_digests(call: SearchCall, keys: LabelKeys) -> list[bytes]:
    """The entry of `ExternalLabels.documents` for a call."""
    return [b"".join(map(document_digest, names)) for names in keys.documents(call)]


def merge_labels(parts: Iterable[ExternalLabels]) -> ExternalLabels:
    """Merge all parts of one conversation."""
    whole = ExternalLabels({}, {}, {})
    for part in parts:
        whole.documents.update(part.documents)
        for topic, labels in part.labels.items():
            whole.labels.setdefault(topic, {}).update(labels)
        whole.pools.update(part.pools)
    return whole


def relabel_calls(calls: Sequence[CallFingerprint], external: TopicLabels) -> list[CallFingerprint]:
    """The calls with external gains: that of the result's first judged name, or None.

    These are the labels of results; `document_labels` decides which of them labels a document. The
    identity of a record (SPEC 3) does not change.
    """
    return [
        replace(
            call,
            results=[
                replace(result, gain=external.labels[judged[0]] if judged else None)
                for result, judged in zip(call.results, _judged_names(call, external), strict=True)
            ],
        )
        for call in calls
    ]


def document_labels(
    calls: Sequence[CallFingerprint],
    duplicates: Sequence[Duplicate | None],
    external: TopicLabels,
) -> tuple[list[int | None], dict[int, int]]:
    """Label each document of a turn, in the order of first occurrences (SPEC 8).

    A document takes the first judged name, over its occurrences and their names in order, that no
    earlier document has taken. So a name that only a copy has is found, and each judgment counts
    once.

    Args:
      duplicates: by index in the turn; None for first occurrences.

    Returns:
      By index in the turn, the label of the document there; None = unjudged. And the documents left
      unlabelled because all of their judged names already label earlier documents: for each, by
      index of its first occurrence, the index of the document that took the first of these names.
    """
    documents = [
        index if duplicate is None else duplicate.first
        for index, duplicate in enumerate(duplicates)
    ]
    names: dict[int, list[bytes]] = {}  # by document, in the order of first occurrences
    results = (judged for call in calls for judged in _judged_names(call, external))
    for document, judged in zip(documents, results, strict=True):
        names.setdefault(document, []).extend(judged)
    taken: dict[bytes, int] = {}
    labels: dict[int, int] = {}
    met_again: dict[int, int] = {}
    for document, judged in names.items():
        name = next((name for name in judged if name not in taken), None)
        if name is not None:
            taken[name] = document
            labels[document] = external.labels[name]
        elif judged:
            met_again[document] = taken[judged[0]]
    return list(map(labels.get, documents)), met_again


def _judged_names(call: CallFingerprint, external: TopicLabels) -> Iterator[list[bytes]]:
    """The judged names of each result by rank, in order."""
    documents = external.documents.get(call.record_digest, [b""] * len(call.results))
    for names in documents:
        yield [digest for digest in name_digests(names) if digest in external.labels]


def name_digests(names: bytes) -> Iterator[bytes]:
    """The digests of the names of one result, from their concatenation."""
    return (names[at : at + DIGEST_BYTES] for at in range(0, len(names), DIGEST_BYTES))
