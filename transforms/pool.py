"""Builds pools with Beam: groups contributions of conversations by topic (SPEC 9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apache_beam as beam
import msgspec
from apache_beam.pvalue import TaggedOutput

from goodgain.transforms.coders import StructCoder, apply_to_outputs
from goodgain.transforms.core.dedup.fingerprint import Fingerprinter
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.files import TopicPools, read_documents
from goodgain.transforms.core.pool_building.building import BuiltTopic, Conversation, build_topic
from goodgain.transforms.core.pool_building.contribution import Contribution, measure_contribution
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.folded_conversation import fold_conversation
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.core.scoring.score import score_folded
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.filesystems import open_plain
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.gather import Fold, FoldGroup, Pair, flatten_pairs

_SCORES = "scores"
_REFUSED = "refused"
_REPLACEMENTS = "replacements"

# The first byte of a value is its kind, since one GroupByKey joins several kinds.
_EXISTING, _NEW, _REPLACED = b"e", b"n", b"r"

_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_encode_all = msgspec.msgpack.Encoder(order="deterministic", enc_hook=int).encode
_document = msgspec.msgpack.Decoder(PoolDocument).decode
_contribution = msgspec.msgpack.Decoder(Contribution).decode
_conversation = msgspec.msgpack.Decoder(Conversation).decode
_topic = msgspec.msgpack.Decoder(Topic).decode


def pools_of(scoring: Scoring, max_held_bytes: int | None = None) -> TopicPools | None:
    """The pools of topics for a worker; None without a pool."""
    if scoring.pool is None:
        return None
    return TopicPools(
        scoring.pool.files, scoring.rules, open_plain, MemoryBudget(max_held_bytes, on_engine=True)
    )


class Contributed(NamedTuple):
    """The outputs of `ContributeToPool`.

    Attributes:
      contributions: one for each conversation that has a usable call.
      scores: PCollection[ConversationScore], of all conversations.
    """

    contributions: beam.PCollection[Contribution]
    scores: beam.PCollection[ConversationScore]


@dataclass(eq=False, repr=False)
class ContributeToPool(beam.PTransform):
    """`PCollection[tuple[str, bytes]]` of one run to `Contributed`.

    Takes payloads that keep their records, from `ReadPayloads` or `FingerprintCalls`, and those of
    labels. Each conversation is folded once, for its contribution and for its score.

    Attributes:
      scoring: how conversations are folded, and which labels count.
      topic_attribute: the attribute that holds the topic; None if each conversation is a topic.
    """

    run: str
    scoring: Scoring
    topic_attribute: str | None

    def expand(self, payloads: beam.PCollection[Keyed]) -> Contributed:
        """Apply the transform."""
        contribute = FoldGroup(_Contribute(self.run, self.scoring, self.topic_attribute))
        grouped = payloads | "GroupByConversation" >> beam.GroupByKey()
        return apply_to_outputs(grouped, "Contribute", contribute, Contributed)


@dataclass(eq=False, repr=False)
class _Contribute(Fold):
    run: str
    scoring: Scoring
    topic_attribute: str | None

    def fold(self, key: str, payloads: Iterable[bytes]) -> Iterator[Contribution | TaggedOutput]:
        frame = unpack(payloads)
        folded = fold_conversation(
            key, frame.calls, self.scoring, frame.external, labels=frame.labels
        )
        yield TaggedOutput(_SCORES, score_folded(folded, frame.rejected_records, self.scoring))
        if frame.calls:
            yield measure_contribution(self.run, folded, self.topic_attribute)


class BuiltPool(NamedTuple):
    """The outputs of building a pool.

    Attributes:
      refused: PCollection[tuple[str, str]], (run, conversation_id) that the pool already has. If
        there are any, the pool must not be used.
    """

    topics: beam.PCollection[BuiltTopic]
    refused: beam.PCollection[Conversation]


@dataclass(eq=False, repr=False)
class BuildPool(beam.PTransform):
    """`PCollection[Contribution]` to `BuiltPool` (SPEC 9).

    A topic is built in the memory of one worker: all of its documents with texts, from the pool to
    update and from conversations. The outcome does not depend on order, bundling or the number of
    workers.

    Attributes:
      existing: files of the pool to update; empty for a new one.
      replaces: whether conversations that the pool already has are replaced.
    """

    rules: RuleTable
    existing: Sequence[str] = ()
    replaces: bool = False

    def expand(self, contributions: beam.PCollection[Contribution]) -> BuiltPool:
        """Apply the transform."""
        new = contributions | "KeyContributions" >> beam.Map(_by_topic)
        existing = (
            contributions.pipeline
            | "ExistingFiles" >> beam.Create(self.existing, reshuffle=True)
            | "ReadExisting"
            >> beam.FlatMap(read_documents, open_plain, MemoryBudget(None)).with_output_types(
                PoolDocument
            )
        )
        known = existing | "KeyExistingConversations" >> beam.ParDo(_ExistingConversations())
        added = contributions | "KeyConversations" >> beam.Map(_by_conversation)
        repeated = (
            flatten_pairs("Conversations", known, added)
            | "GroupByConversation" >> beam.GroupByKey()
            | "FindRepeated"
            >> beam.ParDo(_FindRepeated(self.replaces)).with_outputs(_REFUSED, main=_REPLACEMENTS)
        )
        documents = existing | "KeyExisting" >> beam.Map(_existing_by_topic)
        topics = (
            flatten_pairs("Topics", new, documents, repeated[_REPLACEMENTS])
            | "GroupByTopic" >> beam.GroupByKey()
            | "BuildTopic" >> beam.ParDo(_BuildTopic(self.rules)).with_output_types(BuiltTopic)
        )
        return BuiltPool(topics, repeated[_REFUSED])


def _by_topic(contribution: Contribution) -> Pair:
    return _encode(contribution.topic), _NEW + _encode_all(contribution)


def _existing_by_topic(document: PoolDocument) -> Pair:
    return _encode(document.topic), _EXISTING + _encode(document)


def _by_conversation(contribution: Contribution) -> Pair:
    return _encode((contribution.run, contribution.conversation_id)), _NEW


class _ExistingConversations(beam.DoFn):
    """The conversations of a pool with their topics, each once per bundle."""

    def start_bundle(self) -> None:
        self._emitted: set[Pair] = set()

    def process(self, document: PoolDocument) -> Iterator[Pair]:
        topic = _EXISTING + _encode(document.topic)
        for conversation in {(place.run, place.conversation_id) for place in document.places}:
            pair = _encode(conversation), topic
            if pair not in self._emitted:
                self._emitted.add(pair)
                yield pair


@dataclass(eq=False, repr=False)
class _FindRepeated(beam.DoFn):
    """Finds conversations that are both in the pool and in a new run, to replace or report them."""

    replaces: bool

    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[Pair | TaggedOutput]:
        conversation, values = grouped
        kinds_and_topics = set(values)
        topics = sorted(kinds_and_topics - {_NEW})
        if not topics or _NEW not in kinds_and_topics:
            return
        if not self.replaces:
            yield TaggedOutput(_REFUSED, _conversation(conversation))
            return
        for topic in topics:
            yield topic[1:], _REPLACED + conversation


@dataclass(eq=False, repr=False)
class _BuildTopic(beam.DoFn):
    rules: RuleTable

    def setup(self) -> None:
        self._fingerprinter = Fingerprinter(self.rules)

    def process(self, grouped: tuple[bytes, Iterable[bytes]]) -> Iterator[BuiltTopic]:
        topic, values = grouped
        existing: list[PoolDocument] = []
        new: list[Contribution] = []
        replaced: list[Conversation] = []
        for value in values:
            kind, packed = value[:1], value[1:]
            if kind == _EXISTING:
                existing.append(_document(packed))
            elif kind == _NEW:
                new.append(_contribution(packed))
            else:
                replaced.append(_conversation(packed))
        existing.sort(key=lambda document: document.number)
        built = build_topic(_topic(topic), existing, new, self.rules, self._fingerprinter, replaced)
        if built.documents:
            yield built


beam.coders.registry.register_coder(Contribution, StructCoder)
beam.coders.registry.register_coder(PoolDocument, StructCoder)
beam.coders.registry.register_coder(BuiltTopic, StructCoder)
