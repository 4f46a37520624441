"""How judgments join conversations: the same rules, whatever groups them (SPEC 8).

Judgments are grouped by topic and document, and topics by name: by a shuffle in Beam, by
dictionaries in one process.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    QrelsProblem,
    describe_conflict,
    judgment_digest,
)

_PREFIX = "qrels."


class DocumentJudgments(Struct, gc=False):
    """All judgments of one document of a topic, in any order.

    Attributes:
      gain: the label; None if the document is unjudged. Meaningless if there is a problem.
      place: the first place that gives it; None without judgments.
      lines: number of judgments.
      others: for each different label, the first place that gives it; None if there is none.
    """

    gain: int | None = None
    place: JudgmentPlace | None = None
    lines: int = 0
    others: dict[int | None, JudgmentPlace] | None = None

    def add(self, judgment: Judgment) -> None:
        """Add one judgment."""
        self.lines += 1
        if self.place is None:
            self.gain, self.place = judgment.gain, judgment.place
        elif judgment.gain == self.gain:
            self.place = min(judgment.place, self.place)
        else:
            others = self.others = self.others or {}
            others[judgment.gain] = min(judgment.place, others.get(judgment.gain, judgment.place))

    @property
    def places(self) -> dict[int | None, JudgmentPlace]:
        """For each different label, the first place that gives it."""
        return {} if self.place is None else {self.gain: self.place, **(self.others or {})}

    def problem(self, topic: str, document: str) -> QrelsProblem | None:
        """The problem that the document has different labels."""
        return None if self.others is None else describe_conflict(topic, document, self.places)


def add_judgment(judged: dict[str, dict[str, DocumentJudgments]], judgment: Judgment) -> None:
    """Add a judgment to those by topic and document."""
    documents = judged.get(judgment.topic)
    if documents is None:
        documents = judged[judgment.topic] = {}
    known = documents.get(judgment.document)
    if known is None:
        documents[judgment.document] = DocumentJudgments(judgment.gain, judgment.place, 1)
    else:
        known.add(judgment)


def labelled_documents(documents: Mapping[str, DocumentJudgments]) -> dict[str, int]:
    """The gains of those documents that are judged, by name."""
    return {name: judged.gain for name, judged in documents.items() if judged.gain is not None}


class JoinCounts(Struct):
    """How much was joined and how much was not; see `JoinQrels`."""

    judgments: int = 0
    unjudged: int = 0
    repeated: int = 0
    never_retrieved: int = 0
    topics: int = 0
    topics_without_conversation: int = 0
    topics_without_judgments: int = 0
    results_without_id: int = 0
    similar_names: int = 0
    excluded: int = 0
    digest: int = 0

    def add_document(
        self,
        topic: str,
        document: str,
        judged: DocumentJudgments,
        *,
        retrieved: bool,
        excluded: bool = False,
    ) -> None:
        """Count a document that has one label or none.

        Args:
          retrieved: whether a conversation with the topic has the document.
          excluded: whether it is excluded from the topic.
        """
        if excluded:
            self.repeated += judged.lines - 1
            self.excluded += 1
        else:
            self.add_documents(topic, {document: judged}, {document} if retrieved else frozenset())

    def add_documents(
        self, topic: str, documents: Mapping[str, DocumentJudgments], retrieved: AbstractSet[str]
    ) -> None:
        """Count the documents of a topic that count, each of which has one label or none.

        Args:
          documents: by name.
          retrieved: names of those that a conversation with the topic has, and possibly of others.
        """
        gains = labelled_documents(documents)
        self.repeated += sum([judged.lines for judged in documents.values()]) - len(documents)
        self.unjudged += len(documents) - len(gains)
        self.judgments += len(gains)
        self.digest += sum([judgment_digest(topic, name, gain) for name, gain in gains.items()])
        self.never_retrieved += len(gains.keys() - retrieved)

    def add_topic(self, *, judged: bool, asked: bool) -> None:
        """Count a topic.

        Args:
          judged: whether there are judgments of it.
          asked: whether a conversation has it.
        """
        self.topics += judged
        self.topics_without_conversation += judged and not asked
        self.topics_without_judgments += not judged

    def by_name(self) -> dict[str, int]:
        """The counts by dotted name, like `qrels.judgments`."""
        return {f"{_PREFIX}{name}": count for name, count in asdict(self).items()}
