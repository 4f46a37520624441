"""Joins external judgments with results (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput
from apache_beam.utils.windowed_value import WindowedValue
from xxhash import xxh3_128_digest

from goodgain.transforms.coders import StructCoder, apply_typed
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.joining import DocumentJudgments, JoinCounts
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    LabelKeys,
    LabelRequest,
    QrelsProblem,
    document_digest,
    label_request,
)
from goodgain.transforms.core.judgments.similar_names import plain_name
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.topic_request import topic_request
from goodgain.transforms.fingerprint import KEYED
from goodgain.transforms.gather import Pair, flatten_pairs
from goodgain.transforms.times import stamp_at_end_of_global_window

_PROBLEMS = "problems"
_TOPICS = "topics"
_COUNTS = "counts"
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

Counts = dict[str, int]


class Labelling(NamedTuple):
    """The outputs of joining calls and judgments.

    Attributes:
      payloads: PCollection[tuple[str, bytes]], (conversation_id, payload), for `ScorePayloads`
        together with those of `ReadPayloads`.
      problems: PCollection[QrelsProblem], documents with two different labels.
      counts: PCollection[dict[str, int]], how much was joined and how much was not, by dotted name.
    """

    payloads: beam.PCollection[tuple[str, bytes]]
    problems: beam.PCollection[QrelsProblem]
    counts: beam.PCollection[Counts]


@dataclass(eq=False, repr=False)
class RequestLabels(beam.PTransform):
    """`PCollection[SearchCall]` to `PCollection[LabelRequest]`, for `JoinQrels`.

    `ReadPayloads` also outputs this.

    Attributes:
      keys: how judgments are matched to results.

    Example: see `JoinQrels`.
    """

    keys: LabelKeys

    def expand(self, calls: beam.PCollection[SearchCall]) -> beam.PCollection[LabelRequest]:
        """Apply the transform."""
        request = beam.Map(_request_of_call, self.keys).with_output_types(LabelRequest)
        return calls | "Request" >> request


def _request_of_call(call: SearchCall, keys: LabelKeys) -> LabelRequest:
    digest = record_digest(record_encoding(call))
    return label_request(call.conversation_id, [call], [digest], keys)


@dataclass(eq=False, repr=False)
class JoinQrels(beam.PTransform):
    """`PCollection[LabelRequest]` to `Labelling`: sends judgments to conversations.

    Requests are grouped by conversation, whose attributes decide its topic. Labels are joined by
    topic and document, so that a topic's judgments spread over workers. The judged pool of a topic,
    which is the number of documents by gain, is joined by topic. Neither a side of a join nor the
    values of a key are held in memory, except the requests of one conversation; a bundle holds at
    most 100,000 labels and 100,000 topics. The work for a key grows with the number of
    conversations that need it. For bounded input in the global window.

    Counts: `qrels.judgments` (judged documents of topics), `qrels.unjudged` (negative labels),
    `qrels.repeated`, `qrels.never_retrieved` (judged documents that are in no record of their
    topic), `qrels.topics`, `qrels.topics_without_conversation`, `qrels.topics_without_judgments`
    (topics of conversations), `qrels.results_without_id` (in conversations with a topic),
    `qrels.similar_names` (of results, see `count_similar`), `qrels.excluded` (judged documents of
    `exclusions`).
    `qrels.digest` is the sum of the digests of all judgments.

    Attributes:
      judgments: PCollection[Judgment].
      exclusions: judgments of these documents do not count; None = all count.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import (
      ...     FingerprintCalls, InputFile, JoinQrels, Judgment, LabelKeys, Packing, ReadQrels,
      ...     ReadTraces, RequestLabels, ScorePayloads, Scoring,
      ... )
      >>> keys = LabelKeys("doc_id", qrels_topic="query")
      >>> scoring = Scoring.default(["ndcg@10"], label_keys=keys)
      >>> def judged(one: Judgment) -> bool:
      ...     return one.gain is not None
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     calls = (pipeline | ReadTraces(["traces/*.jsonl"])).calls
      ...     read = pipeline | ReadQrels([InputFile("qrels.txt", size=8)])
      ...     labels = calls | RequestLabels(keys) | JoinQrels(read.judgments | beam.Filter(judged))
      ...     payloads = calls | FingerprintCalls(Packing.of(scoring))
      ...     scored = (payloads, labels.payloads) | beam.Flatten() | ScorePayloads(scoring)
      ...     _ = scored.scores | beam.Map(lambda score: score.conversation.CG) | beam.Map(print)
      4
      4
    """

    judgments: beam.PCollection[Judgment]
    exclusions: Exclusions | None = None

    def expand(self, requests: beam.PCollection[LabelRequest]) -> Labelling:
        """Apply the transform."""
        keyed = requests | "KeyRequests" >> beam.Map(_key_by_conversation).with_output_types(Pair)
        conversations = _group("Conversation", keyed)
        wanted, topics, request_counts = apply_typed(
            conversations, "Request", _RequestJudgments(), documents=Any, topics=Any, counts=Any
        )
        by_document = beam.FlatMap(_key_by_document, self.exclusions).with_output_types(Pair)
        judged = self.judgments | "KeyJudgments" >> by_document
        documents = _group("Document", wanted, judged)
        types = {"payloads": KEYED, _TOPICS: Any, _PROBLEMS: QrelsProblem, _COUNTS: Any}
        labels, judged_topics, problems, label_counts = apply_typed(
            documents, "Label", _Label(self.exclusions), **types
        )
        topic_pools = _group("Topic", topics, judged_topics)
        pools, pool_counts = apply_typed(topic_pools, "Pool", _Pool(), payloads=KEYED, counts=Any)
        return Labelling(
            (labels, pools) | "Payloads" >> beam.Flatten(),
            problems,
            (request_counts, label_counts, pool_counts) | "Counts" >> beam.Flatten(),
        )


def _group(by: str, *sides: beam.PCollection[Pair]) -> beam.PCollection[Any]:
    return flatten_pairs(f"{by}Sides", *sides) | f"GroupBy{by}" >> beam.GroupByKey()


def _key_by_conversation(labels: LabelRequest) -> Pair:
    return labels.conversation_id.encode(), _requests.encode(labels)


def _key_by_document(judgment: Judgment, exclusions: Exclusions | None) -> Iterator[Pair]:
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
        self._counts = JoinCounts()

    def _emit_counts(self) -> Iterator[TaggedOutput]:
        if counts := {name: count for name, count in self._counts.by_name().items() if count}:
            yield TaggedOutput(_COUNTS, stamp_at_end_of_global_window(counts))


class _RequestJudgments(_CountingDoFn):
    """Requests of one conversation for judgments, keyed by document and by topic."""

    def process(
        self, conversation: tuple[bytes, Iterable[bytes]]
    ) -> Iterator[WindowedValue | TaggedOutput]:
        conversation_id, requests = conversation
        labels = topic_request(list(map(_requests.decode, requests)))
        self._counts.results_without_id += labels.without_name
        request = _REQUEST + conversation_id
        if not labels.topic:
            return
        yield TaggedOutput(_TOPICS, stamp_at_end_of_global_window((labels.topic.encode(), request)))
        for document in labels.documents:
            yield stamp_at_end_of_global_window((_document_key(labels.topic, document), request))
            plain = plain_name(document)
            if plain != document:
                asked = _OTHERWISE_ASKED + document.encode()
                yield stamp_at_end_of_global_window((_document_key(labels.topic, plain), asked))

    def finish_bundle(self) -> Iterator[TaggedOutput]:
        return self._emit_counts()


class _Label(_CountingDoFn):
    """Sends a document's judgment to the conversations that need it and to the topic's pool."""

    def __init__(self, exclusions: Exclusions | None) -> None:
        self._exclusions = exclusions

    def start_bundle(self) -> None:
        super().start_bundle()
        # By conversation and topic.
        self._labels: dict[tuple[str, str], dict[bytes, int]] = {}
        self._held = 0
        self._pools: dict[str, list[int]] = {}

    def process(
        self, document: tuple[bytes, Iterable[bytes]]
    ) -> Iterator[WindowedValue | TaggedOutput]:
        _, values = document
        place, judged = _judgments_in(values)
        excluded = place is not None and _is_excluded(self._exclusions, *place)
        gain = None if excluded else judged.gain
        self._counts.similar_names += _similar_names(values, gain)
        if place is None:
            return
        topic, name = place
        if (problem := judged.problem(topic, name)) is not None:
            yield TaggedOutput(_PROBLEMS, problem)
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
        yield from self._emit_labels()
        yield from self._emit_pools()
        yield from self._emit_counts()

    def _emit_pools(self) -> Iterator[TaggedOutput]:
        pools, self._pools = self._pools, {}
        for topic, pool in pools.items():
            yield TaggedOutput(
                _TOPICS, stamp_at_end_of_global_window((topic.encode(), _JUDGMENT + _encode(pool)))
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


class _Pool(_CountingDoFn):
    """Sends the judged pool of a topic to every conversation that has the topic."""

    def process(self, topic: tuple[bytes, Iterable[bytes]]) -> Iterator[tuple[str, bytes]]:
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
        yield from self._emit_counts()


beam.coders.registry.register_coder(Judgment, StructCoder)
beam.coders.registry.register_coder(QrelsProblem, StructCoder)
