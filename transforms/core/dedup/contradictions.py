"""Contradictions between the entries of a rules file (SPEC 4.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from goodgain.transforms.core.dedup.normalise import normalise_type
from goodgain.transforms.core.yaml_text import Location

_GROUP = re.compile(r"\\(.[0-9]*)")  # in a replacement
_ID_PREFIX = "ids."
Contradiction = tuple[Location, str]  # where it is, and what is wrong


def find_contradictions(content: Any) -> Iterator[Contradiction]:
    """All contradictions in the parsed YAML of a file, which may also have other mistakes."""
    types = _mapping(content, "types")
    if isinstance(content, dict) and "types" in content and "default" not in types:
        yield ("types",), "must have an entry `default`"
    yield from _of_names(types, _mapping(content, "aliases"))
    yield from _of_patterns(content)
    for name in _names(content, "passage_ids"):
        if name.startswith(_ID_PREFIX):
            yield ("passage_ids",), f"{name} is an id even without `{_ID_PREFIX}`"
    for name, entry in types.items():
        yield from _of_type(("types", str(name)), entry)


def _of_names(types: dict[Any, Any], aliases: dict[Any, Any]) -> Iterator[Contradiction]:
    first_use: dict[str, str] = {}
    for part, names in (("types", types), ("aliases", aliases)):
        for name in map(str, names):
            folded = normalise_type(name)
            if folded in first_use:
                yield (part, name), f"means the same as {first_use[folded]}; case does not matter"
            first_use.setdefault(folded, f"{part}.{name}")
    for alias, target in aliases.items():
        if isinstance(target, str) and target not in types:
            yield ("aliases", str(alias)), f"stands for {target}, which is not in types"


def _of_patterns(content: Any) -> Iterator[Contradiction]:
    for pattern, alias in _mapping(content, "url_aliases").items():
        replacement = alias.get("to") if isinstance(alias, dict) else alias
        if reason := _pattern_mistake(str(pattern), replacement):
            yield ("url_aliases", str(pattern)), reason
    for name, pattern in _mapping(content, "strip").items():
        if isinstance(pattern, str) and (reason := _pattern_mistake(pattern, "")):
            yield ("strip", str(name)), reason


def _pattern_mistake(pattern: str, replacement: Any) -> str | None:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        return f"is not a regular expression: {error}"
    if compiled.search("") is not None:
        return "matches an empty text, so it says nothing"
    for group in _GROUP.findall(replacement if isinstance(replacement, str) else ""):
        if not (group.isdecimal() and 0 < int(group) <= compiled.groups):
            return f"its replacement names \\{group}, which is no group of it"
    return None


def _of_type(location: tuple[str, ...], entry: Any) -> Iterator[Contradiction]:
    definitive, container = _names(entry, "definitive"), _names(entry, "container")
    for name in container:
        if name in definitive:
            yield (*location, "container"), f"{name} is also listed as definitive"
    if _mapping(entry, "points") and entry.get("duplicate_if"):
        yield (*location, "points"), "excludes duplicate_if; use one of the two"
    for part in ("definitive", "container"):
        for name in _names(entry, part):
            if name.startswith(_ID_PREFIX):
                yield (*location, part), f"{name} is an id even without `{_ID_PREFIX}`"
    for part in ("reject_on", "points"):
        for name in _names(entry, part):
            if name.startswith(_ID_PREFIX):
                yield (*location, part), f"{name} is an id; only fields are allowed here"


def _mapping(content: Any, key: str) -> dict[Any, Any]:
    part = content.get(key) if isinstance(content, dict) else None
    return part if isinstance(part, dict) else {}


def _names(entry: Any, key: str) -> list[str]:
    """The names in a list or among the keys of a mapping."""
    part = entry.get(key) if isinstance(entry, dict) else None
    return [name for name in part if isinstance(name, str)] if isinstance(part, list | dict) else []
