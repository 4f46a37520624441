"""OpenTelemetry spans in OTLP's JSON, brought into one flat form."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson
from ijson.common import ObjectBuilder
from msgspec import Struct

from goodgain.pipeline.convert.importing.formats.format import (
    NO_SPAN,
    NO_SPANS,
    Refuse,
    object_of,
    objects,
    pairs,
)

_HEX = re.compile(r"[0-9a-fA-F]+")
_NO_ID = re.compile(r"0*")
_OTLP_SPAN = "resourceSpans.item.scopeSpans.item.spans.item"
_OTLP_RESOURCE = "resourceSpans.item.resource"
# Paths in a document at which only objects can be used, and the reason to refuse anything else.
_OTLP_OBJECTS = {
    "resourceSpans.item": NO_SPANS,
    "resourceSpans.item.scopeSpans.item": NO_SPANS,
    _OTLP_SPAN: NO_SPAN,
}
_NOT_OBJECTS = frozenset(
    ("null", "boolean", "integer", "double", "number", "string", "start_array")
)


class _Refused(Struct, frozen=True):
    """An unusable part of a document."""

    reason: str


def otlp_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The spans of an export request, or of a record that is one span.

    Attributes become plain values, ids hexadecimal (protobuf's own JSON has base64), times whole
    numbers.
    """
    if isinstance(record, _Refused):
        refuse(record.reason)
    elif isinstance(record, dict) and "_resource" in record:
        yield _otlp_span(record, _plain_attributes(record["_resource"]))
    elif not isinstance(record, dict) or not isinstance(record.get("resourceSpans"), list):
        refuse("JSON that holds no resourceSpans")
    else:
        for group in objects(record["resourceSpans"], refuse, NO_SPANS):
            resource = _plain_attributes(group.get("resource"))
            for scope in objects(group.get("scopeSpans"), refuse, NO_SPANS):
                for span in objects(scope.get("spans"), refuse, NO_SPAN):
                    yield _otlp_span(span, resource)


def otlp_document(file: BinaryIO) -> Iterator[Any]:
    """Each span of one large export request, with the resource that preceded it."""
    resource: Any = None
    builder: ObjectBuilder | None = None
    building = ""
    for prefix, event, value in ijson.parse(file, use_float=True, multiple_values=True):
        if builder is None and event == "start_map" and prefix in (_OTLP_SPAN, _OTLP_RESOURCE):
            builder, building = ObjectBuilder(), prefix
        if builder is None and event in _NOT_OBJECTS and prefix in _OTLP_OBJECTS:
            yield _Refused(_OTLP_OBJECTS[prefix])
        if prefix == "resourceSpans.item" and event == "start_map":
            resource = None
        if builder is None:
            continue
        builder.event(event, value)
        if event == "end_map" and prefix == building:
            if building == _OTLP_SPAN:
                yield {**builder.value, "_resource": resource}
            else:
                resource = builder.value
            builder = None


def _otlp_span(span: Mapping[str, Any], resource: dict[str, Any]) -> dict[str, Any]:
    return {
        "trace_id": _hex_id(span.get("traceId"), 32),
        "span_id": _hex_id(span.get("spanId"), 16),
        "parent_span_id": _hex_id(span.get("parentSpanId"), 16),
        "name": span.get("name"),
        "start": span.get("startTimeUnixNano"),
        "end": span.get("endTimeUnixNano"),
        "error": _error(span),
        "attributes": _plain_attributes(span),
        "resource": resource,
    }


def _error(span: Mapping[str, Any]) -> str | None:
    """What a span says about its failure: its status, or the exception among its events."""
    status = object_of(span.get("status"))
    if status.get("code") not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return None
    events = span.get("events")
    told = [status.get("message")]
    for event in events if isinstance(events, list) else ():
        told.append(_plain_attributes(event).get("exception.message"))
    return next((text for text in told if isinstance(text, str) and text.strip()), "failed")


def _hex_id(written: Any, digits: int) -> str | None:
    if not isinstance(written, str) or not written:
        return None
    hexadecimal = written.lower()
    if len(written) != digits or not _HEX.fullmatch(written):
        try:
            hexadecimal = base64.b64decode(written, validate=True).hex()
        except (binascii.Error, ValueError):
            return written
    return None if _NO_ID.fullmatch(hexadecimal) else hexadecimal


def _plain_attributes(holder: Any) -> dict[str, Any]:
    return {key: _plain(value) for key, value in pairs(object_of(holder).get("attributes"))}


def _plain(value: Any) -> Any:
    """The value of an OTLP AnyValue, in which whole numbers are text."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((kind, content),) = value.items()
    if kind == "intValue":
        try:
            return int(content)
        except (TypeError, ValueError):
            return None
    if kind == "arrayValue":
        values = object_of(content).get("values")
        return (
            [_plain(one) for one in values if isinstance(one, dict)]
            if isinstance(values, list)
            else []
        )
    if kind == "kvlistValue":
        return _plain_attributes({"attributes": object_of(content).get("values")})
    return content
