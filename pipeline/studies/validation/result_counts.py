"""Counts of the results of traces: labels, types, names of ids and fields (SPEC 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from goodgain.transforms.core.dedup.evidence import layout_of
from goodgain.transforms.core.dedup.rules import RuleTable
from goodgain.transforms.core.scoring import data_counts
from goodgain.transforms.core.scoring.sketches import decode_result

_MOST_NAMES = 1_000  # distinct names of each kind to count
_MOST_KINDS = 10_000  # distinct results to keep; files of odd names have more
OTHER_NAMES = "(further names)"


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
        self._sketches: Counter[bytes] = Counter()
        self.scored = self.unidentified = 0
        self.gains: Counter[int | None] = Counter()
        self.types: Counter[str] = Counter()
        self.ids: Counter[str] = Counter()
        self.fields: Counter[str] = Counter()
        self.field_types: dict[str, set[str]] = {}

    def add(self, sketches: Sequence[bytes]) -> None:
        """Add results; the attributes know of them after `settle`.

        Args:
          sketches: from `CallSketch.results`.
        """
        self._sketches.update(sketches)
        if len(self._sketches) > _MOST_KINDS:
            self.settle()

    def settle(self) -> None:
        """Bring the attributes up to date."""
        for sketch, results in self._sketches.items():
            self._count(sketch, results)
        self._sketches.clear()

    def _count(self, sketch: bytes, results: int) -> None:
        """Count results that have the same sketch."""
        result = decode_result(sketch)
        entity_type = name_to_count(self.types, (result.entity_type or "").strip())
        self.types[entity_type] += results
        self.gains[result.gain] += results
        if result.has_score:
            self.scored += results
        if not data_counts.identifies(layout_of(result.codes), self._rules):
            self.unidentified += results
        for name in result.fields:
            counted = name_to_count(self.fields, name)
            self.fields[counted] += results
            self.field_types.setdefault(counted, set()).add(entity_type)
        for name in result.ids:
            self.ids[name_to_count(self.ids, name)] += results


def name_to_count(names: Counter[str], name: str) -> str:
    """The name under which a name is counted, with a count from now on: a common one if many."""
    if name not in names and len(names) >= _MOST_NAMES:
        name = OTHER_NAMES
    names[name] += 0
    return name
