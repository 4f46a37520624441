"""The formats that can be imported, and how the records of each are brought into one flat form."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

import ijson
from ijson.common import ObjectBuilder
from msgspec import Struct

from goodgain.pipeline.convert.importing.reading import DocumentReader
from goodgain.transforms.core.errors import UsageError

_HEX = re.compile(r"[0-9a-fA-F]+")
_NO_ID = re.compile(r"0*")
_OTLP_SPAN = "resourceSpans.item.scopeSpans.item.spans.item"
_OTLP_RESOURCE = "resourceSpans.item.resource"
# Places in a document that must be objects, and how anything else there is counted.
_NO_SPAN, _NO_SPANS = "a span that is not an object", "a group of spans that is not an object"
_OTLP_OBJECTS = {
    "resourceSpans.item": _NO_SPANS,
    "resourceSpans.item.scopeSpans.item": _NO_SPANS,
    _OTLP_SPAN: _NO_SPAN,
}
_NOT_OBJECTS = frozenset(
    ("null", "boolean", "integer", "double", "number", "string", "start_array")
)
Decoder = Callable[[Any], Iterator[Any]]


class RefusedRecordError(Exception):
    """A record that no mapping can use; the message says why."""


class Refused(Struct, frozen=True):
    """An unusable part of a record that also has usable parts.

    Attributes:
      reason: why, like the message of `RefusedRecordError`.
    """

    reason: str


class Format(Struct, frozen=True):
    """A format of traces.

    Attributes:
      help: the format in a few words.
      decoder: makes the function from a raw record to the records for the mapping; called for each
        import.
      read_document: reads a JSON document that is an object, for deeply nested formats.
      rows: whether files may be CSV.
    """

    help: str
    decoder: Callable[[], Decoder]
    read_document: DocumentReader | None = None
    rows: bool = False


def _as_it_is() -> Decoder:
    return _itself


def _itself(record: Any) -> Iterator[Any]:
    yield record


def _otlp() -> Decoder:
    return otlp_spans


def otlp_spans(record: Any) -> Iterator[dict[str, Any] | Refused]:
    """The spans of an export request, or of a record that is one span.

    Attributes become plain values, ids hexadecimal (protobuf's own JSON has base64), times whole
    numbers.
    """
    if isinstance(record, Refused):
        yield record
        return
    if not isinstance(record, dict):
        raise RefusedRecordError("JSON that holds no resourceSpans")
    if "_resource" in record:
        yield _otlp_span(record, _plain_attributes(record["_resource"]))
        return
    if not isinstance(record.get("resourceSpans"), list):
        raise RefusedRecordError("JSON that holds no resourceSpans")
    for group in _parts(record["resourceSpans"], _NO_SPANS):
        if isinstance(group, Refused):
            yield group
            continue
        resource = _plain_attributes(group.get("resource"))
        for scope in _parts(group.get("scopeSpans"), _NO_SPANS):
            if isinstance(scope, Refused):
                yield scope
                continue
            for span in _parts(scope.get("spans"), _NO_SPAN):
                yield span if isinstance(span, Refused) else _otlp_span(span, resource)


def _otlp_document(file: BinaryIO) -> Iterator[Any]:
    """Each span of one large export request, with the resource that preceded it."""
    resource: Any = None
    builder: ObjectBuilder | None = None
    building = ""
    for prefix, event, value in ijson.parse(file, use_float=True, multiple_values=True):
        if builder is None and event == "start_map" and prefix in (_OTLP_SPAN, _OTLP_RESOURCE):
            builder, building = ObjectBuilder(), prefix
        if builder is None and event in _NOT_OBJECTS and prefix in _OTLP_OBJECTS:
            yield Refused(_OTLP_OBJECTS[prefix])
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
        "attributes": _plain_attributes(span),
        "resource": resource,
    }


def _hex_id(written: Any, digits: int) -> str | None:
    if not isinstance(written, str) or not written:
        return None
    if len(written) != digits or not _HEX.fullmatch(written):
        try:
            written = base64.b64decode(written, validate=True).hex()
        except (binascii.Error, ValueError):
            return str(written)
    found = str(written).lower()
    return None if _NO_ID.fullmatch(found) else found


def _plain_attributes(holder: Any) -> dict[str, Any]:
    pairs = holder.get("attributes") if isinstance(holder, dict) else None
    return {pair["key"]: _plain(pair.get("value")) for pair in _dicts(pairs) if "key" in pair}


def _plain(value: Any) -> Any:
    """The value of an OTLP AnyValue, in which whole numbers are text."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    ((kind, held),) = value.items()
    if kind == "intValue":
        try:
            return int(held)
        except (TypeError, ValueError):
            return None
    if kind == "arrayValue":
        return [_plain(one) for one in _dicts((held or {}).get("values"))]
    if kind == "kvlistValue":
        return _plain_attributes({"attributes": (held or {}).get("values")})
    return held


def _mlflow() -> Decoder:
    return mlflow_spans


def mlflow_spans(record: Any) -> Iterator[dict[str, Any] | Refused]:
    """The spans of a trace, each with the trace's `info` under `trace`."""
    data = record.get("data") if isinstance(record, dict) else None
    spans = (data if isinstance(data, dict) else record or {}).get("spans")
    if not isinstance(spans, list):
        raise RefusedRecordError("JSON that holds no data.spans")
    info = record.get("info") or {}
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    tags = info.get("tags") or {}
    if isinstance(tags, list):
        tags = {tag["key"]: tag.get("value") for tag in _dicts(tags) if "key" in tag}
    trace_id = info.get("trace_id") or info.get("request_id")
    trace = {"id": trace_id, "metadata": metadata, "tags": tags}
    for span in _parts(spans, _NO_SPAN):
        if isinstance(span, Refused):
            yield span
            continue
        context = span.get("context") or {}
        yield {
            **span,
            "trace_id": trace_id or span.get("trace_id") or context.get("trace_id"),
            "span_id": span.get("span_id") or context.get("span_id"),
            "parent_id": span.get("parent_span_id") or span.get("parent_id") or None,
            "start": span.get("start_time_unix_nano") or span.get("start_time"),
            "end": span.get("end_time_unix_nano") or span.get("end_time"),
            "trace": trace,
        }


def _langfuse() -> Decoder:
    return langfuse_observations


def langfuse_observations(record: Any) -> Iterator[dict[str, Any] | Refused]:
    """Observations and traces in snake case, from exported rows or a trace's JSON in the UI."""
    if not isinstance(record, dict):
        raise RefusedRecordError("JSON that is not an object")
    if isinstance(record.get("observations"), list):
        inner = record.get("trace")
        trace = inner if isinstance(inner, dict) else record
        yield _snake(trace)
        for observation in _parts(record["observations"], "an observation that is not an object"):
            if isinstance(observation, Refused):
                yield observation
            else:
                yield {"trace_id": trace.get("id"), **_snake(observation)}
    else:
        yield _snake(record)


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): v for name, v in record.items()}


