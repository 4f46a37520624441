"""The section of a comparison's page about the documents of a pool that each arm found."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.pipeline.document.model import Heading, Sentence
from goodgain.pipeline.document.page import Chart, Details, PageBlock, Section, section
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.studies.comparison.pool_finds import PoolFinds
from goodgain.pipeline.views.found_documents import count_finds, describe_one_sided_topics

_MOST_TOPICS = 12  # with documents that one arm alone found
_MOST_DOCUMENTS = 5  # per topic and arm
_LONGEST_FOLDER = 120


def pool_section(finds: PoolFinds, folder: str) -> Section:
    """How much of the pool each arm found.

    Args:
      folder: of the pool.
    """
    return section(
        "pool",
        "Share of the pool",
        "Share of the good documents known for the topic (found by any pooled run) that each arm "
        "had found by iteration i. Both arms use the pool "
        f"`{shorten(folder, _LONGEST_FOLDER)}`.",
        Chart("pool", "Good documents of the pool found by i", "with 95 % bands.")
        if finds.shares
        else Sentence(
            "The share by iteration was not compared; add `--metrics pool_recall`.", "strong"
        ),
        Heading("Who found what"),
        count_finds(finds),
        _one_sided_part(finds),
    )


def _one_sided_part(finds: PoolFinds) -> Iterator[PageBlock]:
    topics = list(describe_one_sided_topics(finds.documents, _MOST_TOPICS, _MOST_DOCUMENTS))
    if topics:
        yield Heading("Found by one arm alone")
        yield Sentence(
            "The topics on which the arms differ most, with labels in brackets. All documents are "
            "in the dataset `pool_documents`.",
            "quiet",
        )
    for at, (summary, lines) in enumerate(topics):
        yield Details(summary, tuple(lines), "conversation", is_open=at == 0)
