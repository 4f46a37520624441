"""Counts over scored conversations (SPEC 3, 6, 10)."""

from __future__ import annotations

from collections import Counter

from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.id_checks import ContradictedId, least_examples


class ScoreSums:
    """Running sums.

    Attributes:
      counts: by dotted name.
      contradicted_ids: examples for a warning.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.contradicted_ids: list[ContradictedId] = []

    def add(self, score: ConversationScore) -> None:
        """Add one conversation."""
        self.counts.update(score.counts)
        if score.contradicted_ids:
            self.contradicted_ids = least_examples(
                [*self.contradicted_ids, *score.contradicted_ids]
            )
