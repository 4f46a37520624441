"""The judgments that a whole conversation needs, before it is scored (SPEC 6, 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from goodgain.transforms.core.dedup.fingerprint import CallFingerprint
from goodgain.transforms.core.judgments.judgment import LabelKeys, LabelRequest
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.search_call import SearchCall, canonical_encoding
from goodgain.transforms.core.scoring.delivery import deliver


class TopicRequest(Struct, frozen=True):
    """The judgments that one conversation needs.

    Attributes:
      topics: the topic of the conversation, none if it has none; all that it may have if that
        depends on texts which are not at hand.
      documents: the distinct names of its documents, sorted.
      without_name: number of results without a document name; 0 without a topic.
    """

    topics: list[str]
    documents: list[str]
    without_name: int


def topic_request(requests: Sequence[LabelRequest]) -> TopicRequest:
    """Join all requests of one conversation, in any order."""
    first = requests[0]
    keys = LabelKeys(topic_attribute=first.topic_attribute)
    records = [record for request in requests for record in request.records]
    found = {keys.topic(first.conversation_id, one) for one in _attributes(records)} - {""}
    return TopicRequest(
        sorted(found),
        sorted({name for request in requests for name in request.documents}),
        sum(request.without_name for request in requests) if found else 0,
    )


def _attributes(records: Sequence[SearchCall]) -> Iterable[dict[str, str]]:
    """The attributes of the conversation; if they cannot be told, those of each record."""
    if _places_need_results(records):
        return [record.attributes for record in records]
    return [deliver(map(_fingerprint, records)).attributes()]


def _fingerprint(record: SearchCall) -> CallFingerprint:
    return CallFingerprint(
        record.turn,
        record.iteration,
        record.call,
        record.timestamp,
        record.record_id,
        None,
        False,
        record.action,
        record.attributes,
        record_digest(record_encoding(record)),
        # It begins with the attributes, as that of the whole record does. So these decide wherever
        # they differ; where they do not, it does not matter which record counts.
        canonical_encoding(record),
        {},
        [],
    )


def _places_need_results(records: Iterable[SearchCall]) -> bool:
    """Whether a record with certain attributes may be at several places of the conversation."""
    places: dict[object, tuple[int, int, int]] = {}
    for one in records:
        place = one.turn, one.iteration, one.call or 0
        delivery = one.record_id, one.timestamp, *sorted(one.attributes.items())
        if one.record_id is not None and places.setdefault(delivery, place) != place:
            return True
    return False
