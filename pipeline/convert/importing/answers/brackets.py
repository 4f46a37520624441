"""JSON, or what Python prints, by its brackets and strings: the part before a cut, and fields."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_CLOSERS = {"{": "}", "[": "]", "(": ")"}
# A string, perhaps without its end; or a bracket.
_TOKEN = re.compile(
    r"\"[^\"\\]*(?:\\.[^\"\\]*)*(?P<end>\"?)|'[^'\\]*(?:\\.[^'\\]*)*'?|[\[\]{}()]", re.DOTALL
)
_FIELD_OR_TOKEN = re.compile(rf"(?:(?<=\s)|\A)(?P<name>[A-Za-z_]\w*)=|{_TOKEN.pattern}", re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?$")


def complete(text: str) -> str | None:
    """A truncated text up to the last complete item of its outermost list, with brackets closed.

    None if no list in it has a complete item.
    """
    opened: list[str] = []
    best: tuple[int, int, str] | None = None  # depth, position, what closes it
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSERS:
            opened.append(token)
        elif len(token) == 1 and token in "]})":
            if not opened or _CLOSERS[opened.pop()] != token:
                return None
            if opened and opened[-1] == "[" and (best is None or len(opened) <= best[0]):
                closing = "".join(_CLOSERS[bracket] for bracket in reversed(opened))
                best = (len(opened), match.end(), closing)
    return None if best is None else text[: best[1]] + best[2]


def parse_printed_fields(text: str) -> Iterator[tuple[str, str]]:
    """The names and values, as printed, of an object printed as `name=value name=value`."""
    depth, name, begin = 0, "", 0
    for match in _FIELD_OR_TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSERS:
            depth += 1
        elif len(token) == 1 and token in "]})":
            depth -= 1
        elif match["name"] and not depth:
            if name:
                yield name, text[begin : match.start()]
            name, begin = match["name"], match.end()
    if name:
        yield name, text[begin:]


def open_text(text: str) -> str | None:
    """What stands in the JSON string in which a truncated text ends; None if it ends elsewhere."""
    text = text.rstrip("\\")
    tokens = list(_TOKEN.finditer(text))
    last = tokens[-1] if tokens else None
    if last is None or last.end() != len(text) or last[0][0] != '"' or last["end"]:
        return None
    content = _HALF_ESCAPE.sub("", last[0][1:])
    try:
        return str(json.loads(f'"{content}"', strict=False))
    except ValueError:
        return None
