"""The documents of a pool, distinct within a topic, with their labels and places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec import Struct

from goodgain.transforms.core.records.search_call import Gain, Result


class Topic(Struct, frozen=True, array_like=True, order=True):
    """A topic of a pool; exactly one of the two attributes is set.

    Attributes:
      value: value of the topic's attribute, trimmed.
      conversation_id: a conversation without that attribute, which is a topic of its own.
    """

    value: str | None
    conversation_id: str | None = None

    def __str__(self) -> str:
        """The name of the topic for people."""
        return f"conversation {self.conversation_id}" if self.value is None else self.value

    @property
    def key(self) -> str:
        """A unique string for sorting and hashing; topics from the attribute come first."""
        return f"v{self.conversation_id}" if self.value is None else f"a{self.value}"


def topic_of(conversation_id: str, attributes: Mapping[str, str], attribute: str | None) -> Topic:
    """The topic of a conversation (SPEC 9).

    Args:
      attributes: attributes of the conversation, not of one record.
      attribute: the attribute that holds the topic; None if every conversation is a topic.
    """
    value = attributes.get(attribute, "").strip() if attribute else ""
    return Topic(value) if value else Topic(None, conversation_id)


class PooledPlace(Struct, frozen=True, order=True):
    """Where a document was seen.

    Attributes:
      at: the result's number in the last turn, from 0, duplicates included.
      i, iteration: dense index and raw number of the iteration.
      rank: from 1.
      evidence: index into the document's evidence.
    """

    run: str
    conversation_id: str
    at: int
    turn: int
    i: int
    iteration: int
    call: int | None
    record_id: str | None
    rank: int
    evidence: int
    query: str | None


class Vote(Struct, frozen=True, order=True):
    """The label that one conversation's trace gave a document."""

    run: str
    conversation_id: str
    gain: Gain


class PoolDocument(Struct, frozen=True):
    """One document of a topic.

    Attributes:
      number: from 1, in the order in which documents were added.
      document: its id, stable when the pool grows.
      evidence: the distinct evidence with texts, in the order in which it was added; without
        labels.
      given: labels added to the pool, by annotator.
      aspects: the aspects that annotators found in it; () = judged, none.
    """

    topic: Topic
    number: int
    document: str
    evidence: tuple[Result, ...]
    places: tuple[PooledPlace, ...]
    votes: tuple[Vote, ...]
    given: dict[str, Gain] = {}
    aspects: dict[str, tuple[str, ...]] = {}

    def label(self, preferred: str | None = None) -> int | None:
        """The label that counts (SPEC 9): one added to the pool, else from votes, else None.

        Args:
          preferred: an annotator whose label, if there is one, overrides those of others.
        """
        if preferred is not None and preferred in self.given:
            return self.given[preferred]
        return choose_most_frequent(self.given.values() or (vote.gain for vote in self.votes))

    def covered_aspects(self, preferred: str | None = None) -> frozenset[str] | None:
        """The aspects that it covers (SPEC 13); None if nobody judged it for aspects.

        Those that more than half of its annotators found, else those of the first of its evidence
        that was judged in a trace.

        Args:
          preferred: an annotator whose aspects, if there are any, override those of others.
        """
        if preferred is not None and preferred in self.aspects:
            return frozenset(self.aspects[preferred])
        if self.aspects:
            found = Counter(name for names in self.aspects.values() for name in set(names))
            return frozenset(aspect for aspect in found if 2 * found[aspect] > len(self.aspects))
        of_traces = (result.aspects for result in self.evidence if result.aspects is not None)
        first = next(of_traces, None)
        return None if first is None else frozenset(first)

    @property
    def disagrees(self) -> bool:
        """Whether the annotators or, without any, the votes disagree."""
        return len(set(self.given.values() or (vote.gain for vote in self.votes))) > 1


def choose_most_frequent(gains: Iterable[int]) -> int | None:
    """The most frequent label, the lowest if tied; None without labels (SPEC 9)."""
    counted = Counter(gains)
    return min(counted, key=lambda gain: (-counted[gain], gain)) if counted else None
