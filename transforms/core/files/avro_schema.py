"""The parts of an Avro writer's schema that a reader needs (SPEC 2)."""

from __future__ import annotations

from typing import Any

# Factor and divisor from stored timestamps to milliseconds, rounded down.
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

    A time outside of Python's range of years would make the whole block fail as a datetime.
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


def timestamp_scale(schema: Any) -> tuple[int, int]:
    """Factor and divisor from the stored number of the field `timestamp` to milliseconds."""
    for record in schema if isinstance(schema, list) else [schema]:
        for field in record.get("fields", ()) if isinstance(record, dict) else ():
            if field.get("name") == "timestamp":
                return _scale_of(field.get("type"))
    return 1, 1


def _scale_of(kind: Any) -> tuple[int, int]:
    for branch in kind if isinstance(kind, list) else [kind]:
        logical = branch.get("logicalType") if isinstance(branch, dict) else None
        if isinstance(logical, str) and logical in _TO_MILLIS:
            return _TO_MILLIS[logical]
    return 1, 1
