"""Joins judgments with conversations in this process (SPEC 8)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.run.plan.given_tables import JoinedTable, RecordIds
from goodgain.pipeline.run.plan.judgments import Judged
from goodgain.transforms.core.judgments.exclusions import Exclusions
from goodgain.transforms.core.judgments.external_labels import GRADES, ExternalLabels
from goodgain.transforms.core.judgments.joining import (
    JoinCounts,
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
        self._pools: dict[str, list[int]] = {}
        self._gains: dict[str, dict[str, int]] = {}  # by topic and name
        for (topic, name), document in judged.items():
            pool = self._pools.get(topic)
            if pool is None:
                pool, self._gains[topic] = self._pools.setdefault(topic, [0] * GRADES), {}
            if document.gain is not None:
                pool[document.gain] += 1
                self._gains[topic][name] = document.gain
        self._retrieved: dict[str, set[str]] = {}  # the labelled names of results by topic
        self._unlabelled: dict[str, set[str]] = {}  # the names of results by topic

    def labels(self, requests: Sequence[LabelRequest]) -> ExternalLabels:
        """The labels that the records of one conversation request."""
        needed = topic_request(requests)
        self._counts.results_without_id += needed.without_name
        topic = needed.topic
        if not topic:
            return ExternalLabels({}, {}, {})
        of_topic = self._gains.get(topic, {})
        labelled = [name for name in needed.documents if name in of_topic]
        self._retrieved.setdefault(topic, set()).update(labelled)
        unlabelled = self._unlabelled.setdefault(topic, set())
        if len(labelled) < len(needed.documents):
            unlabelled.update(name for name in needed.documents if name not in of_topic)
        gains = {document_digest(name): of_topic[name] for name in labelled}
        pools = {topic: self._pools[topic]} if topic in self._pools else {}
        return ExternalLabels({}, {topic: gains}, pools)

    def counts(self) -> dict[str, int]:
        """What was joined, as counted by `JoinQrels`, when all conversations have their labels."""
        counts = replace(self._counts)
        for (topic, name), document in self._judged.items():
            retrieved = name in self._retrieved.get(topic, ())
            counts.add_document(topic, name, document, retrieved=retrieved)
        labelled = ((topic, name) for topic, names in self._gains.items() for name in names)
        # A labelled name is written as it is judged.
        counts.similar_names = count_similar(self._unlabelled, labelled)
        for topic in self._unlabelled.keys() | self._pools.keys():
            counts.add_topic(judged=topic in self._pools, asked=topic in self._unlabelled)
        return counts.by_name()


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
    kept = {}
    for key, document in judged.items():
        if exclusions.excludes(*key):
            counts.add_document(*key, document, retrieved=False, excluded=True)
        else:
            kept[key] = document
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
