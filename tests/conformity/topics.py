"""Judged runs in the form that peers take: dicts of qrels and runs, from lists of labels."""

from __future__ import annotations

import random
from dataclasses import dataclass

from goodgain.transforms.core.ranking.ranked_list import UNJUDGED


@dataclass(frozen=True)
class Topic:
    """One ranked list and its judgments.

    Attributes:
      labels: by rank, a gain or UNJUDGED.
      rest: gains of the judged documents that were not retrieved.
    """

    labels: tuple[int, ...]
    rest: tuple[int, ...] = ()

    @property
    def pool(self) -> list[int]:
        return [*(label for label in self.labels if label != UNJUDGED), *self.rest]

    @property
    def run(self) -> dict[str, float]:
        """Document -> score, strictly decreasing with the rank; ids are not sorted."""
        size = len(self.labels)
        return {_document(rank): float(size - rank) for rank in range(size)}

    @property
    def qrels(self) -> dict[str, int]:
        judged = {
            _document(rank): label for rank, label in enumerate(self.labels) if label != UNJUDGED
        }
        return judged | {f"missed{number}": gain for number, gain in enumerate(self.rest)}

    def binary(self, level: int) -> Topic:
        """The topic with gain 1 for relevant and 0 for judged non-relevant documents."""
        return Topic(
            tuple(label if label < 0 else int(label >= level) for label in self.labels),
            tuple(int(gain >= level) for gain in self.rest),
        )


def _document(rank: int) -> str:
    return f"d{rank * 7919 % 100_003}"


def by_id(topics: list[Topic], part: str) -> dict[str, dict]:
    """The `qrels` or `run` of all topics, under the ids "1", "2", ..."""
    return {str(number): getattr(topic, part) for number, topic in enumerate(topics, 1)}


def random_topics(seed: int, count: int, longest: int) -> list[Topic]:
    """Topics of all kinds: sparse and full judgments, rare and frequent relevance."""
    draw = random.Random(seed)
    return [_random_topic(draw, longest) for _ in range(count)]


def _random_topic(draw: random.Random, longest: int) -> Topic:
    gains = draw.choices(range(5), k=draw.randint(1, 5))
    unjudged = draw.choice([0.0, 0.2, 0.8])
    labels = [
        UNJUDGED if draw.random() < unjudged else draw.choice(gains)
        for _ in range(draw.randint(1, longest))
    ]
    rest = [draw.choice(gains) for _ in range(draw.choice([1, 1, 3, 20]))]
    return Topic(tuple(labels), tuple(rest[: draw.randint(0, len(rest))]) or (0,))
