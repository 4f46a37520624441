"""What reading needs from an Avro writer's schema (SPEC 2)."""

from __future__ import annotations

from typing import Any

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


def timestamp_scale(schema: Any) -> tuple[int, int]:
    """Factor and divisor that convert the field `timestamp` to milliseconds."""
    for record in schema if isinstance(schema, list) else [schema]:
        for field in record.get("fields", ()) if isinstance(record, dict) else ():
            if field.get("name") == "timestamp":
                return _scale_of(field.get("type"))
    return 1, 1


def _scale_of(field_type: Any) -> tuple[int, int]:
    for branch in field_type if isinstance(field_type, list) else [field_type]:
        logical = branch.get("logicalType") if isinstance(branch, dict) else None
        if isinstance(logical, str) and logical in _TO_MILLIS:
            return _TO_MILLIS[logical]
    return 1, 1
