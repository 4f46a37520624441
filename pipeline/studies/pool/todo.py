"""`goodgain pool todo`: the unlabelled documents of a pool, each once."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from goodgain.pipeline.results.atomic_files import replace_named
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import Column, Dataset
from goodgain.pipeline.results.formats import WRITERS
from goodgain.pipeline.results.pool_store import Pool
from goodgain.pipeline.results.suffixes import format_of
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.document_rows import first_text, ids_of
from goodgain.transforms.core.pool.todo import RecallState, is_within_depth, sort_documents

LABELLING_LIST = Dataset(
    "todo",
    "One row for each document of a pool without a label, to fill in.",
    (
        Column("document", "text", "Its name in the pool."),
        Column("gain", "whole", "To fill in: its label, from 0 to 4.", nullable=True),
        Column("aspects", "text", "To fill in: aspects that it covers.", nullable=True),
        Column("topic", "text", "The topic, or the conversation that has none."),
        Column("query", "text", "Queries that found it, one a line."),
        Column("entity_type", "text", "Its type.", nullable=True),
        Column("title", "text", "Its title.", nullable=True),
        Column("url", "text", "Its URL.", nullable=True),
        Column("ids", "text", "Its ids by name."),
        Column("text", "text", "Its content, else its snippet.", nullable=True),
        Column("seen", "text", "Where it was seen: run, conversation, iteration and rank."),
        Column("runs", "text", "The runs that found it."),
    ),
)


class Todo(Struct, frozen=True):
    """The documents left to label.

    Attributes:
      documents: unlabelled documents, in the order in which to label them.
      deeper: number of unlabelled documents seen only below the depth.
      results: number of places where any document was seen.
      saved: number of these places that need no label of their own.
    """

    documents: list[PoolDocument]
    deeper: int
    results: int
    saved: int


def todo_of(pool: Pool, depth: int | None, metric: str) -> Todo:
    """The documents to label.

    Args:
      depth: only those seen among the first `depth` results of a search call; None = all.
      metric: the metric whose bounds labelling should narrow.

    Raises:
      GoodGainError: a file of the pool cannot be read.
    """
    unlabelled: list[PoolDocument] = []
    so_far: dict[Topic, RecallState] = {}
    deeper = results = documents = 0
    for document in pool.documents():
        if not document.places:
            continue
        results += len(document.places)
        documents += 1
        label = document.label(pool.preferred)
        if metric == "pool_recall":
            so_far.setdefault(document.topic, RecallState()).add(document, label)
        if label is None:
            if depth is None or is_within_depth(document, depth):
                unlabelled.append(document)
            else:
                deeper += 1
    return Todo(sort_documents(unlabelled, metric, so_far), deeper, results, results - documents)


def row_of(document: PoolDocument) -> Row:
    """The row of a document, with everything that an annotator needs."""
    text = first_text(document, "content") or first_text(document, "snippet")
    queries = dict.fromkeys(place.query for place in document.places if place.query)
    seen = [
        f"{place.run}: {place.conversation_id}, i={place.i}, rank {place.rank}"
        for place in document.places
    ]
    return {
        "document": document.document,
        "gain": None,
        "aspects": None,
        "topic": document.topic.value or document.topic.conversation_id,
        "query": "\n".join(queries),
        "entity_type": first_text(document, "entity_type"),
        "title": first_text(document, "title"),
        "url": first_text(document, "url"),
        "ids": "; ".join(
            f"{name} {', '.join(values)}" for name, values in ids_of(document).items()
        ),
        "text": text,
        "seen": "; ".join(seen),
        "runs": ", ".join(sorted({place.run for place in document.places})),
    }


def write_todo(documents: Iterable[PoolDocument], path: str) -> None:
    """Write rows to fill in, in the format of the file's suffix, completely or not at all.

    Raises:
      UsageError: the file has another suffix, or cannot be written.
    """
    write = format_of(path, WRITERS)
    with replace_named(path) as file:
        write(LABELLING_LIST, map(row_of, documents), file)
