"""The answer of a tool as results of a trace record, for each way in which it may count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.answer import Answer
from goodgain.pipeline.convert.importing.answers.arguments import documents_in_arguments, has_query
from goodgain.pipeline.convert.importing.answers.document_fields import Document
from goodgain.pipeline.convert.importing.answers.error_texts import error_text
from goodgain.pipeline.convert.importing.values.scalars import text as text_of_value

_LONGEST_TEXT = 100_000

Result = dict[str, Any]
Mapped = Callable[[Document], Result]  # a document as a result, by the mapping


class ToolAnswer(Struct, frozen=True, array_like=True):
    """What one call of a tool answered. Which part counts depends on what the tool does.

    Attributes:
      found: the documents of the answer; None if it is no list of documents.
      is_single: whether the answer is one document by itself.
      listed: the documents that its text lists, if it has no others.
      otherwise: what a tool that is named as a search found: the items of a list of something
        else, or the text.
      is_list: whether `otherwise` are the items of a list.
      opened: the documents that the call opened, if it opens documents; None if they are `found`.
      error: what the call says about its failure.
      has_query, has_address, has_url: whether an argument is a query, a URL or an id, or a URL.
    """

    found: list[Result] | None
    is_single: bool
    listed: list[Result] | None
    otherwise: list[Result] | None
    is_list: bool
    opened: list[Result] | None
    error: str | None
    has_query: bool
    has_address: bool
    has_url: bool

    @property
    def is_of_a_search(self) -> bool:
        """Whether it is a list of documents, also an empty one, or an error instead."""
        return self.found is not None or bool(self.listed) or self.error is not None

    def opened_documents(self) -> list[Result]:
        """The results of a call that opens documents."""
        return (self.found if self.opened is None else self.opened) or []

    def results(self, is_named: bool = False) -> list[Result] | None:
        """The results of a search; None if it does not record them."""
        if self.found is not None or self.error is not None:
            return self.found or []
        return self.listed or (self.otherwise if is_named else None)


def tool_answer(
    answer: Answer, arguments: dict[str, Any], error: str | None, mapped: Mapped
) -> ToolAnswer:
    """Map an answer to results, for a call with these arguments."""
    error = answer.error if error is None or answer.documents else error_text(error)
    addresses = documents_in_arguments(arguments)
    is_text = answer.text is not None and answer.documents is None
    otherwise: Sequence[Document] = ()
    if answer.unread and error is None:
        otherwise = [_any_document(document) for document in answer.unread]
    elif is_text and error is None and answer.listed is None:
        otherwise = [{"text": answer.text}]
    return ToolAnswer(
        _map_documents(answer.documents, mapped),
        answer.is_single,
        _map_documents(answer.listed, mapped),
        _map_documents(otherwise, mapped) or None,
        bool(answer.unread),
        [] if error is not None else _map_documents(_opened_documents(answer, addresses), mapped),
        error,
        has_query(arguments),
        bool(addresses),
        any("url" in address for address in addresses),
    )


def _map_documents(documents: Sequence[Document] | None, mapped: Mapped) -> list[Result] | None:
    return None if documents is None else [mapped(document) for document in documents]


def _opened_documents(answer: Answer, addresses: Sequence[Document]) -> Sequence[Document] | None:
    """The documents that a call opened: those that arguments name; None = those in its answer."""
    if answer.documents:
        if len(addresses) == len(answer.documents) == 1:
            return [{**addresses[0], **answer.documents[0]}]
        return None
    text = None if answer.text is None else answer.text[:_LONGEST_TEXT]
    if len(addresses) == 1:
        return [{**addresses[0], "text": text}]
    return addresses or ([] if text is None else [{"text": text}])


def _any_document(item: Any) -> Document:
    """An item of a list of something else, as a document."""
    return (
        {**item, "text": text_of_value(item)}
        if isinstance(item, dict)
        else {"text": text_of_value(item)}
    )
