"""Converts pool documents to flat rows, which are the same in every file format, and back (SPEC 9).

Nested values are JSON in a text column, so rows look alike in Avro, Parquet and JSON Lines, and in
any tool that reads these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import xxhash
from msgspec.structs import asdict

from goodgain.transforms.core.pool.document import PoolDocument, PooledPlace, Topic, Vote
from goodgain.transforms.core.records.search_call import Gain, Result

Row = dict[str, Any]
_encode = msgspec.json.Encoder(order="sorted").encode
_evidence = msgspec.json.Decoder(tuple[Result, ...]).decode
_places = msgspec.json.Decoder(tuple[PooledPlace, ...]).decode
_votes = msgspec.json.Decoder(tuple[Vote, ...]).decode
_given = msgspec.json.Decoder(dict[str, Gain]).decode
_aspects = msgspec.json.Decoder(dict[str, tuple[str, ...]]).decode


def document_row(document: PoolDocument, preferred: str | None = None) -> Row:
    """The row of a document."""
    return {
        "topic": document.topic.value,
        "conversation_id": document.topic.conversation_id,
        "number": document.number,
        "document": document.document,
        "label": document.label(preferred),
        "entity_type": first_text(document, "entity_type"),
        "title": first_text(document, "title"),
        "url": first_text(document, "url"),
        "given": _text(document.given),
        "aspects": _text(document.aspects),
        "votes": _text(document.votes),
        "places": _text(document.places),
        "evidence": _text([_written_fields(result) for result in document.evidence]),
    }


def document_of(row: Mapping[str, Any]) -> PoolDocument:
    """The document of a row.

    Raises:
      KeyError: a column is missing.
      msgspec.DecodeError: a column has other content than `document_row` writes.
    """
    return PoolDocument(
        topic=Topic(row["topic"], row["conversation_id"]),
        number=row["number"],
        document=row["document"],
        evidence=_evidence(row["evidence"]),
        places=_places(row["places"]),
        votes=_votes(row["votes"]),
        given=_given(row["given"]),
        aspects=_aspects(row["aspects"]),
    )


def document_digest(document: PoolDocument) -> int:
    """A 128-bit digest of a document with its places and labels."""
    return xxhash.xxh3_128_intdigest(_encode(document))


def content_digest(total: int, preferred: str | None) -> str:
    """The digest of a pool's content, from the sum of its documents' digests."""
    return xxhash.xxh3_128_hexdigest(f"{total % (1 << 128)} {preferred!r}".encode())


def first_text(document: PoolDocument, name: str) -> str | None:
    """The first non-blank value of a text in the evidence."""
    texts = (getattr(result, name) for result in document.evidence)
    return next((text for text in texts if text and text.strip()), None)


def ids_of(document: PoolDocument) -> dict[str, list[str]]:
    """The distinct ids in the evidence by name, the generic id as `id`, in the order as seen."""
    found: dict[str, dict[str, None]] = {}
    for result in document.evidence:
        for name, value in (*result.ids.items(), *((("id", result.id),) if result.id else ())):
            values = [value] if isinstance(value, str) else value
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: list(values) for name, values in found.items()}


def _text(value: Any) -> str:
    return _encode(value).decode()


def _written_fields(result: Result) -> Row:
    """The fields of a result that have a value."""
    return {
        name: value for name, value in asdict(result).items() if value is not None and value != {}
    }
