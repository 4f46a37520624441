"""The names under which other tools give a document's id, address, title, text and score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from goodgain.pipeline.convert.importing.answers.written_values import decode_json

# Where a document may hold its fields: itself, or under one of these.
_INNER = (
    "metadata", "meta", "document", "node", "kwargs", "_source", "payload", "web",
    "retrievedContext", "retrieved_context", "fields", "additional_metadata", "document.metadata",
    "location",
)  # fmt: skip
_ANY_INNER = frozenset(_INNER)
# Where an object in a document may hold them: that of Vertex AI's search, and places of Bedrock.
_DEEPER = (
    "metadata", "meta", "derivedStructData", "structData", "s3Location", "webLocation",
    "sharePointLocation", "confluenceLocation",
)  # fmt: skip
_IDS = (
    "document.id", "id", "doc_id", "docid", "document_id", "_id", "id_", "node_id", "uuid",
    "file_id",
)  # fmt: skip
_URLS = (
    "document.url", "url", "link", "href", "source_url", "doc_uri", "uri", "web_url",
    "webUrl", "page_url", "pageUrl", "html_url", "sourceURL", "document_url", "entry_id",
)  # fmt: skip
# A source may also be the name of a provider, so it has to look like an address.
_SOURCES = ("source", "file_path", "path")
_TITLES = ("document.name", "title", "headline", "document_title", "file_name")
_NAMES = ("name", "displayName", "filename")
_SNIPPETS = (
    "document.content", "snippet", "page_content", "pageContent", "content", "text",
    "body", "description", "summary", "passage", "chunk", "excerpt", "highlights",
    "highlight", "preview", "contents", "segment", "page_snippet", "extra_snippets",
)  # fmt: skip
_CONTENTS = ("raw_content", "full_content", "full_text", "markdown", "raw_text")
_SCORES = (
    "document.score", "score", "relevance_score", "rerank_score", "similarity", "_score",
    "@search.score", "search.score",
)  # fmt: skip
_TYPES = ("entity_type",)
_INDICATIONS = frozenset("/.:\\")

Document = dict[str, Any]


def id_of(document: Any) -> Any:
    """The document's own id, else one in its metadata."""
    return _first(document, _IDS)


def url_of(document: Any) -> Any:
    """The address: a URL, or a source that is a path or a file's name."""
    for holder in _holders(document):
        url = next((holder[name] for name in _URLS if _is_text(holder.get(name))), None)
        if url is not None:
            return url
        for name in _SOURCES:
            source = holder.get(name)
            if isinstance(source, dict) and _is_text(source.get("url")):
                return source["url"]
            if isinstance(source, str) and " " not in source and _INDICATIONS & set(source):
                return source
    return None


def title_of(document: Any) -> Any:
    """The title, else the name."""
    title = _first(document, _TITLES)
    return _first(document, _NAMES) if title is None else title


def text_of(document: Any) -> str | None:
    """The passage that the search showed, else the document's whole text."""
    passage = _text(document, _SNIPPETS)
    return _text(document, _CONTENTS) if passage is None else passage


def content_of(document: Any) -> str | None:
    """The document's whole text, where it is given beside a passage."""
    return None if _text(document, _SNIPPETS) is None else _text(document, _CONTENTS)


def score_of(document: Any) -> Any:
    """The retriever's score."""
    return _first(document, _SCORES)


def type_of(document: Any) -> Any:
    """The entity type, whose rules for duplicates apply."""
    return _first(document, _TYPES)


def is_document(value: Any) -> bool:
    """Whether an object has anything by which a document could be recognized."""
    return isinstance(value, dict) and any(
        found is not None
        for found in (_first(value, _IDS), url_of(value), _first(value, _TITLES), text_of(value))
    )


def is_named_document(value: Document) -> bool:
    """Whether an object of a list is a document: it has an address or id, and a title or text."""
    is_titled = url_of(value) is not None and _first(value, _TITLES) is not None
    return is_titled or is_whole_document(value)


def is_whole_document(value: Document) -> bool:
    """Whether an object alone is a document: it has an address, id or title, and a text."""
    named = url_of(value) is not None or _first(value, (*_IDS, *_TITLES)) is not None
    return named and text_of(value) is not None


def _holders(document: Any) -> Iterator[Document]:
    """The document and the objects within it that may hold its fields."""
    if not isinstance(document, dict):
        return
    yield document
    if _ANY_INNER.isdisjoint(document):  # the common case
        return
    for name in _INNER:
        inner = document.get(name)
        if isinstance(inner, str) and inner.startswith("{"):
            inner = decode_json(inner)
        if isinstance(inner, dict):
            yield inner
            for deeper in _DEEPER:
                if isinstance(inner.get(deeper), dict):
                    yield inner[deeper]


def _first(document: Any, names: Sequence[str]) -> Any:
    for holder in _holders(document):
        for name in names:
            value = holder.get(name)
            if value is not None and value != "" and not isinstance(value, dict | list | bool):
                return value
    return None


def _text(document: Any, names: Sequence[str]) -> str | None:
    for holder in _holders(document):
        for name in names:
            text = _join(holder.get(name))
            if text:
                return text
    return None


def _join(value: Any) -> str | None:
    """A text, or the texts of a list of strings or of content blocks."""
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, dict):
        return _join(value.get("text"))
    if isinstance(value, list):
        return "\n".join(text for text in map(_join, value) if text) or None
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