def _langsmith() -> Decoder:
    return langsmith_runs


def langsmith_runs(record: Any) -> Iterator[dict[str, Any] | Refused]:
    """A run and the runs within it."""
    if not isinstance(record, dict):
        raise RefusedRecordError("JSON that is not an object")
    yield {name: value for name, value in record.items() if name != "child_runs"}
    for child in _parts(record.get("child_runs"), "a run that is not an object"):
        if isinstance(child, Refused):
            yield child
        else:
            yield from langsmith_runs(child)


def _browsecomp_plus() -> Decoder:
    queries: set[str] = set()

    def steps(record: Any) -> Iterator[dict[str, Any] | Refused]:
        if not isinstance(record, dict) or not record.get("query_id"):
            raise RefusedRecordError("JSON without a query_id")
        result = record.get("result")
        if not isinstance(result, list):
            if "retrieved_docids" in record:
                raise RefusedRecordError(
                    "a run with only retrieved_docids: a set, which has neither ranks nor "
                    "iterations; the run's file with its result[] is needed"
                )
            raise RefusedRecordError("a run without result[]")
        query_id = str(record["query_id"])
        if query_id in queries:
            raise UsageError(
                f"Query {query_id} occurs in two of these runs; convert each run's files "
                "separately."
            )
        queries.add(query_id)
        run = {name: value for name, value in record.items() if name != "result"}
        yield {"query_id": query_id, "position": 0, "type": "run", "run": run}
        position = 0
        for step in _parts(result, "a step that is not an object"):
            if isinstance(step, Refused):
                yield step
                continue
            position += 1
            yield {**step, "query_id": query_id, "position": position, "parent": 0, "run": run}

    return steps


def _parts(values: Any, otherwise: str) -> Iterator[dict[str, Any] | Refused]:
    """The objects in a list; anything else in it becomes a `Refused` with a reason."""
    if isinstance(values, list):
        yield from (value if isinstance(value, dict) else Refused(otherwise) for value in values)


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


FORMATS: Mapping[str, Format] = {
    "otlp": Format("OpenTelemetry spans in OTLP's JSON", _otlp, _otlp_document),
    "langfuse": Format("Langfuse exports", _langfuse, rows=True),
    "langsmith": Format("LangSmith runs", _langsmith, rows=True),
    "mlflow": Format("MLflow traces", _mlflow),
    "browsecomp-plus": Format("runs of BrowseComp-Plus agents", _browsecomp_plus),
    "table": Format("tables with one row per result", _as_it_is, rows=True),
    "custom": Format("anything, by a mapping of your own", _as_it_is, rows=True),
}
