"""What each arm found of their common pool, by i, and what only one arm found (SPEC 9)."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from typing import Any, Literal

from msgspec import Struct

from goodgain.pipeline.results.manifest_counts import PoolCounts
from goodgain.pipeline.results.pool_store import read_pool
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.costs import MeansOfArm
from goodgain.pipeline.studies.comparison.measures import Measure
from goodgain.pipeline.studies.comparison.sources import Arms
from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.metrics.plan import Population
from goodgain.transforms.core.pool.document import Topic, topic_of
from goodgain.transforms.core.pool.document_rows import first_text
from goodgain.transforms.core.pool.files import read_documents, shard_of
from goodgain.transforms.filesystems import open_plain

FoundBy = Literal["both", "base", "candidate", "neither"]
_SHARE = "pool_recall_at_i"
_MOST_TOPICS = 1_000  # most topics to list the documents of


class SharePoint(Struct, frozen=True):
    """The mean share of the pool that an arm had found by i, with its 95 % interval."""

    arm: str
    i: int
    population: Population
    n: int
    mean: float | None
    ci_low: float | None
    ci_high: float | None


class FoundDocument(Struct, frozen=True):
    """A good document of the pool, and who found it.

    Attributes:
      topic, conversation_id: the topic; exactly one of the two is set.
    """

    topic: str | None
    conversation_id: str | None
    number: int
    document: str
    label: int
    title: str | None
    url: str | None
    found_by: FoundBy


class PoolFinds(Struct, frozen=True):
    """What two arms found of one pool.

    Attributes:
      shares: by arm and i; empty if not compared.
      topics: number of topics in both arms that have a good document in the pool.
      topics_of_one_arm: number of topics in only one arm; their documents do not count.
      both, base, candidate, neither: number of good documents of the topics, by who found them.
      documents: those of the topics on which the arms differ most; if empty, `note` says why.
    """

    shares: tuple[SharePoint, ...]
    topics: int
    topics_of_one_arm: int
    both: int
    base: int
    candidate: int
    neither: int
    documents: tuple[FoundDocument, ...]
    topics_listed: int
    note: str | None


# By topic, the numbers of the documents that base and candidate found.
_Found = dict[Topic, tuple[frozenset[int], frozenset[int]]]
_FOUND_BY: dict[tuple[bool, bool], FoundBy] = {
    (True, True): "both",
    (True, False): "base",
    (False, True): "candidate",
    (False, False): "neither",
}


def compare_pool_finds(
    arms: Arms, everyone: bool, cluster: str | None, interval: Interval
) -> PoolFinds | None:
    """What both arms found; None unless they were scored with one pool.

    Args:
      everyone: whether conversations that did not search count in the shares.
    """
    base, candidate = arms.base_source.manifest.pool, arms.candidate_source.manifest.pool
    if not base or not candidate or base.digest != candidate.digest:
        return None
    base_topics = _by_topic(arms.base, base.topic)
    candidate_topics = _by_topic(arms.candidate, base.topic)
    found = {
        topic: (numbers, candidate_topics[topic][1])
        for topic, (good, numbers) in base_topics.items()
        if topic in candidate_topics and good
    }
    good_from = arms.base_source.manifest.options.good_gain_threshold

    def most_different(topic: Topic) -> tuple[int, Any]:
        in_base, in_candidate = found[topic]
        return -len(in_base ^ in_candidate), topic.key

    listed = {topic: found[topic] for topic in nsmallest(_MOST_TOPICS, found, key=most_different)}
    documents, note = _documents(base, listed, good_from)
    good = sum(base_topics[topic][0] for topic in found)
    both = sum(len(in_base & in_candidate) for in_base, in_candidate in found.values())
    by_base = sum(len(in_base) for in_base, _ in found.values())
    by_candidate = sum(len(in_candidate) for _, in_candidate in found.values())
    return PoolFinds(
        shares=tuple(_shares(arms, everyone, cluster, interval)),
        topics=len(found),
        topics_of_one_arm=len(base_topics.keys() ^ candidate_topics.keys()),
        both=both,
        base=by_base - both,
        candidate=by_candidate - both,
        neither=good - by_base - by_candidate + both,
        documents=documents,
        topics_listed=len(listed),
        note=note,
    )


def _by_topic(arm: Arm, attribute: str | None) -> dict[Topic, tuple[int, frozenset[int]]]:
    """For each topic, how many good documents it has, and the numbers of those found."""
    by_topic: dict[Topic, tuple[int, frozenset[int]]] = {}
    for part in (arm, arm.without_search):
        if part is None:
            continue
        for identity, attributes in zip(part.ids, part.attributes, strict=True):
            topic = topic_of(identity, attributes, attribute)
            good, numbers = arm.pool_found[identity]
            before = by_topic.get(topic, (good, frozenset()))[1]
            by_topic[topic] = good, before.union(map(int, numbers.split()))
    return by_topic


def _documents(
    pool: PoolCounts, topics: _Found, good_from: int
) -> tuple[tuple[FoundDocument, ...], str | None]:
    """The good documents of some topics, topic by topic; none if the pool has changed."""
    try:
        stored = read_pool(pool.folder)
        if stored.manifest.digest != pool.digest:
            return (), f"the pool {pool.folder} has changed since the runs were scored"
        files = stored.files
        listed: dict[Topic, list[FoundDocument]] = {topic: [] for topic in topics}
        for shard in sorted({shard_of(topic, files.shards) for topic in topics}):
            for document in read_documents(files.path(shard), open_plain, MemoryBudget(None)):
                label = document.label(stored.preferred)
                if document.topic in topics and label is not None and label >= good_from:
                    in_base, in_candidate = (
                        document.number in numbers for numbers in topics[document.topic]
                    )
                    found = FoundDocument(
                        topic=document.topic.value,
                        conversation_id=document.topic.conversation_id,
                        number=document.number,
                        document=document.document,
                        label=label,
                        title=first_text(document, "title"),
                        url=first_text(document, "url"),
                        found_by=_FOUND_BY[in_base, in_candidate],
                    )
                    listed[document.topic].append(found)
    except GoodGainError as error:
        return (), str(error).rstrip(".")
    return tuple(document for documents in listed.values() for document in documents), None


def _shares(
    arms: Arms, everyone: bool, cluster: str | None, interval: Interval
) -> Iterator[SharePoint]:
    """The mean share with its interval, by arm and i."""
    population: Population = "everyone" if everyone else "all"
    for name, arm in (("base", arms.base), ("candidate", arms.candidate)):
        means = MeansOfArm(arm.everyone() if everyone else arm, {}, cluster, interval)
        for i in range(1, arms.measures.max_i + 1 if _SHARE in arm.by_i else 0):
            row = means.mean(Measure(_SHARE, i, population))
            yield SharePoint(name, i, population, row.n, row.mean, row.ci_low, row.ci_high)
