"""What each conversation, document and topic does in the joins of `JoinQrels` (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput
from apache_beam.utils.windowed_value import WindowedValue
from xxhash import xxh3_128_digest

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.joining import DocumentJudgments, JoinCounts
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    LabelRequest,
    document_digest,
)
from goodgain.transforms.core.judgments.similar_names import plain_name
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.topic_request import topic_request
from goodgain.transforms.gather import Pair
from goodgain.transforms.times import stamp_at_end_of_global_window

PROBLEMS = "problems"
TOPICS = "topics"
COUNTS = "counts"
_MOST_HELD = 100_000  # labels, and topics, that a bundle buffers before it emits them

# The first byte of a grouped value tells requests from judgments. Those under a name that is not in
# its plain form are also sent, by their names alone, to that form.
_REQUEST = b"a"
_JUDGMENT = b"j"
_OTHERWISE_ASKED = b"o"
_OTHERWISE_JUDGED = b"p"

_requests = StructCoder(LabelRequest)
_encode = msgspec.msgpack.Encoder().encode
_decode_judgment = msgspec.msgpack.Decoder(Judgment).decode
_decode_pool = msgspec.msgpack.Decoder(list[int]).decode


def key_by_conversation(labels: LabelRequest) -> Pair:
    """A request under its conversation_id."""
    return labels.conversation_id.encode(), _requests.encode(labels)


def key_by_document(judgment: Judgment, exclusions: Exclusions | None) -> Iterator[Pair]:
    """A judgment under its topic and document, and its name under the plain form of that."""
    topic, name = judgment.topic, judgment.document
    yield _document_key(topic, name), _JUDGMENT + _encode(judgment)
    plain = plain_name(name)
    if plain == name or judgment.gain is None or _is_excluded(exclusions, topic, name):
        return
    yield _document_key(topic, plain), _OTHERWISE_JUDGED + name.encode()


def _is_excluded(exclusions: Exclusions | None, topic: str, name: str) -> bool:
    return exclusions is not None and exclusions.excludes(topic, name)


def _document_key(topic: str, document: str) -> bytes:
    """A digest, since all documents of a conversation would repeat a long name of its topic."""
    return xxh3_128_digest(_encode((topic, document)))


class _CountingDoFn(beam.DoFn):
    """A DoFn that sums counts during a bundle and outputs them at its end."""

    def start_bundle(self) -> None:
        """Begin to count."""
        self._counts = JoinCounts()

    def _emit_counts(self) -> Iterator[TaggedOutput]:
        if counts := {name: count for name, count in self._counts.by_name().items() if count}:
            yield TaggedOutput(COUNTS, stamp_at_end_of_global_window(counts))


class RequestJudgments(_CountingDoFn):
    """Requests of one conversation for judgments, keyed by document and by topic."""

    def process(
        self, conversation: tuple[bytes, Iterable[bytes]]
    ) -> Iterator[WindowedValue | TaggedOutput]:
        """Request each document, and the pool of the topic."""
        conversation_id, requests = conversation
        labels = topic_request(list(map(_requests.decode, requests)))
        self._counts.results_without_id += labels.without_name
        request = _REQUEST + conversation_id
        if not labels.topic:
            return
        yield TaggedOutput(TOPICS, stamp_at_end_of_global_window((labels.topic.encode(), request)))
        for document in labels.documents:
            yield stamp_at_end_of_global_window((_document_key(labels.topic, document), request))
            plain = plain_name(document)
            if plain != document:
                asked = _OTHERWISE_ASKED + document.encode()
                yield stamp_at_end_of_global_window((_document_key(labels.topic, plain), asked))

    def finish_bundle(self) -> Iterator[TaggedOutput]:
        """Emit the counts."""
        return self._emit_counts()


class LabelDocument(_CountingDoFn):
    """Sends a document's judgment to the conversations that need it and to the topic's pool."""

    def __init__(self, exclusions: Exclusions | None) -> None:
        self._exclusions = exclusions

    def start_bundle(self) -> None:
        """Begin with nothing held."""
        super().start_bundle()
        # By conversation and topic.
        self._labels: dict[tuple[str, str], dict[bytes, int]] = {}
        self._held = 0
        self._pools: dict[str, list[int]] = {}

    def process(
        self, document: tuple[bytes, Iterable[bytes]]
    ) -> Iterator[WindowedValue | TaggedOutput]:
        """Label one document wherever it was found, and count it in the pool of its topic."""
        _, values = document
        place, judged = _judgments_in(values)
        excluded = place is not None and _is_excluded(self._exclusions, *place)
        gain = None if excluded else judged.gain
        self._counts.similar_names += _similar_names(values, gain)
        if place is None:
            return
        topic, name = place
        if (problem := judged.problem(topic, name)) is not None:
            yield TaggedOutput(PROBLEMS, problem)
            return
        if excluded:
            self._counts.add_document(topic, name, judged, retrieved=False, excluded=True)
            return
        if topic not in self._pools and len(self._pools) >= _MOST_HELD:
            yield from self._emit_pools()
        pool = self._pools.setdefault(topic, [0] * GRADES)
        retrieved = False
        if gain is not None:
            pool[gain] += 1
            for value in values:
                if value[:1] == _REQUEST:
                    retrieved = True
                    conversation_id = value[1:].decode()
                    yield from self._add_label(
                        (conversation_id, topic), document_digest(name), gain
                    )
        self._counts.add_document(topic, name, judged, retrieved=retrieved)

    def _add_label(
        self, place: tuple[str, str], digest: bytes, gain: int
    ) -> Iterator[WindowedValue]:
        self._labels.setdefault(place, {})[digest] = gain
        self._held += 1
        if self._held >= _MOST_HELD:
            yield from self._emit_labels()

    def _emit_labels(self) -> Iterator[WindowedValue]:
        held, self._labels, self._held = self._labels, {}, 0
        for (conversation_id, topic), labels in held.items():
            external = ExternalLabels({}, {topic: labels})
            yield stamp_at_end_of_global_window((conversation_id, payload((), external=external)))

    def finish_bundle(self) -> Iterator[WindowedValue | TaggedOutput]:
        """Emit the labels, pools and counts that are held."""
        yield from self._emit_labels()
        yield from self._emit_pools()
        yield from self._emit_counts()

    def _emit_pools(self) -> Iterator[TaggedOutput]:
        pools, self._pools = self._pools, {}
        for topic, pool in pools.items():
            yield TaggedOutput(
                TOPICS, stamp_at_end_of_global_window((topic.encode(), _JUDGMENT + _encode(pool)))
            )


def _judgments_in(
    values: Iterable[bytes],
) -> tuple[tuple[str, str] | None, DocumentJudgments]:
    """The topic and name of a document, None without judgments, and the judgments."""
    place, judged = None, DocumentJudgments()
    for value in values:
        if value[:1] == _JUDGMENT:
            judgment = _decode_judgment(value[1:])
            place = judgment.topic, judgment.document
            judged.add(judgment)
    return place, judged


def _similar_names(values: Iterable[bytes], gain: int | None) -> int:
    """How many names of results are not judged, but written otherwise than a judged one.

    Args:
      values: what was sent to the plain form of their names.
      gain: the label of the document of that name; None if it is not judged.
    """
    otherwise: dict[bytes, set[bytes]] = {_OTHERWISE_ASKED: set(), _OTHERWISE_JUDGED: set()}
    is_asked = False
    for value in values:
        is_asked = is_asked or value[:1] == _REQUEST
        if value[:1] in otherwise:
            otherwise[value[:1]].add(value[1:])
    asked, judged = otherwise.values()
    if gain is None and not judged:
        return 0
    return len(asked - judged) + (is_asked and gain is None)


class SendPool(_CountingDoFn):
    """Sends the judged pool of a topic to every conversation that has the topic."""

    def process(self, topic: tuple[bytes, Iterable[bytes]]) -> Iterator[tuple[str, bytes]]:
        """Send the pool of one topic."""
        name, values = topic
        pool = [0] * GRADES
        judged = asked = False
        for value in values:
            if value[:1] == _JUDGMENT:
                judged = True
                pool = [
                    documents + more
                    for documents, more in zip(pool, _decode_pool(value[1:]), strict=True)
                ]
            else:
                asked = True
        self._counts.add_topic(judged=judged, asked=asked)
        if not judged or not asked:
            return
        packed = payload((), external=ExternalLabels({}, {}, {name.decode(): pool}))
        for value in values:
            if value[:1] == _REQUEST:
                yield value[1:].decode(), packed

    def finish_bundle(self) -> Iterator[TaggedOutput]:
        """Emit the counts."""
        yield from self._emit_counts()
