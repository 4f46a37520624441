"""Counts of the results of traces: labels, types, names of ids and fields (SPEC 2)."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from goodgain.transforms.core.dedup.evidence import layout_of
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.sketches import decode_result

_MOST_NAMES = 1_000  # distinct names of each kind to count
_MOST_KINDS = 10_000  # distinct results to keep; files of odd names have more
OTHER_NAMES = "(further names)"


class _LikeResults(Struct):
    """Results with the same sketch, and what to count of each."""

    gain: int | None
    scored: bool
    unidentified: bool
    entity_type: str
    ids: list[str]
    fields: list[str]
    results: int = 0


class ResultCounts:
    """Running counts of results; memory does not grow with them.

    Attributes:
      gains: number of results by label; None for those without a label.
      types: number of results by entity type as written; "" for those without a type.
      ids, fields: number of results that have an id or field, by its name.
      field_types: for each name of a field, the entity types that it occurs with, as in `types`.
      scored, unidentified: number of results with a score, and of those that nothing identifies.
    """

    def __init__(self, rules: RuleTable) -> None:
        self._rules = rules
        self._kinds: dict[bytes, _LikeResults] = {}
        self.scored = self.unidentified = 0
        self.gains: Counter[int | None] = Counter()
        self.types: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.field_types: dict[str, set[str]] = {}

    def add(self, sketch: bytes) -> None:
        """Add a result; the attributes know of it after `settle`.

        Args:
          sketch: from `CallSketch.results`.
        """
        kind = self._kinds.get(sketch)
        if kind is None:
            if len(self._kinds) >= _MOST_KINDS:
                self.settle()
            kind = self._kinds[sketch] = self._kind(sketch)
        kind.results += 1

    def settle(self) -> None:
        """Bring the attributes up to date."""
        for kind in self._kinds.values():
            results = kind.results
            self.gains[kind.gain] += results
            self.scored += kind.scored * results
            self.unidentified += kind.unidentified * results
            self.types[kind.entity_type] += results
            for name in kind.ids:
                self.ids[name] += results
            for name in kind.fields:
                self.fields[name] += results
        self._kinds.clear()

    def _kind(self, sketch: bytes) -> _LikeResults:
        result = decode_result(sketch)
        entity_type = name_to_count(self.types, (result.entity_type or "").strip())
        fields = [name_to_count(self.fields, name) for name in result.fields]
        for name in fields:
            self.field_types.setdefault(name, set()).add(entity_type)
        return _LikeResults(
            gain=result.gain,
            scored=result.has_score,
            unidentified=not data_counts.identifies(layout_of(result.codes), self._rules),
            entity_type=entity_type,
            ids=[name_to_count(self.ids, name) for name in result.ids],
            fields=fields,
        )


def name_to_count(names: Counter[str], name: str) -> str:
    """The name under which a name is counted, with a count from now on: a common one if many."""
    if name not in names and len(names) >= _MOST_NAMES:
        name = OTHER_NAMES
    names[name] += 0
    return name
