"""How judgments join conversations: the same rules, whatever groups them (SPEC 8).

Judgments are grouped by topic and document, and topics by name: by a shuffle in Beam, by
dictionaries in one process.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.transforms.core.judgments.judgment import (
    Judgment,
    JudgmentPlace,
    QrelsProblem,
    conflict,
    judgment_digest,
)

_PREFIX = "qrels."


class DocumentJudgments(Struct, gc=False):
    """All judgments of one document of a topic, in any order.

    Attributes:
      places: for each different label, the first place that gives it.
      lines: number of judgments.
    """

    places: dict[int | None, JudgmentPlace] = {}
    lines: int = 0

    def add(self, judgment: Judgment) -> None:
        """Add one judgment."""
        known = self.places.get(judgment.gain, judgment.place)
        self.places[judgment.gain] = min(judgment.place, known)
        self.lines += 1

    @property
    def gain(self) -> int | None:
        """The label; None if the document is unjudged. Meaningless if there is a problem."""
        return next(iter(self.places))

    def problem(self, topic: str, document: str) -> QrelsProblem | None:
        """The problem that the document has different labels."""
        return conflict(topic, document, self.places) if len(self.places) > 1 else None


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
        self.repeated += judged.lines - 1
        if excluded:
            self.excluded += 1
            return
        if judged.gain is None:
            self.unjudged += 1
            return
        self.judgments += 1
        self.digest += judgment_digest(topic, document, judged.gain)
        self.never_retrieved += not retrieved

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
