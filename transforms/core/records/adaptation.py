"""Renames other producers' fields to those of SPEC 2 while records are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import fields

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.option import LABELS, NAMES, Option, Options
from goodgain.transforms.core.records.field_types import MAPS
from goodgain.transforms.core.records.label_map import LabelMap, parse_label_map
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.records.similar_names import find_similar_name

_CALL = tuple(field.name for field in fields(SearchCall))
_RESULT = tuple(field.name for field in fields(Result))
RANK = "rank"  # a column of tables in long form, in which a row is a result
_WHOLE = re.compile(r"\s*[0-9]{1,10}\s*")
_ABSENT = object()
Pairs = tuple[tuple[tuple[str, ...], str], ...]


class Renames(Struct, frozen=True):
    """Where the fields of trace records come from.

    Attributes:
      call, result: for records and for results, pairs of target (a field, or a map and a name in
        it) and source (a field, or a path with dots; "" = leave the target out).
    """

    call: Pairs = ()
    result: Pairs = ()


class Adaptation(Options, frozen=True, dict=True):
    """How to convert the records of a producer to trace records.

    Raises:
      UsageError: `mapping` or `label_map` has entries of another form.

    Example:
      >>> from goodgain import Adaptation
      >>> adaptation = Adaptation(("conversation_id=session", "ids.doc_id=key", "gain=relevance"))
      >>> adaptation.apply({"session": "c", "results": [{"key": "a", "relevance": 3}]})
      {'results': [{'ids': {'doc_id': 'a'}, 'gain': 3}], 'conversation_id': 'c'}
    """

    mapping: Annotated[
        tuple[str, ...],
        Option(
            NAMES,
            "FIELD=NAME",
            "read fields that have other names, like gain=relevance,ids.doc_id=document_id",
            check=_check_renames,
            form="entries",
            flag="map",
        ),
    ] = ()
    label_map: Annotated[
        tuple[str, ...],
        Option(
            LABELS,
            "LABEL=GAIN",
            "gains of labels on another scale, like 2=1,4=2,8=3 or 0.5..1=2 or relevant=3",
            "labels",
            check=_check_label_map,
            form="entries",
        ),
    ] = ()
    iteration_base: Annotated[
        Literal[0, 1], Option(NAMES, "0|1", "number of the first iteration of a turn in the traces")
    ] = 1

    @cached_property
    def renames(self) -> Renames:
        """What `mapping` says."""
        return parse_renames(self.mapping)

    @cached_property
    def label_scale(self) -> LabelMap | None:
        """What `label_map` says; None = labels are gains."""
        return parse_label_map(self.label_map)

    @property
    def changes_nothing(self) -> bool:
        """Whether records are trace records already."""
        return not self.mapping and not self.label_map and self.iteration_base == 1

    @property
    def sources(self) -> frozenset[str]:
        """The source fields, by the first part of their path."""
        return frozenset(source.split(".")[0] for _, source in self.renames.call if source)

    @property
    def timestamp(self) -> str | None:
        """The field that becomes `timestamp`; None if there is none."""
        sources = dict(self.renames.call)
        own = None if "timestamp" in sources.values() else "timestamp"
        return sources.get(("timestamp",), own) or None

    def apply(self, record: Any) -> Any:
        """The record with its fields renamed; anything but an object is returned unchanged."""
        if not isinstance(record, Mapping):
            return record
        adapted = _rename(record, self.renames.call)
        results = adapted.get("results")
        if (self.renames.result or self.label_scale) and isinstance(results, list | tuple):
            adapted["results"] = [
                self._result(result) if isinstance(result, Mapping) else result
                for result in results
            ]
        return self._count_from_1(adapted)

    def apply_to_row(self, row: Mapping[Any, Any]) -> dict[Any, Any]:
        """A row with fields of a record and of one of its results, renamed."""
        return self._count_from_1(self._result(_rename(row, self.renames.call)))

    def _result(self, result: Mapping[Any, Any]) -> dict[Any, Any]:
        renamed = _rename(result, self.renames.result)
        if self.label_scale is not None and "gain" in renamed:
            renamed["gain"] = self.label_scale.gain_or_refusal(renamed["gain"])
        return renamed

    def _count_from_1(self, record: dict[Any, Any]) -> dict[Any, Any]:
        if self.iteration_base == 0 and "iteration" in record:
            record["iteration"] = _plus_1(record["iteration"])
        return record

    def missing_sources(self, records: Iterable[Any]) -> list[str]:
        """The source fields that none of the records has."""
        calls = [record for record in records if isinstance(record, Mapping)]
        results = [
            result
            for call in calls
            for result in _rename(call, self.renames.call).get("results") or ()
            if isinstance(result, Mapping)
        ]
        return [
            source
            for pairs, objects in ((self.renames.call, calls), (self.renames.result, results))
            for _, source in pairs
            if source and all(_value_at(item, source) is _ABSENT for item in objects)
        ]


def _check_renames(entries: tuple[str, ...]) -> tuple[str, ...]:
    parse_renames(entries)
    return entries


def _check_label_map(entries: tuple[str, ...]) -> tuple[str, ...]:
    parse_label_map(entries)
    return entries


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


def _rename(record: Mapping[Any, Any], pairs: Pairs) -> dict[Any, Any]:
    adapted = dict(record)
    values = [(target, source, _value_at(record, source)) for target, source in pairs]
    for _, source in pairs:
        adapted.pop(source, None)
    for target, source, value in values:
        if not source:
            _leave_out(adapted, target)
        elif value is not _ABSENT and value is not None:
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
    value = _value_at(record, path) if isinstance(record, Mapping) else None
    return None if value is _ABSENT else value


def _value_at(record: Mapping[Any, Any], path: str) -> Any:
    """The value at a path; _ABSENT if there is none."""
    if path in record:
        return record[path]
    first, _, rest = path.partition(".")
    inside = record.get(first)
    return _value_at(inside, rest) if rest and isinstance(inside, Mapping) else _ABSENT


def _plus_1(iteration: Any) -> Any:
    """The iteration plus 1 if it is a number; other values are rejected later."""
    if isinstance(iteration, str) and _WHOLE.fullmatch(iteration):
        iteration = int(iteration)
    if isinstance(iteration, bool) or not isinstance(iteration, int | float):
        return iteration
    return iteration + 1
