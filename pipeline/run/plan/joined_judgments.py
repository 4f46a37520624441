"""Joins judgments with conversations in this process (SPEC 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.run.plan.given_tables import JoinedTable, RecordIds
from goodgain.pipeline.run.plan.judgments import Judged
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.joining import (
    DocumentJudgments,
    JoinCounts,
    labelled_documents,
)
from goodgain.transforms.core.judgments.judgment import (
    LabelRequest,
    document_digest,
)
from goodgain.transforms.core.judgments.similar_names import count_similar
from goodgain.transforms.core.scoring.payload import payload
from goodgain.transforms.core.scoring.topic_request import topic_request


class Join:
    """Gives conversations the labels of their documents and the judged pools of their topics."""

    def __init__(self, judged: Judged, exclusions: Exclusions | None = None) -> None:
        """Take the judgments, of which no document has two labels.

        Args:
          exclusions: judgments of these documents do not count; None = all count.
        """
        self._counts = JoinCounts()
        if exclusions is not None:
            judged = _drop_excluded(judged, exclusions, self._counts)
        self._judged = judged
        self._pools = {topic: _pool(documents) for topic, documents in judged.items()}
        self._asked: dict[str, set[str]] = {}  # the names of results by topic

    def labels(self, requests: Sequence[LabelRequest]) -> ExternalLabels:
        """The labels that the records of one conversation request."""
        needed = topic_request(requests)
        self._counts.results_without_id += needed.without_name
        topic = needed.topic
        if not topic:
            return ExternalLabels({}, {}, {})
        self._asked.setdefault(topic, set()).update(needed.documents)
        of_topic = self._judged.get(topic, {})
        gains = {
            document_digest(name): document.gain
            for name in needed.documents
            if (document := of_topic.get(name)) is not None and document.gain is not None
        }
        pools = {topic: self._pools[topic]} if topic in self._pools else {}
        return ExternalLabels({}, {topic: gains}, pools)

    def counts(self) -> dict[str, int]:
        """What was joined, as counted by `JoinQrels`, when all conversations have their labels."""
        counts = replace(self._counts)
        for topic, documents in self._judged.items():
            counts.add_documents(topic, documents, self._asked.get(topic, frozenset()))
        counts.similar_names = sum(
            count_similar(*self._unlabelled_and_labelled(topic)) for topic in self._asked
        )
        for topic in self._asked.keys() | self._judged.keys():
            counts.add_topic(judged=topic in self._judged, asked=topic in self._asked)
        return counts.by_name()

    def _unlabelled_and_labelled(self, topic: str) -> tuple[set[str], dict[str, int]]:
        """The names of a topic's results without a label, and its labelled documents."""
        labelled = labelled_documents(self._judged.get(topic, {}))
        return self._asked[topic] - labelled.keys(), labelled


def _pool(documents: Mapping[str, DocumentJudgments]) -> list[int]:
    """How many documents of a topic are judged with gain 0, 1, .. 4."""
    gains = Counter(document.gain for document in documents.values())
    return [gains[gain] for gain in range(GRADES)]


def join(
    requests: Iterable[LabelRequest], judged: Judged, exclusions: Exclusions | None = None
) -> tuple[dict[str, ExternalLabels], dict[str, int]]:
    """Give each conversation the labels of its documents and the judged pools of its topics.

    Args:
      exclusions: judgments of these documents do not count; None = all count.

    Returns:
      The labels by conversation, and the counts of the join, as in `JoinQrels`.
    """
    by_conversation: dict[str, list[LabelRequest]] = {}
    for request in requests:
        by_conversation.setdefault(request.conversation_id, []).append(request)
    joined = Join(judged, exclusions)
    labels = {name: joined.labels(several) for name, several in by_conversation.items()}
    return labels, joined.counts()


def _drop_excluded(judged: Judged, exclusions: Exclusions, counts: JoinCounts) -> Judged:
    """The judgments that count; the others are counted."""
    kept: dict[str, dict[str, DocumentJudgments]] = {}
    for topic, documents in judged.items():
        for name, document in documents.items():
            if exclusions.excludes(topic, name):
                counts.add_document(topic, name, document, retrieved=False, excluded=True)
            else:
                kept.setdefault(topic, {})[name] = document
    return kept


class JudgedDocuments(Struct, frozen=True):
    """Judgments as a source of labels, without those of excluded documents."""

    judged: Judged
    exclusions: Exclusions | None = None

    def join(self, _: RecordIds, requests: Iterable[LabelRequest] = ()) -> JoinedTable:
        """See `JoinableTable`."""
        labels, counts = join(requests, self.judged, self.exclusions)
        return JoinedTable(
            [(name, payload((), external=external)) for name, external in labels.items()], counts
        )
