"""Values written as text: JSON, JSON within JSON, and what Python prints."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from goodgain.pipeline.convert.importing.answers.brackets import (
    complete,
    open_text,
    parse_printed_fields,
)

Found = TypeVar("Found")
_DEEPEST = 16
_MOST_PRINTED = 4_000_000
_BEGINS = ("[", "{", '"', "(")
# How an object of pydantic prints itself: content='...' name='search' tool_call_id='1'
_PRINTED_FIELDS = re.compile(r"[A-Za-z_]\w*=(?=['\"\[{(]|[A-Z]\w*\(|None\b|True\b|False\b)")
_OF_ANSWERS = frozenset(
    ("content", "structuredContent", "artifact", "results", "documents", "data")
)
_PRINTED_OBJECT = re.compile(r"[\[({]?\s*[A-Z]\w*\(\w+=")
_BEGINS_AS_TRUNCATED = re.compile(r"\[\s*(?:[\[{\"']|[A-Z]\w*\()|\{\s*[\"']")
_raw_decode = json.JSONDecoder().raw_decode


class WrittenValue(Struct, frozen=True):
    """A value that was written as text.

    Attributes:
      is_cut_off: whether the text ends in the middle; the value has what stands before, if that
        is anything.
    """

    value: Any
    is_cut_off: bool = False


def read_marked(value: Any, marks: Iterable[str]) -> Any:
    """The value that a text with one of the marks holds, None if it holds none; others unchanged.

    Args:
      marks: in small letters. Other texts are not parsed, since most are long and hold no value.
    """
    if not isinstance(value, str) or not any(mark in value.lower() for mark in marks):
        return value
    written = parse_written_value(value)
    return None if written is None else written.value


def read_within(
    value: Any,
    marks: Sequence[str],
    of_fields: Mapping[str, Callable[[Any], Iterable[Found]]],
    of_object: Callable[[dict[str, Any]], Callable[[Any], Iterable[Found]] | None] | None = None,
    depth: int = 0,
) -> Iterator[Found]:
    """What readers find anywhere within a value, in order.

    Args:
      marks: see `read_marked`; texts with one of them are read like what they write.
      of_fields: what reads the value of a field, by its name; other fields are looked into.
      of_object: returns what reads a whole object, or None to read its fields one by one, as they
        are without it.
      depth: how deep the value stands; beyond 16 nothing is read.
    """
    value = read_marked(value, marks)
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value:
            yield from read_within(item, marks, of_fields, of_object, depth + 1)
    elif isinstance(value, dict):
        read_whole = None if of_object is None else of_object(value)
        if read_whole is not None:
            yield from read_whole(value)
            return
        for name, item in value.items():
            read = of_fields.get(name)
            if read is not None:
                yield from read(item)
            else:
                yield from read_within(item, marks, of_fields, of_object, depth + 1)


def parse_written_value(text: str) -> WrittenValue | None:
    """The object, list or text that a text writes; None if it is just a text."""
    stripped = text.strip()
    if _PRINTED_FIELDS.match(stripped):
        fields = {name: _parse_printed(value) for name, value in parse_printed_fields(stripped)}
        # What has a content is a message, and no document.
        message = {"type": "tool"} if "content" in fields else {}
        return None if _OF_ANSWERS.isdisjoint(fields) else WrittenValue(message | fields)
    if _PRINTED_OBJECT.match(stripped):
        printed = _parse_printed(stripped)
        if printed is not None or not stripped.startswith("["):
            return None if printed is None else WrittenValue(printed)
    if not stripped.startswith(_BEGINS):
        return None
    decoded = decode_json(stripped)
    if isinstance(decoded, str):
        inner = parse_written_value(decoded)
        return WrittenValue(decoded) if inner is None else inner
    if decoded is not None:
        return WrittenValue(decoded) if isinstance(decoded, dict | list) else None
    if stripped[0] in "[{(":
        printed = _parse_printed(stripped)
        if isinstance(printed, dict | list):
            return WrittenValue(printed)
    if stripped[0] not in "[{":
        return None
    try:
        value, end = _raw_decode(stripped)
    except (ValueError, RecursionError):
        if not _BEGINS_AS_TRUNCATED.match(stripped):
            return None
        return WrittenValue(_before_the_cut(stripped), is_cut_off=True)
    # A text may follow; a lone `[1]` or `{}` before it is a marker rather than the answer.
    has_objects = isinstance(value, dict) or any(isinstance(item, dict) for item in value)
    return WrittenValue(value) if value and has_objects and end else None


def decode_json(text: str) -> Any:
    """The value of a JSON text; None if it is not JSON."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _before_the_cut(text: str) -> Any:
    """What a truncated text writes before the cut; None if that is nothing.

    If it ends inside a text that writes a value itself, like a message's content, that value.
    """
    inside = open_text(text)
    inner = None if inside is None else parse_written_value(inside)
    if inner is not None and isinstance(inner.value, dict | list):
        return inner.value
    whole = complete(text)
    if whole is None:
        return None
    decoded = decode_json(whole)
    return _parse_printed(whole) if decoded is None else decoded


def _parse_printed(text: str) -> Any:
    """The value of a Python expression of literals and of objects with named arguments."""
    if len(text) > _MOST_PRINTED:
        return None
    try:
        return _literal(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _literal(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=value):
            return None if value is ... else value
        case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
            return [_literal(element) for element in elements]
        case ast.Dict(keys=keys, values=values):
            return {
                str(_literal(key)): _literal(value)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Call(args=[only], keywords=[]):
            return _literal(only)  # as in UUID('...')
        case ast.Call(keywords=keywords):
            return {each.arg: _literal(each.value) for each in keywords if each.arg}
        case ast.Name(id=name):
            return {"nan": None, "inf": None, "null": None, "true": True, "false": False}.get(name)
    raise ValueError("neither a literal nor an object")
