"""Reads what a tool answered out of the envelopes in which frameworks wrap it."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.blocks import is_block, is_other_block, word_of
from goodgain.pipeline.convert.importing.answers.document_fields import (
    Document,
    is_document,
    is_named_document,
    is_whole_document,
    url_of,
)
from goodgain.pipeline.convert.importing.answers.error_texts import error_text, plain_error
from goodgain.pipeline.convert.importing.answers.lists import lists_of, rows_of_columns, strip_score
from goodgain.pipeline.convert.importing.answers.text_documents import parse_text_documents
from goodgain.pipeline.convert.importing.answers.written_values import parse_written_value

_DEEPEST = 12
# Keys under which an answer or its documents stand, in the order in which they are looked at.
_LISTS = (
    "documents", "results", "docs", "hits", "items", "sources", "search_results", "nodes",
    "organic_results", "organic", "matches", "chunks", "passages", "source_nodes", "entries",
    "retrieved_documents", "retrieval_results", "retrievalResults", "webPages", "points",
    "articles", "pages", "files", "records", "web",
)  # fmt: skip
_ENVELOPES = (
    "content", "output", "outputs", "data", "artifact", "structuredContent",
    "structured_content", "return_value", "raw_output", "tool_response", "response",
    "result", "value", "update", "messages", "text", "json", "blocks", "answer", "body", "kwargs",
    "parts",
)  # fmt: skip
_LOOKED_AT = frozenset((*_LISTS, *_ENVELOPES))
# Objects beside an answer that may hold lists of their own.
_NO_ANSWERS = frozenset(
    (
        *("metadata", "meta", "usage", "input", "inputs", "arguments", "args", "parameters"),
        *("config", "request", "query", "raw_input", "tool_calls", "additional_kwargs"),
    )
)
_FAILED = frozenset(("error", "failed", "failure"))
_NOTHING_FOUND = re.compile(
    r"(?:[^\n]{0,40}\bresults for\b[^\n]*\n)?\W*(?:found\s+|there (?:are|were)\s+)?"
    r"(?:(?:no|zero|0)\s+(?:\w+\s+){0,4}?(?:results?|documents?|matches|hits?|pages?|records?|"
    r"information|links?|passages?|articles?)\b.{0,200}|nothing\s+(?:was\s+)?found\b.{0,100}|"
    r"(?:\w+\s+){1,3}did not match any\b.{0,100}|(?:none|null|no results)\W*)",
    re.IGNORECASE | re.DOTALL,
)
_ERROR_TEXT = re.compile(
    r"\W*(?:\w+\.)*(?:\w*Error\b|\w*Exception\b|error:|traceback \(|failed to |request failed|"
    r"error executing|error calling|tool execution failed|HTTP(?: error)? [45]\d\d\b)",
    re.IGNORECASE,
)


class Answer(Struct, frozen=True):
    """What a tool answered.

    Attributes:
      documents: the documents, [] if it found none; None if it is no list of documents.
      is_single: whether the answer is one document by itself, rather than a list.
      listed: documents that only its text lists, like links; None if there are none.
      unread: a list of something else than documents.
      text: its text, if it has one.
      error: what it says about its failure.
      is_cut_off: whether it ends in the middle, and was read up to there.
    """

    documents: list[Document] | None = None
    is_single: bool = False
    listed: list[Document] | None = None
    unread: list[Any] | None = None
    text: str | None = None
    error: str | None = None
    is_cut_off: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it says that nothing was found."""
        return self.documents == []


def read_answer(value: Any) -> Answer:
    """Read an answer: a value, or a text that writes one, in any envelope known."""
    reader = _Reader()
    documents = reader.documents(value, 0)
    text = "\n".join(dict.fromkeys(reader.texts)) or None
    listed = None
    if documents is None and text is not None and reader.error is None:
        if _NOTHING_FOUND.fullmatch(text):
            documents = []
        elif _ERROR_TEXT.match(text):
            reader.error = text
        else:
            listed = parse_text_documents(text)
    elif documents is None and text is None and reader.is_blank:
        documents = []
    return Answer(
        documents,
        bool(documents) and reader.is_single,
        listed,
        None if documents is not None or _are_tags(reader) else reader.unread,
        text,
        None if documents or reader.error is None else error_text(reader.error),
        reader.is_cut_off,
    )


