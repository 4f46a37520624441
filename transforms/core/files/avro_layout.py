"""The layouts of the types in an Avro schema; see `avro_values`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from goodgain.transforms.core.errors import GoodGainError
from goodgain.transforms.core.files.avro_values import (
    DEEPEST,
    PRIMITIVES,
    Layout,
    lay_out_array,
    lay_out_enum,
    lay_out_fixed,
    lay_out_map,
    lay_out_record,
    lay_out_recursive,
    lay_out_union,
)
from goodgain.transforms.core.records.record_errors import has_surrogate

_MOST_BRANCHES = 500  # of a union; fastavro looks at each of them for every value


class SchemaError(GoodGainError):
    """A schema that cannot be used; the message continues "The Avro schema"."""


def layout_of(schema: Any) -> Layout:
    """The layout of a schema, decoded by `json.loads`.

    Raises:
      SchemaError: it is not an Avro schema, or is nested more than 64 levels deep.
    """
    return _Compiler().layout(schema, "", 0)


class _Compiler:
    """Layouts of the types in one schema, those with a name by full name."""

    def __init__(self) -> None:
        self._named: dict[str, Layout | None] = {}  # None while it is being made

    def layout(self, schema: Any, namespace: str, depth: int) -> Layout:
        if depth > DEEPEST:
            raise SchemaError(f"is nested more than {DEEPEST} levels deep")
        if isinstance(schema, str):
            return PRIMITIVES.get(schema) or self._reference(schema, namespace)
        if isinstance(schema, list):
            return _compile_union([self.layout(branch, namespace, depth + 1) for branch in schema])
        if not isinstance(schema, dict) or "type" not in schema:
            raise SchemaError("has a part that is not a type")
        kind = schema["type"]
        if not isinstance(kind, str):
            return self.layout(kind, namespace, depth + 1)
        if kind == "array":
            return lay_out_array(self.layout(schema.get("items"), namespace, depth + 1))
        if kind == "map":
            return lay_out_map(self.layout(schema.get("values"), namespace, depth + 1))
        if kind in ("record", "error", "enum", "fixed"):
            return self._compile_named_type(kind, schema, namespace, depth)
        return self.layout(kind, namespace, depth + 1)

    def _compile_named_type(
        self, kind: str, schema: Mapping[str, Any], namespace: str, depth: int
    ) -> Layout:
        name = schema.get("name")
        if not isinstance(name, str):
            raise SchemaError(f"has a type {kind} without a name")
        namespace_of_type = schema.get("namespace", namespace)
        if "." in name:
            namespace_of_type, name = name.rsplit(".", 1)
        if not isinstance(namespace_of_type, str):
            raise SchemaError(f"has a namespace of {name} that is not text")
        full_name = f"{namespace_of_type}.{name}" if namespace_of_type else name
        self._named[full_name] = None
        if kind == "enum":
            layout = lay_out_enum()
        elif kind == "fixed":
            layout = _compile_fixed(schema.get("size"), name)
        else:
            fields = schema.get("fields")
            if not isinstance(fields, list):
                raise SchemaError(f"has a record {name} without a list of fields")
            layout = lay_out_record(
                [self._field(field, name, namespace_of_type, depth) for field in fields]
            )
        self._named[full_name] = layout
        return layout

    def _field(self, field: Any, record: str, namespace: str, depth: int) -> Layout:
        if not isinstance(field, dict) or not isinstance(field.get("name"), str):
            raise SchemaError(f"has a record {record} with a field that has no name")
        if has_surrogate(field["name"]):
            raise SchemaError(f"has a record {record} with a field whose name is not text")
        return self.layout(field.get("type"), namespace, depth + 1)

    def _reference(self, name: str, namespace: str) -> Layout:
        for full_name in (f"{namespace}.{name}" if namespace and "." not in name else name, name):
            if full_name in self._named:
                layout = self._named[full_name]
                return layout or lay_out_recursive(partial(self._named.get, full_name))
        raise SchemaError(f"refers to a type {name[:60]!r} that it does not define")


def _compile_union(branches: list[Layout]) -> Layout:
    if not branches:
        raise SchemaError("has an empty union")
    if len(branches) > _MOST_BRANCHES:
        found = f"{len(branches):,} types; at most {_MOST_BRANCHES:,} are read"
        raise SchemaError(f"has a union of {found}")
    return lay_out_union(branches)


def _compile_fixed(size: Any, name: str) -> Layout:
    if not isinstance(size, int) or size < 0:
        raise SchemaError(f"has a type {name} whose size is not a number")
    return lay_out_fixed(size)
