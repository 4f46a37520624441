"""A span in any of the flat shapes in which tools export it: an SDK's JSON, rows, data frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from goodgain.pipeline.convert.importing.answers.written_values import decode_json
from goodgain.pipeline.convert.importing.formats.format import object_of, pairs
from goodgain.pipeline.convert.importing.values.scalars import nanos
from goodgain.transforms.core.records.iso_time import parse_time

_SEPARATORS = re.compile(r"[_.\- ]")
# Our names of a span's parts, and those of others without separators and in lower case.
_NAMES = {
    "trace_id": ("traceid", "contexttraceid"),
    "span_id": ("spanid", "contextspanid"),
    "parent_span_id": ("parentspanid", "parentid"),
    "name": ("name", "spanname", "operationname"),
    "start": ("starttimeunixnano", "starttime", "starttimestamp", "timestamp"),
    "end": ("endtimeunixnano", "endtime", "endtimestamp"),
    "duration": ("duration", "durationnano"),
    "attributes": ("attributes", "spanattributes", "otelattributes"),
    "resource": ("resource", "resourceattributes", "otelresourceattributes"),
    "status": ("status", "statuscode", "otelstatuscode"),
    "status_message": ("statusmessage", "otelstatusmessage", "exceptionmessage"),
    "events": ("events", "otelevents"),
    "kind": ("kind",),
}
_OURS = {theirs: ours for ours, several in _NAMES.items() for theirs in several}
_COLUMNS_OF_ATTRIBUTES = "attributes."
_MESSAGES = "gen_ai."
_DEEPEST = 8
_FRACTION = re.compile(r":\d\d\.(\d+)")
_ERRORS = frozenset(("2", "error", "status_code_error"))
# Whole numbers since 1970 below these are seconds, milliseconds and microseconds.
_UNITS = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))

Span = dict[str, Any]


def parse_flat_span(record: Mapping[str, Any]) -> Span | None:
    """The parts of a span under our names; None if the record is no span."""
    span: Span = {}
    for name, value in {**object_of(record.get("context")), **record}.items():
        ours = _OURS.get(_SEPARATORS.sub("", name).lower())
        if ours is not None and (ours not in span or span[ours] is None):
            span[ours] = value
    columns = {
        name.removeprefix(_COLUMNS_OF_ATTRIBUTES): value
        for name, value in record.items()
        if name.startswith(_COLUMNS_OF_ATTRIBUTES) and value is not None
    }
    if "trace_id" not in span or not ("attributes" in span or columns):
        return None
    attributes = {**attributes_of(span.get("attributes")), **attributes_of(columns)}
    events = span.get("events")
    events = span["events"] = decode_json(events) if isinstance(events, str) else events
    span["attributes"] = with_messages(attributes, events)
    resource = span.get("resource")
    span["resource"] = attributes_of(object_of(resource).get("attributes", resource))
    span["error"] = error_of(span.get("status"), span.get("status_message"), span.get("events"))
    start, duration = _nanoseconds(span.get("start")), span.get("duration")
    span["start"], span["end"] = start, _nanoseconds(span.get("end"))
    if span["end"] is None and isinstance(start, int) and isinstance(duration, int):
        span["end"] = start + duration
    return span


def attributes_of(written: Any) -> dict[str, Any]:
    """Attributes by dotted names, from an object, nested objects, a list of pairs, or JSON."""
    if isinstance(written, str):
        written = decode_json(written)
    if isinstance(written, list):
        written = {key: plain_value(value) for key, value in pairs(written)}
    if not isinstance(written, dict):
        return {}
    attributes = dict(written)
    for key, value in written.items():
        if isinstance(value, dict):
            attributes |= dict(_flatten(key, value, 0))
    if any(name.startswith("mlflow.") for name in attributes):
        attributes = {name: _parse_if_json(value) for name, value in attributes.items()}
    return attributes


def with_messages(attributes: dict[str, Any], events: Any) -> dict[str, Any]:
    """Attributes with those of the events that hold messages, as the GenAI conventions have them.

    The content of an event `gen_ai.choice` stands under `gen_ai.choice.content`, and so on.
    """
    for event in events if isinstance(events, list) else ():
        name = object_of(event).get("name")
        if isinstance(name, str) and name.startswith(_MESSAGES):
            for key, value in attributes_of(object_of(event).get("attributes")).items():
                full = key if key.startswith(_MESSAGES) else f"{name}.{key}"
                attributes.setdefault(full, value)
    return attributes


def plain_value(value: Any) -> Any:
    """The value of an OTLP AnyValue, in which whole numbers are text."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((kind, content),) = value.items()
    kind = _SEPARATORS.sub("", kind).lower()
    if kind == "intvalue":
        try:
            return int(content)
        except (TypeError, ValueError):
            return None
    if kind == "arrayvalue":
        values = object_of(content).get("values")
        return list(map(plain_value, values)) if isinstance(values, list) else []
    if kind == "kvlistvalue":
        return {key: plain_value(item) for key, item in pairs(object_of(content).get("values"))}
    return content


def error_of(status: Any, message: Any, events: Any) -> str | None:
    """What a span says about its failure: its status, else the exception among its events."""
    of_status = object_of(status)
    code = next(
        (of_status[name] for name in ("code", "status_code", "statusCode") if name in of_status),
        status,
    )
    if str(code).lower().rpartition(".")[2] not in _ERRORS:
        return None
    told = [of_status.get("message"), of_status.get("description"), message]
    for event in events if isinstance(events, list) else ():
        told.append(attributes_of(object_of(event).get("attributes")).get("exception.message"))
    return next((text for text in told if isinstance(text, str) and text.strip()), "failed")


def _flatten(prefix: str, value: Mapping[str, Any], depth: int) -> Iterator[tuple[str, Any]]:
    for key, inner in value.items():
        name = f"{prefix}.{key}"
        yield name, inner
        if isinstance(inner, dict) and depth < _DEEPEST:
            yield from _flatten(name, inner, depth + 1)


def _parse_if_json(value: Any) -> Any:
    """A text that is written as JSON, as MLflow writes all attributes."""
    if isinstance(value, str) and value[:1] == '"':
        decoded = decode_json(value)
        return decoded if isinstance(decoded, str) else value
    return value


def _nanoseconds(time: Any) -> Any:
    """A time in nanoseconds, as far as it can be told; the unit of a number by its size."""
    if isinstance(time, str):
        if time.isdecimal():
            return _nanoseconds(int(time))
        if match := _FRACTION.search(time):
            time = time[: match.start(1)] + match[1].ljust(6, "0")[:6] + time[match.end(1) :]
        moment = parse_time(time)
        return time if moment is None else nanos(moment, "ns")
    if not isinstance(time, int | float) or isinstance(time, bool) or time <= 0:
        return time
    factor = next((factor for limit, factor in _UNITS if time < limit), 1)
    return int(time * factor) if isinstance(time, int) or time < 10**18 else time
