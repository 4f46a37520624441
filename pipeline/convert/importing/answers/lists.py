"""Lists of documents in the shapes that retrievers give them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goodgain.pipeline.convert.importing.answers.document_fields import Document


def strip_score(value: Any) -> Any:
    """The document of a pair of a document and its score."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], dict):
        document, score = value
        if isinstance(score, int | float) and not isinstance(score, bool):
            return {"score": score, **document}
    return value


def lists_of(value: dict[str, Any]) -> list[list[Any]]:
    """The lists in an object that are not empty."""
    return [items for items in value.values() if isinstance(items, list) and items]


def rows_of_columns(value: dict[str, Any]) -> list[Document] | None:
    """The documents of an answer by columns, each a list in a list, as Chroma gives them."""
    columns = {"ids": "id", "documents": "text", "metadatas": "metadata"}
    nested = {
        field: value[name][0]
        for name, field in columns.items()
        if isinstance(value.get(name), list) and value[name] and isinstance(value[name][0], list)
    }
    if "id" not in nested:
        return None
    rows: Iterable[tuple[Any, ...]] = zip(*nested.values(), strict=False)
    return [dict(zip(nested, row, strict=True)) for row in rows]
