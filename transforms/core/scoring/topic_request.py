"""The judgments that a whole conversation needs, before it is scored (SPEC 6, 8)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.delivery import deliver


class TopicRequest(Struct, frozen=True):
    """The judgments that one conversation needs.

    Attributes:
      topic: the topic of the conversation; "" if it has none.
      documents: the distinct names of its documents, sorted.
      without_name: number of results without a document name; 0 without a topic.
    """

    topic: str
    documents: list[str]
    without_name: int


def topic_request(requests: Sequence[LabelRequest]) -> TopicRequest:
    """Join all requests of one conversation, in any order."""
    first = requests[0]
    keys = LabelKeys(qrels_topic=first.topic_attribute)
    attributes = {} if keys.qrels_topic is None else _attributes(requests)
    topic = keys.topic(first.conversation_id, attributes)
    return TopicRequest(
        topic,
        sorted({name for request in requests for name in request.documents}),
        sum(request.without_name for request in requests) if topic else 0,
    )


def _attributes(requests: Sequence[LabelRequest]) -> dict[str, str]:
    """The attributes of the conversation that the requests are of."""
    records = {digest: record for request in requests for digest, record in request.records.items()}
    return deliver(map(_fingerprint, records.values(), records)).attributes()


def _fingerprint(record: SearchCall, digest: str) -> CallFingerprint:
    return CallFingerprint(
        record.turn,
        record.iteration,
        record.call,
        record.timestamp,
        record.record_id,
        turn_count=None,
        is_final=False,
        action=record.action,
        attributes=record.attributes,
        record_digest=bytes.fromhex(digest),
        record=None,
        names={},
        results=[],
    )