def _list_inside(others: dict[str, Any], depth: int) -> list[Document] | None:
    """The list of documents in an object under a name that no envelope known has; else None."""
    for name, inner in others.items():
        if isinstance(inner, dict) and name not in _NO_ANSWERS:
            reader = _Reader()
            documents = reader.documents(inner, depth + 1)
            if documents and not reader.is_single:
                return documents
    return None


class _Reader:
    """Looks for documents in an answer, and notes what else it holds."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.unread: list[Any] | None = None
        self.error: str | None = None
        self.is_single = self.is_cut_off = self.is_blank = False

    def documents(self, value: Any, depth: int) -> list[Document] | None:
        """The first list of documents in a value; [] if there are only empty lists, else None."""
        if depth > _DEEPEST:
            return None
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if isinstance(value, str):
            return self._of_text(value, depth)
        if isinstance(value, list):
            return self._of_list(value, depth)
        return self._of_object(value, depth) if isinstance(value, dict) else None

    def _of_text(self, text: str, depth: int) -> list[Document] | None:
        written = parse_written_value(text)
        if written is None:
            self.is_blank |= not text.strip()
            if text.strip():
                self.texts.append(text)
            return None
        self.is_cut_off |= written.is_cut_off
        if written.value is None:
            return None
        if isinstance(written.value, str):
            self.texts.append(written.value)
            return None
        return self.documents(written.value, depth + 1)

    def _of_list(self, values: list[Any], depth: int) -> list[Document] | None:
        if not values:
            return []
        values = [strip_score(value) for value in values]
        parts: list[Document] = []
        is_read = False
        for value in values:
            inner: list[Document] | None = None
            if isinstance(value, dict) and not is_block(value):
                if not is_other_block(value) and is_document(value):
                    inner = [value]
                elif not is_other_block(value):  # perhaps what one of several queries found
                    inner = self.documents(value, depth + 1) if lists_of(value) else None
                    if inner is None:
                        self.unread = self.unread or values
            elif isinstance(value, dict | list | str):
                inner = self.documents(value, depth + 1)
            elif value is not None:
                self.unread = self.unread or values
            is_read |= inner is not None
            parts += inner or ()
        if not is_read and all(isinstance(value, str) for value in values):
            self.unread = self.unread or values
        if self.unread is values:
            return None
        # Several blocks, each of which is a document, are a list of them.
        self.is_single &= len(parts) == 1
        return parts if is_read else None

    def _of_object(self, value: dict[str, Any], depth: int) -> list[Document] | None:
        if is_other_block(value):
            return None
        self._note_error(value)
        if value.get("type") == "constructor" and "kwargs" in value:  # an object of LangChain
            return self.documents(value["kwargs"], depth + 1)
        if (columns := rows_of_columns(value)) is not None:
            return columns
        if word_of(value, "type") == "resource" and isinstance(value.get("resource"), dict):
            value = value["resource"]  # embedded in an answer of MCP
        if not is_block(value) and is_whole_document(value) and not lists_of(value):
            self.is_single = True
            return [value]
        found = None
        for name in (*_LISTS, *_ENVELOPES):
            if name not in value or value[name] is None or isinstance(value[name], int | float):
                continue
            inner = self.documents(value[name], depth + 1)
            if inner:
                return inner
            found = inner if found is None else found
        if found is None:
            others = {name: other for name, other in value.items() if name not in _LOOKED_AT}
            if (inside := _list_inside(others, depth)) is not None:
                return inside
            for inner in lists_of(others):
                if all(isinstance(item, dict) and is_named_document(item) for item in inner):
                    return inner
                self.unread = self.unread or inner
        if found is None and not is_block(value) and url_of(value) is not None:
            self.is_single = True
            return [value]
        return found

    def _note_error(self, value: dict[str, Any]) -> None:
        error = value.get("error")
        failed = str(value.get("status")).lower() in _FAILED
        failed |= value.get("isError") is True or value.get("is_error") is True
        failed |= value.get("success") is False or bool(error) or "error_code" in value
        if not failed or self.error is not None:
            return
        told = (error, value.get("message"), value.get("content"), value.get("error_code"))
        self.error = next((text for text in map(plain_error, told) if text), "failed")


def _are_tags(reader: _Reader) -> bool:
    """Whether what it could not read is a list of words beside a text, like tags."""
    words = reader.unread or ()
    are_words = all(isinstance(word, str) for word in words)
    return are_words and bool(reader.texts) and not set(words) & set(reader.texts)
