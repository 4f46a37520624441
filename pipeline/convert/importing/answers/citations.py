"""The documents that a model's answer cites, as Anthropic, OpenAI and Gemini write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goodgain.pipeline.convert.importing.answers.written_values import read_within

Document = dict[str, Any]

# A text without any of these, in any case, is not decoded.
_MARKS = ("citation", "grounding")


def documents_of_citations(citations: Any) -> list[Document]:
    """The documents of a list of citations or annotations, with the names of a document's fields.

    `url_citation` of OpenAI's chat completions stands in an object of its own.
    """
    documents = []
    for citation in _list(citations):
        if isinstance(citation, dict):
            inner = citation.get("url_citation")
            documents.append(_document(inner if isinstance(inner, dict) else citation))
    return [document for document in documents if document]


def documents_of_grounding(metadata: Any) -> list[Document]:
    """The chunks that support the text of an answer, by Gemini's grounding metadata."""
    if not isinstance(metadata, dict):
        return []
    chunks = _list(metadata.get("groundingChunks") or metadata.get("grounding_chunks"))
    supports = _list(metadata.get("groundingSupports") or metadata.get("grounding_supports"))
    used: dict[int, None] = {}
    for support in supports:
        if isinstance(support, dict):
            several = support.get("groundingChunkIndices") or support.get("grounding_chunk_indices")
            used |= dict.fromkeys(index for index in _list(several) if isinstance(index, int))
    return [chunks[at] for at in used if 0 <= at < len(chunks)]


def find_cited_documents(output: Any) -> list[Document]:
    """The documents that a model's output cites anywhere within it, in order, each once.

    Args:
      output: a response of a provider or a message, also as JSON or as Python prints it.
    """
    documents: list[Document] = []
    for document in read_within(output, _MARKS, _READERS):
        if document not in documents:
            documents.append(document)
    return documents


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _document(citation: Document) -> Document:
    named = {"title": citation.get("title") or citation.get("document_title")}
    named |= {"url": citation.get("url") or citation.get("source"), "id": citation.get("file_id")}
    text = citation.get("cited_text")
    return {name: value for name, value in {**named, "snippet": text}.items() if value}


_READERS: dict[str, Callable[[Any], list[Document]]] = {
    **dict.fromkeys(("annotations", "citations"), documents_of_citations),
    **dict.fromkeys(("groundingMetadata", "grounding_metadata"), documents_of_grounding),
}
