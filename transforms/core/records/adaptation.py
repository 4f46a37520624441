"""Renames other producers' fields to those of SPEC 2 while records are read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from goodgain.transforms.core.option import LABELS, NAMES, Option, Options
from goodgain.transforms.core.records.label_map import LabelMap, parse_label_map
from goodgain.transforms.core.records.renames import (
    ABSENT,
    Renames,
    find_value,
    parse_renames,
    rename_fields,
)

_WHOLE = re.compile(r"\s*[0-9]{1,10}\s*")


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
        adapted = rename_fields(record, self.renames.call)
        results = adapted.get("results")
        if (self.renames.result or self.label_scale) and isinstance(results, list | tuple):
            adapted["results"] = [
                self._result(result) if isinstance(result, Mapping) else result
                for result in results
            ]
        return self._count_from_1(adapted)

    def apply_to_row(self, row: Mapping[Any, Any]) -> dict[Any, Any]:
        """A row with fields of a record and of one of its results, renamed."""
        return self._count_from_1(self._result(rename_fields(row, self.renames.call)))

    def _result(self, result: Mapping[Any, Any]) -> dict[Any, Any]:
        renamed = rename_fields(result, self.renames.result)
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
            for result in rename_fields(call, self.renames.call).get("results") or ()
            if isinstance(result, Mapping)
        ]
        return [
            source
            for pairs, objects in ((self.renames.call, calls), (self.renames.result, results))
            for _, source in pairs
            if source and all(find_value(item, source) is ABSENT for item in objects)
        ]


def _check_renames(entries: tuple[str, ...]) -> tuple[str, ...]:
    parse_renames(entries)
    return entries


def _check_label_map(entries: tuple[str, ...]) -> tuple[str, ...]:
    parse_label_map(entries)
    return entries


def _plus_1(iteration: Any) -> Any:
    """The iteration plus 1 if it is a number; other values are rejected later."""
    if isinstance(iteration, str) and _WHOLE.fullmatch(iteration):
        iteration = int(iteration)
    if isinstance(iteration, bool) or not isinstance(iteration, int | float):
        return iteration
    return iteration + 1
