"""A writer's schema as a table of numbered types, for native code (SPEC 2)."""

from __future__ import annotations

from typing import Any

import fastavro
from msgspec import Struct

from goodgain.transforms.core.files.avro_schema import plain_schema, timestamp_scale

_PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")

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

    def field_names(self) -> tuple[set[str], set[str]]:
        """The names of the fields of the records, and those of all records inside of them."""
        names = [
            (number, {name for name, _ in detail})
            for number, (kind, detail) in enumerate(self.types)
            if kind == "record"
        ]
        top = {name for number, some in names if number == self.top for name in some}
        return top, {name for number, some in names if number != self.top for name in some}


def plan_of(schema: Any, most_results: int) -> AvroPlan | None:
    """The plan of a schema decoded by `json.loads`; None if it is not a plain record."""
    if not isinstance(schema, dict) or schema.get("type") != "record":
        return None
    try:
        table = _TypeTable()
        top = table.number(fastavro.parse_schema(plain_schema(schema), _force=True))
    except Exception:  # fastavro raises all kinds of errors; the reader will report them
        return None
    return AvroPlan(table.types, top, timestamp_scale(schema), most_results)


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
            return self._add(schema, None) if schema in _PRIMITIVES else self._named[schema]
        kind = schema["type"]
        if isinstance(kind, dict | list) or kind in _PRIMITIVES or kind in self._named:
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
