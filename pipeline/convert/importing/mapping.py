"""A compiled mapping, which extracts fields from the records of another tool."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingType
from dataclasses import dataclass
from typing import Any

from goodgain.pipeline.convert.importing.expressions import Expression, TruncatedTexts, is_true
from goodgain.pipeline.convert.importing.values import integer, number, text, texts

_IDENTIFYING = ("ids", "url", "title", "snippet", "content", "id")


@dataclass(frozen=True)
class Mapping:
    """A mapping file with its expressions compiled to functions.

    Attributes:
      unit: what one record is: a span, a search call or a result.
      records: keys, one of which holds the records if a document is an object.
      each: names and expressions of nested lists, outermost first, whose members are the records.
      time_unit: unit of numeric times.
      search_tools: tools whose calls are searches; if empty, those that return documents.
      parts: expressions for the other fields of the trace record, and for its position.
      attributes, costs, ids, fields: expressions by name in the trace record.
      result: expressions for the other fields of a result.
      truncated: counts truncated JSON texts.
    """

    unit: str
    records: tuple[str, ...]
    each: tuple[tuple[str, Expression], ...]
    time_unit: str
    search_tools: frozenset[str]
    parts: MappingType[str, Expression]
    attributes: MappingType[str, Expression]
    costs: MappingType[str, Expression]
    result: MappingType[str, Expression]
    ids: MappingType[str, Expression]
    fields: MappingType[str, Expression]
    truncated: TruncatedTexts

    def part(self, name: str, record: Any) -> Any:
        """The value of a part of a record; None if the mapping has no expression for it."""
        expression = self.parts.get(name)
        return None if expression is None else expression(record)

    def holds(self, name: str, record: Any) -> bool:
        """Whether the value of a condition is true for JMESPath."""
        return is_true(self.part(name, record))

    def members(self, record: Any) -> Iterator[Any]:
        """The records within a record: itself, or what `each` finds.

        For a member of `each`, expressions see the outermost record as `document`, each level under
        its name, and the level's position from 1 as `NAME_number`.
        """
        if not self.each:
            yield record
            return
        contexts = [{"document": record}]
        above = "document"
        for name, expression in self.each:
            contexts = [
                context | {name: member, f"{name}_number": position}
                for context in contexts
                for position, member in enumerate(_as_list(expression(context[above])), 1)
            ]
            above = name
        yield from contexts

    def attributes_of(self, record: Any) -> dict[str, str]:
        """The attributes that a record has."""
        values = {name: text(expression(record)) for name, expression in self.attributes.items()}
        return {name: value for name, value in values.items() if value is not None}

    def costs_of(self, record: Any) -> dict[str, float]:
        """The costs of a record; values other than numbers of at least 0 are ignored."""
        values = {name: number(expression(record)) for name, expression in self.costs.items()}
        return {name: value for name, value in values.items() if value is not None and value >= 0}

    def results_of(self, record: Any) -> list[dict[str, Any]] | None:
        """The results of a record; None if it does not even have an empty list."""
        results = self.part("results", record)
        return [self.result_of(item) for item in results] if isinstance(results, list) else None

    def result_of(self, item: Any) -> dict[str, Any]:
        """A result (SPEC 2) with the fields that are present."""
        result: dict[str, Any] = {}
        for name, expression in self.result.items():
            value = expression(item)
            if name == "score":
                result[name] = number(value)
            elif name == "gain":
                result[name] = integer(value)
                if result[name] is None and text(value) is not None:
                    result[name] = value  # refused later, with a reason
            else:
                result[name] = text(value)
        for name, expressions in (("ids", self.ids), ("fields", self.fields)):
            values = {key: texts(expression(item)) for key, expression in expressions.items()}
            result[name] = {key: value for key, value in values.items() if value} or None
        return {name: value for name, value in result.items() if value is not None}


def has_identity(result: MappingType[str, Any]) -> bool:
    """Whether a result has anything by which a copy could be recognized."""
    return any(name in result for name in _IDENTIFYING)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else ([] if value is None else [value])
