"""OpenTelemetry spans, inside OTLP's envelope and outside it, brought into one flat form."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import ijson
from ijson.common import ObjectBuilder
from msgspec import Struct

from goodgain.pipeline.convert.importing.formats.flat_spans import (
    attributes_of,
    error_of,
    parse_flat_span,
    with_messages,
)
from goodgain.pipeline.convert.importing.formats.format import (
    NO_SPAN,
    NO_SPANS,
    Refuse,
    object_of,
    objects,
)

_HEX = re.compile(r"[0-9a-fA-F]+")
_NO_ID = re.compile(r"0*")
# Keys of an envelope: groups by resource, those within them by scope, and their spans.
_GROUPS = ("resourceSpans", "resource_spans", "batches")
_SCOPES = (
    "scopeSpans",
    "scope_spans",
    "instrumentationLibrarySpans",
    "instrumentation_library_spans",
)
_LOGS = "log records, which are no spans: export the traces"
# Only rows of logs and events have these.
_OF_LOGS = frozenset(
    (
        *("severity_number", "severityNumber", "SeverityNumber", "severity_text", "severityText"),
        *("SeverityText", "LogAttributes", "logRecords", "log_records"),
    )
)
_OTHER_SIGNALS = {
    "resourceLogs": _LOGS,
    "resource_logs": _LOGS,
    "resourceMetrics": "metrics, which are no spans: export the traces",
    "resource_metrics": "metrics, which are no spans: export the traces",
}
_PENDING = ("pending_span", "log")  # rows of Logfire beside those of spans
_HEAD = 4096
_ENVELOPE = re.compile(rb'"(?:' + "|".join((*_GROUPS, *_OTHER_SIGNALS)).encode() + rb')"\s*:')
_GROUP = rf"(?:trace\.)?(?:{'|'.join(_GROUPS)})\.item"
_SCOPE = rf"{_GROUP}\.(?:{'|'.join(_SCOPES)})\.item"
_IS_GROUP, _IS_SCOPE = re.compile(_GROUP), re.compile(_SCOPE)
_IS_SPAN, _IS_RESOURCE = re.compile(rf"{_SCOPE}\.spans\.item"), re.compile(rf"{_GROUP}\.resource")
_NOT_OBJECTS = frozenset(
    ("null", "boolean", "integer", "double", "number", "string", "start_array")
)


class _Refused(Struct, frozen=True):
    """An unusable part of a document."""

    reason: str


def otlp_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The spans of an export request, or of a record that is one span.

    Attributes become plain values, ids hexadecimal (protobuf's own JSON has base64), times whole
    numbers or ISO 8601.
    """
    if isinstance(record, _Refused):
        refuse(record.reason)
        return
    if not isinstance(record, dict):
        refuse("JSON that is not an object")
        return
    if "_resource" in record:
        yield _otlp_span(record, _attributes(record["_resource"]))
        return
    envelope = record["trace"] if isinstance(record.get("trace"), dict) else record
    groups = next((envelope[key] for key in _GROUPS if isinstance(envelope.get(key), list)), None)
    if groups is not None:
        yield from _spans_of_groups(groups, refuse)
        return
    for key, reason in _OTHER_SIGNALS.items():
        if key in record:
            refuse(reason)
            return
    yield from _single_span(record, refuse)


def _spans_of_groups(groups: list[Any], refuse: Refuse) -> Iterator[dict[str, Any]]:
    for group in objects(groups, refuse, NO_SPANS):
        resource = _attributes(group.get("resource"))
        scopes = next((group[key] for key in _SCOPES if key in group), None)
        for scope in objects(scopes, refuse, NO_SPANS):
            for span in objects(scope.get("spans"), refuse, NO_SPAN):
                yield _otlp_span(span, resource)


def _single_span(record: Mapping[str, Any], refuse: Refuse) -> Iterator[dict[str, Any]]:
    if not _OF_LOGS.isdisjoint(record):
        refuse(_LOGS)
        return
    span = parse_flat_span(record)
    if span is None:
        refuse("JSON that holds no spans: neither resourceSpans nor trace_id and attributes")
        return
    if span.get("kind") in _PENDING:
        return
    for name, digits in (("trace_id", 32), ("span_id", 16), ("parent_span_id", 16)):
        span[name] = _hex_id(span.get(name), digits)
    yield {"end": None, "name": None, **span}


def otlp_document(file: BinaryIO) -> Iterator[Any] | None:
    """Each span of one large export request, with the resource that preceded it.

    None if the file does not begin with an envelope.
    """
    head = file.read(_HEAD)
    file.seek(0)
    return _document(file) if _ENVELOPE.search(head) else None


def _document(file: BinaryIO) -> Iterator[Any]:
    resource: Any = None
    builder: ObjectBuilder | None = None
    building = ""
    kinds = _KindsOfPlaces()
    for prefix, event, value in ijson.parse(file, use_float=True, multiple_values=True):
        kind = kinds[prefix]
        if builder is None and event == "start_map" and kind in ("span", "resource"):
            builder, building = ObjectBuilder(), prefix
        if builder is None and event in _NOT_OBJECTS and kind in ("group", "scope", "span"):
            yield _Refused(NO_SPAN if kind == "span" else NO_SPANS)
        if kind == "group" and event == "start_map":
            resource = None
        if not prefix and event == "map_key" and value in _OTHER_SIGNALS:
            yield _Refused(_OTHER_SIGNALS[value])
        if builder is None:
            continue
        builder.event(event, value)
        if event == "end_map" and prefix == building:
            if kind == "span":
                yield {**builder.value, "_resource": resource}
            else:
                resource = builder.value
            builder = None


class _KindsOfPlaces(dict[str, str]):
    """What stands at a path in a document: a group, a resource, a scope, a span, or else."""

    def __missing__(self, prefix: str) -> str:
        patterns = {
            "span": _IS_SPAN,
            "scope": _IS_SCOPE,
            "resource": _IS_RESOURCE,
            "group": _IS_GROUP,
        }
        kind = next((name for name, pattern in patterns.items() if pattern.fullmatch(prefix)), "")
        if len(self) < 10_000:
            self[prefix] = kind
        return kind


def _otlp_span(span: Mapping[str, Any], resource: dict[str, Any]) -> dict[str, Any]:
    def part(name: str, snake: str) -> Any:
        return span.get(name, span.get(snake))

    return {
        "trace_id": _hex_id(part("traceId", "trace_id"), 32),
        "span_id": _hex_id(part("spanId", "span_id"), 16),
        "parent_span_id": _hex_id(part("parentSpanId", "parent_span_id"), 16),
        "name": span.get("name"),
        "start": part("startTimeUnixNano", "start_time_unix_nano"),
        "end": part("endTimeUnixNano", "end_time_unix_nano"),
        "error": error_of(span.get("status"), None, span.get("events")),
        "attributes": with_messages(attributes_of(span.get("attributes")), span.get("events")),
        "resource": resource,
    }


def _attributes(holder: Any) -> dict[str, Any]:
    return attributes_of(object_of(holder).get("attributes"))


def _hex_id(written: Any, digits: int) -> str | None:
    if not isinstance(written, str) or not written:
        return None
    hexadecimal = written.lower().removeprefix("0x")
    if len(hexadecimal) != digits or not _HEX.fullmatch(hexadecimal):
        try:
            hexadecimal = base64.b64decode(written, validate=True).hex()
        except (binascii.Error, ValueError):
            return written
    return None if _NO_ID.fullmatch(hexadecimal) else hexadecimal
