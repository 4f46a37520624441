"""JMESPath expressions of a mapping, with additional functions for traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import jmespath
import msgspec
from jmespath.exceptions import JMESPathError
from jmespath.functions import Functions, signature
from jmespath.visitor import TreeInterpreter

from goodgain.pipeline.convert.importing.counts import ImportCounts

_DOCUMENT_LISTS = ("documents", "results", "result", "docs", "hits", "items", "sources", "data")
_DOCUMENT_KEYS = frozenset(
    (
        *("content", "doc_id", "docid", "document", "document_id", "href", "id", "metadata"),
        *("page_content", "pageContent", "snippet", "source", "text", "title", "url"),
    )
)
_DIGITS = frozenset("0123456789")

Expression = Callable[[Any], Any]


class TraceFunctions(Functions):
    """`from_json`, `present`, `documents` and `indexed`.

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
        once = _parsed(value)
        twice = _parsed(once) if isinstance(once, str) else None
        return once if twice is None else twice

    @signature({"types": [], "variadic": True})
    def _func_present(self, *values: Any) -> Any:
        """The first value that is not null; unlike with `||`, an empty list counts."""
        return next((value for value in values if value is not None), None)

    @signature({"types": []})
    def _func_documents(self, value: Any) -> Any:
        """The list of documents in the answer of a search tool; null without one.

        The answer is a list of objects or strings, or an object with such a list under `documents`,
        `results`, `hits` or the like, or the JSON of either. If the JSON is truncated, the
        documents before the cut are returned.
        """
        if isinstance(value, str):
            parsed = _parsed(value)
            if parsed is None and value.lstrip()[:1] in ("[", "{"):
                parsed = _before_the_cut(value)
                self._counts.cut_off += parsed is not None
            value = parsed
        for _ in range(2):
            if not isinstance(value, dict):
                break
            value = next((value[name] for name in _DOCUMENT_LISTS if name in value), None)
            if isinstance(value, str):
                value = _parsed(value)
        return value if isinstance(value, list) and all(map(_is_document, value)) else None

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


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) and not _DOCUMENT_KEYS.isdisjoint(value)


def _before_the_cut(text: str) -> list[Any] | None:
    """The complete objects of the first list in a text; None if there are none."""
    decode = json.JSONDecoder().raw_decode
    at = text.find("[") + 1
    objects = []
    while at:
        at = text.find("{", at)
        if at < 0:
            break
        try:
            value, at = decode(text, at)
        except (ValueError, RecursionError):
            break
        objects.append(value)
    return objects or None


def compile_expression(text: str, functions: TraceFunctions) -> Expression:
    """An expression as a function that returns null for data which its functions do not accept.

    Raises:
      JMESPathError: not an expression, or it calls an unknown function; the message says where.
    """
    parsed = jmespath.compile(text).parsed
    _check_functions(parsed, functions)
    evaluate = _ExpressionCompiler(functions).compiled(parsed)

    def evaluate_or_null(value: Any) -> Any:
        try:
            return evaluate(value)
        # TypeError: the library compares strings with numbers.
        except (JMESPathError, TypeError):
            return None

    return evaluate_or_null


def is_true(value: Any) -> bool:
    """Whether JMESPath treats a value as true."""
    return value is not None and value is not False and value not in ("", [], {})


def _check_functions(node: Any, functions: TraceFunctions) -> None:
    """Refuse unknown functions, and note the names of fields."""
    if node["type"] == "field":
        functions.fields.add(node["value"])
    if node["type"] == "function_expression" and node["value"] not in functions.FUNCTION_TABLE:
        raise JMESPathError(f"there is no function {node['value']}()")
    for child in node["children"]:
        _check_functions(child, functions)


class _ExpressionCompiler:
    """Compiles the usual expressions of mappings to closures, at a fifth of the library's cost.

    The library's interpreter evaluates the rest (projections, filters, slices).
    """

    def __init__(self, functions: TraceFunctions) -> None:
        self._functions = functions
        self._interpreter = TreeInterpreter(jmespath.Options(custom_functions=functions))

    def compiled(self, node: Any) -> Expression:
        compile_ = getattr(self, f"_{node['type']}", None)
        if compile_ is not None:
            return cast(Expression, compile_(node))
        visit = self._interpreter.visit
        return lambda value: visit(node, value)

    def _field(self, node: Any) -> Expression:
        name = node["value"]
        return lambda value: value.get(name) if isinstance(value, dict) else None

    def _subexpression(self, node: Any) -> Expression:
        steps = [self.compiled(child) for child in node["children"]]

        def follow(value: Any) -> Any:
            for step in steps:
                value = step(value)
            return value

        return follow

    def _current(self, _: Any) -> Expression:
        return lambda value: value

    def _literal(self, node: Any) -> Expression:
        literal = node["value"]
        return lambda _: literal

    def _or_expression(self, node: Any) -> Expression:
        left, right = map(self.compiled, node["children"])

        def either(value: Any) -> Any:
            left_value = left(value)
            return left_value if is_true(left_value) else right(value)

        return either

    def _and_expression(self, node: Any) -> Expression:
        left, right = map(self.compiled, node["children"])

        def both(value: Any) -> Any:
            left_value = left(value)
            return right(value) if is_true(left_value) else left_value

        return both

    def _comparator(self, node: Any) -> Expression:
        if node["value"] != "eq" or not any(
            child["type"] == "literal" and isinstance(child["value"], str)
            for child in node["children"]
        ):
            return lambda value: self._interpreter.visit(node, value)
        left, right = map(self.compiled, node["children"])
        return lambda value: left(value) == right(value)

    def _function_expression(self, node: Any) -> Expression:
        name = node["value"]
        arguments = [self.compiled(child) for child in node["children"]]
        call = self._functions.call_function
        return lambda value: call(name, [argument(value) for argument in arguments])
