"""Finds contradictions between parts of a rules file that are valid on their own (SPEC 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.transforms.core.dedup.normalise import normalise_type

_ID_PREFIX = "ids."
Contradiction = tuple[tuple[int | str, ...], str]  # where it is, and what is wrong


def contradictions(content: Any) -> Iterator[Contradiction]:
    """All contradictions in the parsed YAML of a file, which may also have other mistakes."""
    types = _mapping(content, "types")
    if isinstance(content, dict) and "types" in content and "default" not in types:
        yield ("types",), "must have an entry `default`"
    yield from _of_names(types, _mapping(content, "aliases"))
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
