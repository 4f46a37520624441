"""Joins external judgments with results (SPEC 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam

from goodgain.transforms.coders import StructCoder, apply_typed
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    LabelKeys,
    LabelRequest,
    QrelsProblem,
    label_request,
)
from goodgain.transforms.core.records.record_encoding import record_digest, record_encoding
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.fingerprint import Keyed
from goodgain.transforms.gather import Pair, flatten_pairs
from goodgain.transforms.qrels_joins import (
    COUNTS,
    PROBLEMS,
    TOPICS,
    LabelDocument,
    RequestJudgments,
    SendPool,
    key_by_conversation,
    key_by_document,
)

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
        keyed = requests | "KeyRequests" >> beam.Map(key_by_conversation).with_output_types(Pair)
        conversations = _group("Conversation", keyed)
        wanted, topics, request_counts = apply_typed(
            conversations, "Request", RequestJudgments(), documents=Any, topics=Any, counts=Any
        )
        by_document = beam.FlatMap(key_by_document, self.exclusions).with_output_types(Pair)
        judged = self.judgments | "KeyJudgments" >> by_document
        documents = _group("Document", wanted, judged)
        types = {"payloads": Keyed, TOPICS: Any, PROBLEMS: QrelsProblem, COUNTS: Any}
        labels, judged_topics, problems, label_counts = apply_typed(
            documents, "Label", LabelDocument(self.exclusions), **types
        )
        topic_pools = _group("Topic", topics, judged_topics)
        pools, pool_counts = apply_typed(
            topic_pools, "Pool", SendPool(), payloads=Keyed, counts=Any
        )
        return Labelling(
            (labels, pools) | "Payloads" >> beam.Flatten(),
            problems,
            (request_counts, label_counts, pool_counts) | "Counts" >> beam.Flatten(),
        )


def _group(by: str, *sides: beam.PCollection[Pair]) -> beam.PCollection[Any]:
    return flatten_pairs(f"{by}Sides", *sides) | f"GroupBy{by}" >> beam.GroupByKey()


beam.coders.registry.register_coder(Judgment, StructCoder)
beam.coders.registry.register_coder(QrelsProblem, StructCoder)
