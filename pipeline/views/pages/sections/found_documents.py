"""The section of a comparison's page about the documents of a pool that each arm found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from goodgain.pipeline.document.model import (
    Heading,
    Sentence,
    count,
    table,
)
from goodgain.pipeline.document.numbers import count_text, share
from goodgain.pipeline.document.page import (
    Chart,
    Details,
    PageBlock,
    Section,
    blocks_of,
    section,
)
from goodgain.pipeline.document.safe_text import shortened
from goodgain.pipeline.views.pages.sections.arms import ARMS
from goodgain.transforms.core.wording import counted

Row = Mapping[str, Any]
_MOST_TOPICS = 12  # with documents that one arm alone found
_MOST_DOCUMENTS = 5  # per topic and arm
_LONGEST_KEY = 80
_LONGEST_DOCUMENT = 120
_FOUND_BY = {
    "both": "both",
    "base": "the base alone",
    "candidate": "the candidate alone",
    "neither": "neither",
}


def pool_section(pool: Row, documents: Iterable[Row]) -> Section:
    """How much of the pool each arm found.

    Args:
      documents: rows of `pool_documents`.
    """
    good = sum(pool[who] for who in _FOUND_BY)
    left_out = pool["topics_of_one_arm"]
    is_left_out = counted(
        left_out, "topic that only one arm searched is", "topics that only one arm searched are"
    )
    return section(
        "pool",
        "Share of the pool",
        "Share of the good documents known for the topic (found by any pooled run) that each arm "
        "had found by iteration i. Both arms use the pool "
        f"`{shortened(pool['folder'], _LONGEST_DOCUMENT)}`.",
        Chart("pool", "Good documents of the pool found by i", "with 95 % bands.")
        if pool["shares"]
        else Sentence(
            "The share by iteration was not compared; add `--metrics pool_recall`.", "strong"
        ),
        Heading("Who found what"),
        Sentence(
            f"The {counted(good, 'good document')} of the {counted(pool['topics'], 'topic')} that "
            "both arms searched, each counted once."
            + (f" {is_left_out} left out." if left_out else "")
        ),
        table(
            ("found by", "documents", "share"),
            [(words, count(pool[who]), share(pool[who], good)) for who, words in _FOUND_BY.items()],
            "Good documents by who found them",
        ),
        _listed(pool, documents),
    )


def _listed(pool: Row, documents: Iterable[Row]) -> Iterator[PageBlock]:
    if pool["note"]:
        yield Sentence(f"The documents cannot be listed: {pool['note']}.", "strong")
        return
    topics = _one_sided(documents)
    if not topics:
        return
    yield Heading("Found by one arm alone")
    yield Sentence(
        "The topics on which the arms differ most, with labels in brackets. All documents are in "
        "the dataset `pool_documents`.",
        "quiet",
    )
    for at, (topic, by_arm) in enumerate(list(topics.items())[:_MOST_TOPICS]):
        counts = (f"{count_text(len(found))} by the {arm} alone" for arm, found in by_arm.items())
        yield Details(
            f"{shortened(topic, _LONGEST_KEY)}: {', '.join(counts)}",
            blocks_of(*(_found(arm, found) for arm, found in by_arm.items() if found)),
            "conversation",
            is_open=at == 0,
        )


def _one_sided(rows: Iterable[Row]) -> dict[str, dict[str, list[Row]]]:
    """The pool documents that only the base or only the candidate found, by topic."""
    topics: dict[str, dict[str, list[Row]]] = {}
    for row in rows:
        if row["found_by"] in ARMS:
            topic = row["topic"] if row["topic"] is not None else row["conversation_id"]
            topics.setdefault(topic, {name: [] for name in ARMS})[row["found_by"]].append(row)
    return topics


def _found(arm: str, documents: Sequence[Row]) -> Iterator[Sentence]:
    yield Sentence(f"Only the {arm}:", "quiet")
    best_first = sorted(documents, key=lambda row: (-row["label"], row["number"]))
    for one in best_first[:_MOST_DOCUMENTS]:
        name = shortened(one["title"] or one["document"], _LONGEST_DOCUMENT)
        url = f" {shortened(one['url'], _LONGEST_DOCUMENT)}" if one["url"] else ""
        yield Sentence(f"[{one['label']}] {name}{url}", "quiet", indent=1)
    if len(documents) > _MOST_DOCUMENTS:
        more = count_text(len(documents) - _MOST_DOCUMENTS)
        yield Sentence(f"and {more} more", "quiet", indent=1)
