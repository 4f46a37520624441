"""`goodgain pool todo`: the unlabelled documents of a pool, each once."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.atomic_files import report_unwritable
from goodgain.pipeline.results.pool_store import Pool
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.pool.document import PoolDocument, Topic
from goodgain.transforms.core.pool.document_rows import first_text, ids_of
from goodgain.transforms.core.pool.todo import RecallState, in_order, within_depth

COLUMNS = (
    "document", "gain", "aspects", "topic", "query", "entity_type", "title", "url", "ids", "text",
    "seen", "runs",
)  # fmt: skip


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
            if depth is None or within_depth(document, depth):
                unlabelled.append(document)
            else:
                deeper += 1
    return Todo(in_order(unlabelled, metric, so_far), deeper, results, results - documents)


def row_of(document: PoolDocument) -> dict[str, Any]:
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
    """Write rows to fill in: a table for a spreadsheet (`.csv`), or JSON Lines.

    Raises:
      UsageError: the file has another suffix, or cannot be written.
    """
    if not path.endswith((".csv", ".jsonl")):
        raise UsageError(f"{path} must end with .csv or .jsonl.")
    with report_unwritable(path), open(path, "w", encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            for document in documents:
                file.write(json.dumps(row_of(document), ensure_ascii=False) + "\n")
        else:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(map(_quote_formulas, map(row_of, documents)))


def _quote_formulas(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row, with quotes so that spreadsheets do not interpret texts as formulas."""
    return {
        name: f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@") else value
        for name, value in row.items()
    }
