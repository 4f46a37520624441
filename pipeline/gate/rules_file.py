"""Reading a gate file: every mistake in it at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import yaml
from pydantic import ValidationError

from pipeline.gate.rules import GateFile, Rule
from transforms.core.errors import UsageError
from transforms.core.yaml_text import parse_yaml, read_text

_REASONS = {
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "string_type": "must be text",
    "list_type": "must be a list",
    "dict_type": "must be names, or names with values",
    "model_type": "must be options, like `metric: SRE`",
    "missing": "is missing",
    "too_short": "must have at least one entry",
}
_Place = tuple[int | str, ...]


def load_gate(path: str) -> GateFile:
    """Read a gate file.

    Raises:
      UsageError: it cannot be read, or holds mistakes; the message lists every one.
    """
    return read_gate(read_text(path, "the rules"), path)


def read_gate(text: str, name: str) -> GateFile:
    """As `load_gate`, of text that messages call `name`.

    Raises:
      UsageError: see `load_gate`.
    """
    tree, content = parse_yaml(text, name)
    mistakes = set(_repeated(tree))
    try:
        gate = GateFile.model_validate(content)
    except ValidationError as error:
        mistakes |= {(_line(tree, one["loc"]), _mistake(one)) for one in error.errors()}
    else:
        if not mistakes:
            return gate
    lines = [f"{name}:{line}: {what}" for line, what in sorted(mistakes)]
    raise UsageError("The gate cannot be used:\n  " + "\n  ".join(lines))


def _repeated(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Keys that stand twice in one mapping, of which YAML would keep the last."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, f"{key.value} stands here a second time"
            seen.add(key.value)
            yield from _repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for value in node.value:
            yield from _repeated(value)


def _line(node: yaml.Node | None, place: _Place) -> int:
    """The line, from 1, where the deepest part of a place that exists begins."""
    line = 1
    for step in place:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == step:
                    line, node = key.start_mark.line + 1, value
                    break
        elif isinstance(node, yaml.SequenceNode) and step in range(len(node.value)):
            node = node.value[int(step)]
            line = node.start_mark.line + 1
    return line


def _mistake(error: Any) -> str:
    place: _Place = error["loc"]
    rule = f"rule {int(place[1]) + 1}: " if len(place) > 1 and place[0] == "rules" else ""
    field = str(place[-1]) if place and isinstance(place[-1], str) else ""
    if error["type"] == "extra_forbidden":
        known = Rule.model_fields if rule else GateFile.model_fields
        near = get_close_matches(field, known, n=1)
        return f"{rule}{field} is no option" + (f"; did you mean {near[0]}?" if near else "")
    message: str = _REASONS.get(error["type"], error["msg"]).removeprefix("Value error, ")
    message = message.replace("Input should be", "must be")
    return f"{rule}{field + ' ' if field else ''}{message}"
