"""Which documents of a topic to label first (SPEC 9).

A label narrows the bounds of a metric by as much as its document can count. A gain counts once for
each conversation that found the document, and in DCG more if it was found early. In recall a good
document also counts against each conversation of the topic that did not find it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.pool.document import PoolDocument, Topic

Priority = Literal["CG", "DCG", "pool_recall"]  # by which metric documents are listed first
_GOOD = 2
_UNKNOWN = 0.5  # the recall of a conversation while no good document is known

Conversation = tuple[str, str]  # run and conversation_id


class RecallState(Struct):
    """The state of a topic's labels so far.

    Attributes:
      good: number of good documents.
      by: how many of these each conversation of the topic found.
    """

    good: int = 0
    by: dict[Conversation, int] = {}

    def add(self, document: PoolDocument, label: int | None) -> None:
        """Add a document of the topic."""
        good = label is not None and label >= _GOOD
        self.good += good
        for conversation in _first_seen(document):
            self.by[conversation] = self.by.get(conversation, 0) + good

    def shift_of_recall(self, document: PoolDocument) -> float:
        """The total change of the recalls of all conversations if a document is good.

        With h of P good documents found: (h + 1) / (P + 1) - h / P if it was found, else h / P - h
        / (P + 1).
        """
        finders = _first_seen(document)
        recalls = (
            (finder, hits / self.good if self.good else _UNKNOWN)
            for finder, hits in self.by.items()
        )
        shifts = (1 - recall if finder in finders else recall for finder, recall in recalls)
        return sum(shifts) / (self.good + 1)


def weight_of(document: PoolDocument, metric: str, state: RecallState | None = None) -> float:
    """How much a label can change the metric over all conversations, with a gain counting as 1."""
    first = _first_seen(document)
    if metric == "DCG":
        return sum(1 / log2(i + 1) for i in first.values())
    if metric == "pool_recall" and state is not None:
        return state.shift_of_recall(document)
    return float(len(first))


def _first_seen(document: PoolDocument) -> dict[Conversation, int]:
    """For each conversation, the i at which it first saw a document."""
    first: dict[Conversation, int] = {}
    for place in document.places:
        conversation = place.run, place.conversation_id
        first[conversation] = min(first.get(conversation, place.i), place.i)
    return first


def is_within_depth(document: PoolDocument, depth: int) -> bool:
    """Whether a conversation saw it among the first `depth` results of a search call."""
    return any(place.rank <= depth for place in document.places)


def sort_documents(
    documents: Iterable[PoolDocument],
    metric: str,
    states: Mapping[Topic, RecallState] = MappingProxyType({}),
) -> list[PoolDocument]:
    """Sort documents so that those that narrow the bounds of a metric most come first."""

    def key(document: PoolDocument) -> tuple[float, int, str, int]:
        weight = weight_of(document, metric, states.get(document.topic))
        return -weight, -len(_first_seen(document)), document.topic.key, document.number

    return sorted(documents, key=key)
