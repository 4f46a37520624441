"""The functions that expressions of a mapping have beside those of JMESPath."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions, signature

from goodgain.pipeline.convert.importing.answers import document_fields
from goodgain.pipeline.convert.importing.answers.answer import read_answer
from goodgain.pipeline.convert.importing.answers.arguments import query_of, read_arguments
from goodgain.pipeline.convert.importing.answers.written_values import decode_json
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.values.usage import read_token_count

_EVENT_NAME = re.compile(r"(?P<event>start|update|success|finish|error)(?:-\d+)?", re.IGNORECASE)
_DIGITS = frozenset("0123456789")


def _of_document(read: Callable[[Any], Any]) -> Callable[[Functions, Any], Any]:
    """A function of one document, which reads it by any of the usual names of a field."""

    @signature({"types": []})
    def call(_: Functions, document: Any) -> Any:
        return read(document)

    return cast(Callable[[Functions, Any], Any], call)


class TraceFunctions(Functions):
    """`from_json`, `present`, `indexed`, and what reads answers, documents and arguments.

    Attributes:
      fields: the names of fields in all expressions that were compiled with these functions.
    """

    def __init__(self, counts: ImportCounts) -> None:
        """Count truncated texts in `counts`."""
        self._counts = counts
        self.fields: set[str] = set()

    @signature({"types": []})
    def _func_from_json(self, value: Any) -> Any:
        """The value of a JSON text, encoded once or twice; null if it is not JSON.

        A value that is not text is returned as it is.
        """
        if not isinstance(value, str):
            return value
        once = decode_json(value)
        twice = decode_json(once) if isinstance(once, str) else None
        return once if twice is None else twice

    @signature({"types": [], "variadic": True})
    def _func_present(self, *values: Any) -> Any:
        """The first value that is not null; unlike with `||`, an empty list counts."""
        return next((value for value in values if value is not None), None)

    @signature({"types": ["array", "null"]}, {"types": ["string"]}, {"types": []})
    def _func_lookup(self, objects: list[Any] | None, key: str, value: Any) -> Any:
        """The first object of a list whose key has a value, to join by an id; null without one."""
        several = (item for item in objects or () if isinstance(item, dict))
        return next(
            (item for item in several if value is not None and item.get(key) == value), None
        )

    @signature({"types": ["string", "null"]}, {"types": ["string"]})
    def _func_split(self, text: str | None, separator: str) -> Any:
        """The parts of a text between separators, without the blank ones; null for null."""
        if text is None or not separator:
            return None
        return [part.strip() for part in text.split(separator) if part.strip()]

    @signature({"types": ["string", "null"]}, {"types": ["string"]})
    def _func_match(self, text: str | None, pattern: str) -> Any:
        """An object of the named groups for each match of a regular expression; null for null."""
        if text is None:
            return None
        return [found.groupdict() for found in compile_pattern(pattern).finditer(text)]

    @signature({"types": []}, {"types": ["string"], "variadic": True})
    def _func_one_of(self, value: Any, *names: str) -> Any:
        """Whether a text is one of some names, in any case, also if it is written as JSON."""
        return isinstance(value, str) and value.strip('"\\ ').casefold() in names_in_any_case(names)

    @signature({"types": ["object"]})
    def _func_tokens(self, usage: dict[str, Any]) -> Any:
        """The tokens of a call from its `total`, `input`, `output` and list of `cached` tokens.

        Cached tokens that exceed the input, or with `apart`, are not part of it, and are added.
        """
        return read_token_count(usage)

    @signature({"types": ["string", "null"]}, {"types": ["string", "null"]})
    def _func_event_of(self, tool: str | None, name: str | None) -> Any:
        """`TOOL.start` and the like for a span named `start-1` of a tool; else tool or name."""
        event = _EVENT_NAME.fullmatch(name or "")
        return f"{tool}.{event['event']}" if tool and event else tool or name

    @signature({"types": []})
    def _func_documents(self, value: Any) -> Any:
        """The list of documents in the answer of a search tool; null without one.

        The answer may be wrapped in any of the envelopes that frameworks use, be JSON in a text,
        or what Python prints. If it is truncated, the documents before the cut are returned.
        """
        answer = read_answer(value)
        self._counts.cut_off += answer.is_cut_off
        return answer.documents

    @signature({"types": []})
    def _func_links(self, value: Any) -> Any:
        """The documents that the text of an answer lists, with the lines around them; else null.

        They are links, the first JSON list, `Doc 1(Title: ...)`, or lines like `URL: ...`.
        """
        return read_answer(value).listed

    _func_id_of = _of_document(document_fields.id_of)
    _func_url_of = _of_document(document_fields.url_of)
    _func_title_of = _of_document(document_fields.title_of)
    _func_text_of = _of_document(document_fields.text_of)
    _func_content_of = _of_document(document_fields.content_of)
    _func_score_of = _of_document(document_fields.score_of)
    _func_type_of = _of_document(document_fields.type_of)

    @signature({"types": []})
    def _func_query_of(self, arguments: Any) -> Any:
        """The query among the arguments of a tool, by any of the usual names."""
        return query_of(read_arguments(arguments))

    @signature({"types": ["object", "null"]}, {"types": ["string"]})
    def _func_indexed(self, attributes: dict[str, Any] | None, name: str) -> Any:
        """The list in flat attributes `NAME.0.x`, `NAME.1.x`; null without any."""
        by_index: dict[int, Any] = {}
        prefix = f"{name}."
        for key, value in (attributes or {}).items():
            if key.startswith(prefix):
                number, _, rest = key[len(prefix) :].partition(".")
                if number and rest and _DIGITS.issuperset(number):
                    by_index.setdefault(int(number), {})[rest] = value
        return [by_index[index] for index in sorted(by_index)] or None


@cache
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """A regular expression that may span lines: `^` and `$` match at each of them.

    Raises:
      JMESPathError: it is none, or has no named group.
    """
    try:
        compiled = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise JMESPathError(f"{pattern!r} is not a regular expression: {error}") from None
    if not compiled.groupindex:
        raise JMESPathError(f"{pattern!r} has no named group, like (?P<url>...)")
    return compiled


@cache
def names_in_any_case(names: tuple[str, ...]) -> frozenset[str]:
    """Names without their case."""
    return frozenset(name.casefold() for name in names)
