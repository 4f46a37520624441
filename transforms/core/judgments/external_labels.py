"""Put labels from outside in the place of those of the traces (SPEC 8, external qrels).

What a conversation needs travels in its payloads, in any number of parts and copies: merging parts
is idempotent and free of order.
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
    """What is known from outside about the results of one conversation; a part or all of it.

    Attributes:
      documents: by record_digest of a call, by rank, the digests of the result's document names,
        one behind another in order.
      labels: gain by document digest, of those that are judged and were retrieved.
      pools: by topic, how many documents are judged with gain 0, 1, .. 4, retrieved or not.
    """

    documents: dict[bytes, list[bytes]] = {}
    labels: dict[bytes, int] = {}
    pools: dict[str, list[int]] = {}


def document_digests(call: SearchCall, keys: LabelKeys) -> list[bytes]:
    """By rank, what `ExternalLabels.documents` holds of a call; empty when it has no topic."""
    topic = keys.topic(call.conversation_id, call.attributes)
    if not topic:
        return []
    return [
        b"".join([document_digest(topic, name) for name in names]) for names in keys.documents(call)
    ]


def merged(parts: Iterable[ExternalLabels]) -> ExternalLabels:
    """All parts of one conversation together."""
    whole = ExternalLabels({}, {}, {})
    for part in parts:
        whole.documents.update(part.documents)
        whole.labels.update(part.labels)
        whole.pools.update(part.pools)
    return whole


def relabelled(calls: Sequence[CallFingerprint], external: ExternalLabels) -> list[CallFingerprint]:
    """The calls with every gain from outside: that of the result's first judged name, or None.

    These are the labels that the results carry; which of them labels a document is for
    `document_labels` to say. What identifies a record (SPEC 3) stays that of the trace.
    """
    return [
        replace(
            call,
            results=[
                replace(result, gain=external.labels[judged[0]] if judged else None)
                for result, judged in zip(call.results, _judged(call, external), strict=True)
            ],
        )
        for call in calls
    ]


class DocumentLabels(Struct, frozen=True):
    """Which judgment labels which document of a turn.

    Attributes:
      labels: by place in the turn, the label of the document that stands there; None = unjudged.
      met_again: documents all of whose judged names label earlier documents, by place of the
        first occurrence; with the place of the document that the first of these names labels.
    """

    labels: list[int | None]
    met_again: dict[int, int]


def document_labels(
    calls: Sequence[CallFingerprint],
    duplicates: Sequence[Duplicate | None],
    external: ExternalLabels,
) -> DocumentLabels:
    """Label each document of a turn, in the order of first occurrences (SPEC 8).

    A document takes the first judged name, over its occurrences in order and their names in order,
    that no earlier document has taken. So a name that only a copy carries is found, and a judgment
    counts once.

    Args:
      calls: of the turn, in order.
      duplicates: by place in the turn, None for first occurrences.
      external: the judgments.
    """
    documents = [
        place if duplicate is None else duplicate.first
        for place, duplicate in enumerate(duplicates)
    ]
    names: dict[int, list[bytes]] = {}  # by document, in its order of first occurrences
    results = (judged for call in calls for judged in _judged(call, external))
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
    return DocumentLabels(list(map(labels.get, documents)), met_again)


def _judged(call: CallFingerprint, external: ExternalLabels) -> Iterator[list[bytes]]:
    """By rank, the judged names of each result, in order."""
    documents = external.documents.get(call.record_digest) or [b""] * len(call.results)
    for names in documents:
        starts = range(0, len(names), DIGEST_BYTES)
        digests = (names[start : start + DIGEST_BYTES] for start in starts)
        yield [digest for digest in digests if digest in external.labels]


def external_pool(
    conversation_id: str,
    calls: Sequence[CallFingerprint],
    attributes: dict[str, str],
    keys: LabelKeys,
    external: ExternalLabels,
) -> list[int]:
    """Gains of all judged documents of the conversation's topics, retrieved or not.

    Args:
      calls: of the last turn, each of which tells a topic.
      attributes: of the conversation, which give the topic if the last turn did not search.
    """
    of_calls = [call.attributes for call in calls] or [attributes]
    topics = {keys.topic(conversation_id, own) for own in of_calls}
    pool: list[int] = []
    for topic in sorted(topics & external.pools.keys()):
        for gain, documents in enumerate(external.pools[topic]):
            pool += [gain] * documents
    return pool
