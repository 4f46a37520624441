"""Which documents of a topic to label first (SPEC 9).

A label narrows the bounds of what is measured by as much as its document can count for. Gains
count once for each conversation that found it, and in DCG the more the earlier it was found. In
recall a good document also counts against each conversation of the topic that did not find it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log2
from types import MappingProxyType

from msgspec import Struct

from goodgain.transforms.core.pool.document import PoolDocument, Topic

METRICS = ("CG", "DCG", "pool_recall")
_GOOD = 2
_UNKNOWN = 0.5  # the recall of a conversation while no good document is known

Conversation = tuple[str, str]  # run and conversation_id


class FoundSoFar(Struct):
    """What the labels of a topic say so far.

    Attributes:
      good: good documents.
      by: of these, how many each conversation of the topic found.
    """

    good: int = 0
    by: dict[Conversation, int] = {}

    def add(self, document: PoolDocument, label: int | None) -> None:
        """Take in a document of the topic."""
        good = label is not None and label >= _GOOD
        self.good += good
        for conversation in _first_seen(document):
            self.by[conversation] = self.by.get(conversation, 0) + good

    def shift_of_recall(self, document: PoolDocument) -> float:
        """By how much the recalls of its conversations change in sum if a document is good.

        Of h good ones found of P, (h + 1) / (P + 1) - h / P where it was found, else h / P -
        h / (P + 1).
        """
        found = _first_seen(document)
        recalls = (
            (one, hits / self.good if self.good else _UNKNOWN) for one, hits in self.by.items()
        )
        shifts = (1 - recall if one in found else recall for one, recall in recalls)
        return sum(shifts) / (self.good + 1)


def weight_of(document: PoolDocument, metric: str, found: FoundSoFar | None = None) -> float:
    """By how much a label can move the metric over all conversations, a gain counting as one.

    Args:
      found: of the document's topic, for pool_recall.
    """
    first = _first_seen(document)
    if metric == "DCG":
        return sum(1 / log2(i + 1) for i in first.values())
    if metric == "pool_recall" and found is not None:
        return found.shift_of_recall(document)
    return float(len(first))


def _first_seen(document: PoolDocument) -> dict[Conversation, int]:
    """By conversation, at which i it first saw a document."""
    first: dict[Conversation, int] = {}
    for place in document.places:
        conversation = place.run, place.conversation_id
        first[conversation] = min(first.get(conversation, place.i), place.i)
    return first


def within_depth(document: PoolDocument, depth: int) -> bool:
    """Whether a conversation saw it among the first `depth` results of a search call."""
    return any(place.rank <= depth for place in document.places)


def in_order(
    documents: Iterable[PoolDocument],
    metric: str,
    found: Mapping[Topic, FoundSoFar] = MappingProxyType({}),
) -> list[PoolDocument]:
    """Those first that narrow the bounds of a metric most.

    Args:
      found: by topic, for pool_recall.
    """

    def key(one: PoolDocument) -> tuple[float, int, str, int]:
        weight = weight_of(one, metric, found.get(one.topic))
        return -weight, -len(_first_seen(one)), one.topic.key, one.number

    return sorted(documents, key=key)
