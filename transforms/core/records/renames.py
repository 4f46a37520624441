"""Fields that have other names than those of SPEC 2, and records with these names put right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.records.field_types import MAPS
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.records.similar_names import find_similar_name

_CALL = SearchCall.__struct_fields__
_RESULT = Result.__struct_fields__
RANK = "rank"  # a column of tables in long form, in which a row is a result
ABSENT = object()
Pairs = tuple[tuple[tuple[str, ...], str], ...]


class Renames(Struct, frozen=True):
    """Where the fields of trace records come from.

    Attributes:
      call, result: for records and for results, pairs of target (a field, or a map and a name in
        it) and source (a field, or a path with dots; "" = leave the target out).
    """

    call: Pairs = ()
    result: Pairs = ()


def parse_renames(entries: Iterable[str]) -> Renames:
    """Parse entries like `gain=relevance` or `ids.doc_id=document_id`.

    `ids.doc_id=` leaves the field out.

    Raises:
      UsageError: an entry is not `FIELD=NAME` or `FIELD=`, or its field is unknown or given twice;
        the message lists all mistakes.
    """
    pairs: dict[str, list[tuple[tuple[str, ...], str]]] = {"call": [], "result": []}
    mistakes = []
    targets: set[str] = set()
    for entry in entries:
        target, equals, source = (part.strip() for part in entry.partition("="))
        owner = _owner_of(target)
        if not target or not equals:
            mistakes.append(f"{entry!r} is not FIELD=NAME, like gain=relevance")
        elif owner is None:
            mistakes.append(_describe_unknown(target, source))
        elif target in targets:
            mistakes.append(f"{target} is given twice")
        else:
            pairs[owner].append((tuple(target.split(".", 1)), source))
        targets.add(target)
    if mistakes:
        listed = "; ".join(mistakes)
        raise UsageError(f"Fields cannot be renamed: {listed}{'' if listed.endswith('?') else '.'}")
    return Renames(tuple(pairs["call"]), tuple(pairs["result"]))


def _owner_of(target: str) -> str | None:
    """Whether a field belongs to records or to results; None if there is no such field."""
    if target in _CALL:
        return "call"
    if target in _RESULT or target == RANK:
        return "result"
    map_name, _, name = target.partition(".")
    return MAPS.get(map_name) if name and map_name in (*_CALL, *_RESULT) else None


def _describe_unknown(target: str, source: str) -> str:
    known = (*_CALL, *_RESULT)
    if source in known:
        return f"{target} is not a field; did you mean {source}={target}?"
    similar = find_similar_name(target, known)
    if similar is None:
        names = ", ".join((*known, *(f"{name}.NAME" for name in MAPS)))
        return f"{target} is not a field; the fields are {names}"
    return f"{target} is not a field; did you mean {similar}?"


def rename_fields(record: Mapping[Any, Any], pairs: Pairs) -> dict[Any, Any]:
    """A copy of a record, or of a result, in which each target has the value of its source."""
    adapted = dict(record)
    values = [(target, source, find_value(record, source)) for target, source in pairs]
    for _, source in pairs:
        adapted.pop(source, None)
    for target, source, value in values:
        if not source:
            _leave_out(adapted, target)
        elif value is not ABSENT and value is not None:
            _put(adapted, target, value)
    return adapted


def _put(adapted: dict[Any, Any], target: tuple[str, ...], value: Any) -> None:
    """Give a field its value, or a name in the map that is a field."""
    if len(target) == 1:
        adapted[target[0]] = value
    else:
        before = adapted.get(target[0])
        entries = dict(before) if isinstance(before, Mapping) else {}
        entries.pop(target[1], None)
        adapted[target[0]] = {**entries, target[1]: value}  # the last, as in native code


def _leave_out(adapted: dict[Any, Any], target: tuple[str, ...]) -> None:
    """Remove a field, or a name from the map that is a field."""
    field, *names = target
    inside = adapted.get(field)
    if not names:
        adapted.pop(field, None)
    elif isinstance(inside, Mapping):
        adapted[field] = {name: value for name, value in inside.items() if name != names[0]}


def value_at(record: Any, path: str) -> Any:
    """The value at a path with dots, some of which may be part of a name; None without one."""
    value = find_value(record, path) if isinstance(record, Mapping) else None
    return None if value is ABSENT else value


def find_value(record: Mapping[Any, Any], path: str) -> Any:
    """The value at a path; ABSENT if there is none."""
    if path in record:
        return record[path]
    first, _, rest = path.partition(".")
    inside = record.get(first)
    return find_value(inside, rest) if rest and isinstance(inside, Mapping) else ABSENT
