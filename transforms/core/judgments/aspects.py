"""Judgments of aspects from outside: which document of a topic covers which aspect (SPEC 13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct
from xxhash import xxh32_intdigest

from goodgain.transforms.core.judgments.judgment import LabelKeys, document_digest
from goodgain.transforms.core.ranking.aspects import Aspects, TopicAspects, aspects_of


class JudgedAspects(Struct, frozen=True):
    """The judgments of one topic.

    Attributes:
      names: by digest of the name of a judged document, the aspects that it covers.
      topic: the same in the order of the ideal ranking, which prefers greater names.
    """

    names: dict[bytes, Aspects]
    topic: TopicAspects


NOT_JUDGED = JudgedAspects({}, TopicAspects())


class AspectJudgments(Struct, frozen=True):
    """Judgments of aspects, and how they are matched to results.

    Attributes:
      by_topic: by name of the topic.
      number: how many labels there are.
      digest: equal for equal judgments.
    """

    keys: LabelKeys
    by_topic: dict[str, JudgedAspects]
    number: int
    digest: str

    def of(self, conversation_id: str, attributes: Mapping[str, str]) -> JudgedAspects:
        """The judgments for a conversation."""
        return self.by_topic.get(self.keys.topic(conversation_id, attributes), NOT_JUDGED)


def aspect_judgments(
    keys: LabelKeys, judged: Iterable[tuple[str, str, str, int]]
) -> AspectJudgments:
    """Judgments from distinct (topic, document, aspect, label), with labels from 0."""
    topics: dict[str, dict[str, set[str]]] = {}
    number = digest = 0
    for topic, document, aspect, label in judged:
        covered = topics.setdefault(topic, {}).setdefault(document, set())
        if label > 0:
            covered.add(aspect)
        number += 1
        digest += xxh32_intdigest(f"{topic}\n{document}\n{aspect}\n{label > 0:d}".encode())
    by_topic = {topic: _of_topic(documents) for topic, documents in topics.items()}
    return AspectJudgments(keys, by_topic, number, f"{digest:x}")


def _of_topic(documents: Mapping[str, Iterable[str]]) -> JudgedAspects:
    covered = {name: aspects_of(aspects) for name, aspects in documents.items()}
    # Greater names first, as in ndeval, whose ideal ranking is then the same.
    ordered = sorted(covered, key=str.encode, reverse=True)
    return JudgedAspects(
        {document_digest(name): aspects for name, aspects in covered.items()},
        TopicAspects(tuple(covered[name] for name in ordered)),
    )
