"""What reading needs from an Avro writer's schema; for native code, a table of types (SPEC 2)."""

from __future__ import annotations

from typing import Any

import fastavro
from msgspec import Struct

from goodgain.transforms.core.files.avro_values import PRIMITIVES

# Factor and divisor that convert stored timestamps to milliseconds, which are then rounded down.
_TO_MILLIS = {
    "timestamp-millis": (1, 1),
    "timestamp-micros": (1, 1_000),
    "timestamp-nanos": (1, 1_000_000),
    "local-timestamp-millis": (1, 1),
    "local-timestamp-micros": (1, 1_000),
    "local-timestamp-nanos": (1, 1_000_000),
    "date": (86_400_000, 1),
}


def plain_schema(schema: Any) -> Any:
    """The schema without logical types, so that values are read as plain numbers and strings.

    Otherwise one time outside of the years of Python's datetime would make its whole block fail.
    """
    if isinstance(schema, dict):
        return {
            name: value if name in ("default", "symbols") else plain_schema(value)
            for name, value in schema.items()
            if name != "logicalType"
        }
    if isinstance(schema, list):
        return [plain_schema(part) for part in schema]
    return schema


def timestamp_scale(schema: Any, name: str | None) -> tuple[int, int]:
    """Factor and divisor that convert the field with the timestamp to milliseconds."""
    for record in schema if isinstance(schema, list) else [schema]:
        for field in record.get("fields", ()) if isinstance(record, dict) else ():
            if field.get("name") == name:
                return _scale_of(field.get("type"))
    return 1, 1


def _scale_of(field_type: Any) -> tuple[int, int]:
    for branch in field_type if isinstance(field_type, list) else [field_type]:
        logical = branch.get("logicalType") if isinstance(branch, dict) else None
        if isinstance(logical, str) and logical in _TO_MILLIS:
            return _TO_MILLIS[logical]
    return 1, 1


# A kind and its parameters: numbers of other types, names of fields and symbols, a size.
_Type = tuple[str, Any]


class AvroPlan(Struct, frozen=True):
    """The types of the records in a file.

    Attributes:
      types: kind and parameters of each type: the number of an item's type, the numbers of a
        union's branches, (name, number) of a record's fields, an enum's symbols, the size of a
        fixed.
      top: number of the records' type.
      scale: factor and divisor from a stored timestamp to milliseconds.
      most_results: records with more results are left to Python.
    """

    types: list[_Type]
    top: int
    scale: tuple[int, int]
    most_results: int

    def names(self, results: str | None) -> tuple[set[str], set[str]]:
        """The names of the fields of records, and of the items in the field `results`."""
        top = dict(self.types[self.top][1])
        return set(top), self._names_of_items(top[results]) if results in top else set()

    def _names_of_items(self, number: int) -> set[str]:
        kind, detail = self.types[number]
        if kind == "record":
            return {name for name, _ in detail}
        parts = {"union": detail, "array": [detail]}.get(kind, ())
        return set[str]().union(*map(self._names_of_items, parts))


def plan_of(schema: Any, scale: tuple[int, int], most_results: int) -> AvroPlan | None:
    """The plan of a schema decoded by `json.loads`; None if it is not a plain record."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return None
    try:
        table = _TypeTable()
        top = table.number(fastavro.parse_schema(plain_schema(schema), _force=True))
    except Exception:  # fastavro raises all kinds of errors; the reader will report them
        return None
    return AvroPlan(table.types, top, scale, most_results)


class _TypeTable:
    """Collects and numbers the types; a named type gets its number before its parts."""

    def __init__(self) -> None:
        self.types: list[_Type] = []
        self._named: dict[str, int] = {}

    def number(self, schema: Any) -> int:
        """The number of a schema from `fastavro.parse_schema`.

        Raises:
          ValueError: the kind of type is unknown.
        """
        if isinstance(schema, list):
            return self._add("union", [self.number(branch) for branch in schema])
        if isinstance(schema, str):
            return self._add(schema, None) if schema in PRIMITIVES else self._named[schema]
        kind = schema["type"]
        if isinstance(kind, dict | list) or kind in PRIMITIVES or kind in self._named:
            return self.number(kind)
        if kind == "array":
            return self._add("array", self.number(schema["items"]))
        if kind == "map":
            return self._add("map", self.number(schema["values"]))
        number = self._named[schema["name"]] = self._add(kind, None)
        if kind == "enum":
            self.types[number] = ("enum", schema["symbols"])
        elif kind == "fixed":
            self.types[number] = ("fixed", schema["size"])
        elif kind == "record":
            fields = [(field["name"], self.number(field["type"])) for field in schema["fields"]]
            self.types[number] = ("record", fields)
        else:
            raise ValueError(f"{kind} is not an Avro type")
        return number

    def _add(self, kind: str, detail: Any) -> int:
        self.types.append((kind, detail))
        return len(self.types) - 1
