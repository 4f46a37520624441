"""What a tool was called with: its query, or the addresses of documents to open."""

from __future__ import annotations

import re
from typing import Any

from goodgain.pipeline.convert.importing.answers.document_fields import Document
from goodgain.pipeline.convert.importing.answers.written_values import parse_written_value

_DEEPEST = 6
_QUERIES = (
    "query", "q", "queries", "search_query", "searchQuery", "search_queries", "user_query",
    "query_list", "search_term", "search_terms", "searchTerm", "search_text", "query_text",
    "keywords", "keyword", "question", "objective", "search", "terms", "term", "pattern",
)  # fmt: skip
_TEXTS = ("input", "text", "prompt", "topic", "content", "message", "request", "")
_URLS = (
    "url", "urls", "link", "links", "href", "uri", "page_url", "pageUrl", "webpage_url",
    "url_list", "source_url", "website", "website_url",
)  # fmt: skip
_IDS = (
    "id", "ids", "docid", "docids", "doc_id", "doc_ids", "document_id", "document_ids",
    "page_id", "pageid", "page_ids", "article_id", "file_id", "file_ids", "link_id",
    "message_id", "event_id", "path", "file_path", "paths", "ref_id", "cursor",
)  # fmt: skip
_ADDRESS = re.compile(r"\s*https?://\S+\s*")
# Objects within the arguments that hold the arguments.
_INNER = (
    "arguments", "tool_input", "inputs", "input", "args", "parameters", "params",
    "input_str", "kwargs", "action", "data", "query", "parts",
)  # fmt: skip


def read_arguments(value: Any) -> dict[str, Any]:
    """The arguments by name, out of the envelopes known; a lone text stands under ""."""
    for _ in range(_DEEPEST):
        if isinstance(value, str):
            written = parse_written_value(value)
            inner = None if written is None else written.value
            if not isinstance(inner, dict | list):
                alone = inner if isinstance(inner, str) else value
                return {"": alone} if alone.strip() else {}
            value = inner
        if isinstance(value, list):
            value = value[0] if len(value) == 1 else None
        if not isinstance(value, dict):
            return {}
        nested = _inner(value)
        if nested is None:
            return value
        value = nested
    return {}


def query_of(arguments: dict[str, Any]) -> str | None:
    """The query among arguments; several are joined with `; `."""
    for name in (*_QUERIES, *_TEXTS):
        query = _query(arguments.get(name))
        if query is not None and not (name == "" and _ADDRESS.fullmatch(query)):
            return query
    texts = [value for value in arguments.values() if isinstance(value, str) and value.strip()]
    return texts[0] if len(texts) == 1 and not documents_in_arguments(arguments) else None


def has_query(arguments: dict[str, Any]) -> bool:
    """Whether an argument is named as a query."""
    return any(_query(arguments.get(name)) is not None for name in _QUERIES)


def documents_in_arguments(arguments: dict[str, Any]) -> list[Document]:
    """The documents that arguments name by URL or id, each as an object with that name."""
    for names, name_of_one in ((_URLS, "url"), (_IDS, "id")):
        for name in names:
            values = arguments.get(name)
            values = values if isinstance(values, list) else [values]
            named = [
                str(value)
                for value in values
                if isinstance(value, str | int) and str(value).strip()
            ]
            if named:
                one = name_of_one if name in _URLS else name.removesuffix("s")
                return [{one: each} for each in named]
    alone = arguments.get("")
    return [{"url": alone.strip()}] if isinstance(alone, str) and _ADDRESS.fullmatch(alone) else []


def _inner(value: dict[str, Any]) -> Any:
    """What within arguments holds the arguments themselves; None without it."""
    positional = value.get("args")
    if value.keys() <= {"args", "kwargs"} and not value.get("kwargs") and positional:
        return positional[0] if isinstance(positional, list) else positional
    for name in _INNER:
        inner = value.get(name)
        if isinstance(inner, str):
            written = parse_written_value(inner)
            inner = written.value if written is not None and name != "query" else None
        if isinstance(inner, dict) and inner:
            return inner
        is_alone = len(value) == 1 or name == "parts"
        if isinstance(inner, list) and is_alone and inner and isinstance(inner[0], dict):
            return inner
    return None


def _query(value: Any) -> str | None:
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, list):
        queries = [query for query in map(_query, value) if query is not None]
        return "; ".join(queries) or None
    if isinstance(value, dict):
        return next((text for text in (_query(value.get(name)) for name in _QUERIES) if text), None)
    return None
