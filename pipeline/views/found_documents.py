"""Which good documents of a pool each of two arms found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from goodgain.pipeline.document.model import Block, Sentence, count, table
from goodgain.pipeline.document.numbers import count_text, share
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.comparison.pool_finds import FoundDocument, PoolFinds
from goodgain.transforms.core.wording import format_count

_ARMS = ("base", "candidate")
_LONGEST_KEY = 80
_LONGEST_DOCUMENT = 120
_FOUND_BY = {
    "both": "both",
    "base": "the base alone",
    "candidate": "the candidate alone",
    "neither": "neither",
}


def count_finds(finds: PoolFinds) -> Iterator[Block]:
    """How many good documents both arms, one of them, or neither found."""
    if not finds.topics:
        yield Sentence(
            "No topic that has a good document was searched by both arms, so none is counted."
        )
        return
    good = sum(getattr(finds, who) for who in _FOUND_BY)
    left_out = format_count(
        finds.topics_of_one_arm,
        "topic that only one arm searched is",
        "topics that only one arm searched are",
    )
    yield Sentence(
        f"The {format_count(good, 'good document')} of the {format_count(finds.topics, 'topic')} "
        "that both arms searched, each counted once."
        + (f" {left_out} left out." if finds.topics_of_one_arm else "")
    )
    rows = ((words, getattr(finds, who)) for who, words in _FOUND_BY.items())
    yield table(
        ("found by", "documents", "share"),
        [(words, count(number), share(number, good)) for words, number in rows],
        "Good documents by who found them",
    )
    if finds.note:
        yield Sentence(f"The documents cannot be listed: {finds.note}.", "strong")


def describe_one_sided_topics(
    documents: Iterable[FoundDocument], most_topics: int, most_documents: int
) -> Iterator[tuple[str, list[Sentence]]]:
    """Topics with documents that one arm alone found: a summary, and the documents by arm."""
    topics: dict[str, dict[str, list[FoundDocument]]] = {}
    for document in documents:
        if document.found_by in _ARMS:
            topic = document.topic if document.topic is not None else document.conversation_id
            by_arm = topics.setdefault(topic or "", {arm: [] for arm in _ARMS})
            by_arm[document.found_by].append(document)
    for topic, by_arm in list(topics.items())[:most_topics]:
        counts = (f"{count_text(len(found))} by the {arm} alone" for arm, found in by_arm.items())
        yield (
            f"{shorten(topic, _LONGEST_KEY)}: {', '.join(counts)}",
            [
                line
                for arm, found in by_arm.items()
                if found
                for line in _lines(arm, found, most_documents)
            ],
        )


def _lines(arm: str, documents: Sequence[FoundDocument], most: int) -> Iterator[Sentence]:
    yield Sentence(f"Only the {arm}:", "quiet")
    best_first = sorted(documents, key=lambda document: (-document.label, document.number))
    for document in best_first[:most]:
        name = shorten(document.title or document.document, _LONGEST_DOCUMENT)
        url = f" {shorten(document.url, _LONGEST_DOCUMENT)}" if document.url else ""
        yield Sentence(f"[{document.label}] {name}{url}", "quiet", indent=1)
    if len(documents) > most:
        yield Sentence(f"and {count_text(len(documents) - most)} more", "quiet", indent=1)
