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

from goodgain.pipeline.convert.importing.raw_records import DocumentReader
from goodgain.transforms.core.errors import UsageError

_HEX = re.compile(r"[0-9a-fA-F]+")
_NO_ID = re.compile(r"0*")
_OTLP_SPAN = "resourceSpans.item.scopeSpans.item.spans.item"
_OTLP_RESOURCE = "resourceSpans.item.resource"
_NO_SPAN, _NO_SPANS = "a span that is not an object", "a group of spans that is not an object"
# Paths in a document at which only objects can be used, and the reason to refuse anything else.
_OTLP_OBJECTS = {
    "resourceSpans.item": _NO_SPANS,
    "resourceSpans.item.scopeSpans.item": _NO_SPANS,
    _OTLP_SPAN: _NO_SPAN,
}
_NOT_OBJECTS = frozenset(
    ("null", "boolean", "integer", "double", "number", "string", "start_array")
)
Refuse = Callable[[str], None]  # counts a record, or a part of one, that is refused for a reason
Decoder = Callable[[Any, Refuse], Iterator[Any]]


class _Refused(Struct, frozen=True):
    """An unusable part of a document."""

    reason: str


class Format(Struct, frozen=True):
    """A format of traces.

    Attributes:
      decoder: makes the function from a raw record to the records for the mapping, once for each
        import.
      read_document: reads a JSON document that is an object, for deeply nested formats.
      rows: whether files may be CSV.
    """

    help: str
    decoder: Callable[[], Decoder]
    read_document: DocumentReader | None = None
    rows: bool = False


def _unchanged(record: Any, _: Refuse) -> Iterator[Any]:
    yield record


def _otlp_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
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
        for group in _objects(record["resourceSpans"], refuse, _NO_SPANS):
            resource = _plain_attributes(group.get("resource"))
            for scope in _objects(group.get("scopeSpans"), refuse, _NO_SPANS):
                for span in _objects(scope.get("spans"), refuse, _NO_SPAN):
                    yield _otlp_span(span, resource)


def _otlp_document(file: BinaryIO) -> Iterator[Any]:
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
        "attributes": _plain_attributes(span),
        "resource": resource,
    }


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
    return {key: _plain(value) for key, value in _pairs(_object(holder).get("attributes"))}


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
        return [_plain(one) for one in _dicts(_object(content).get("values"))]
    if kind == "kvlistValue":
        return _plain_attributes({"attributes": _object(content).get("values")})
    return content


def _mlflow_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The spans of a trace, each with the trace's `info` under `trace`."""
    data = _object(record).get("data")
    spans = (data if isinstance(data, dict) else _object(record)).get("spans")
    if not isinstance(spans, list):
        refuse("JSON that holds no data.spans")
        return
    info = _object(record.get("info"))
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    tags = info.get("tags") or {}
    if isinstance(tags, list):
        tags = dict(_pairs(tags))
    trace_id = info.get("trace_id") or info.get("request_id")
    trace = {"id": trace_id, "metadata": metadata, "tags": tags}
    for span in _objects(spans, refuse, _NO_SPAN):
        context = _object(span.get("context"))
        yield {
            **span,
            "trace_id": trace_id or span.get("trace_id") or context.get("trace_id"),
            "span_id": span.get("span_id") or context.get("span_id"),
            "parent_id": span.get("parent_span_id") or span.get("parent_id") or None,
            "start": span.get("start_time_unix_nano") or span.get("start_time"),
            "end": span.get("end_time_unix_nano") or span.get("end_time"),
            "trace": trace,
        }


def _langfuse_observations(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """Observations and traces in snake case, from exported rows or a trace's JSON in the UI."""
    if not isinstance(record, dict):
        refuse("JSON that is not an object")
    elif isinstance(record.get("observations"), list):
        inner = record.get("trace")
        trace = inner if isinstance(inner, dict) else record
        yield _snake(trace)
        otherwise = "an observation that is not an object"
        for observation in _objects(record["observations"], refuse, otherwise):
            yield {"trace_id": trace.get("id"), **_snake(observation)}
    else:
        yield _snake(record)


def _snake(record: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower(): v for name, v in record.items()}


def _langsmith_runs(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """A run and the runs within it."""
    if not isinstance(record, dict):
        refuse("JSON that is not an object")
        return
    yield {name: value for name, value in record.items() if name != "child_runs"}
    for child in _objects(record.get("child_runs"), refuse, "a run that is not an object"):
        yield from _langsmith_runs(child, refuse)


def _browsecomp_plus() -> Decoder:
    queries: set[str] = set()

    def decode(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
        if not isinstance(record, dict) or not record.get("query_id"):
            refuse("JSON without a query_id")
            return
        result = record.get("result")
        if not isinstance(result, list):
            refuse(
                "a run with only retrieved_docids: a set, which has neither ranks nor iterations; "
                "the run's file with its result[] is needed"
                if "retrieved_docids" in record
                else "a run without result[]"
            )
            return
        query_id = str(record["query_id"])
        if query_id in queries:
            raise UsageError(
                f"Query {query_id} occurs in two of these runs; convert each run's files "
                "separately."
            )
        queries.add(query_id)
        run = {name: value for name, value in record.items() if name != "result"}
        yield {"query_id": query_id, "position": 0, "type": "run", "run": run}
        for position, step in enumerate(
            _objects(result, refuse, "a step that is not an object"), 1
        ):
            yield {**step, "query_id": query_id, "position": position, "parent": 0, "run": run}

    return decode


def _objects(values: Any, refuse: Refuse, otherwise: str) -> Iterator[dict[str, Any]]:
    """The objects in a list; anything else in it is refused, with the reason `otherwise`."""
    for value in values if isinstance(values, list) else ():
        if isinstance(value, dict):
            yield value
        else:
            refuse(otherwise)


def _dicts(values: Any) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _pairs(values: Any) -> Iterator[tuple[str, Any]]:
    """The keys and values in a list of objects like `{"key": "x", "value": 1}`."""
    for pair in _dicts(values):
        if isinstance(pair.get("key"), str):
            yield pair["key"], pair.get("value")


def _object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


FORMATS: Mapping[str, Format] = {
    "otlp": Format("OpenTelemetry spans in OTLP's JSON", lambda: _otlp_spans, _otlp_document),
    "langfuse": Format("Langfuse exports", lambda: _langfuse_observations, rows=True),
    "langsmith": Format("LangSmith runs", lambda: _langsmith_runs, rows=True),
    "mlflow": Format("MLflow traces", lambda: _mlflow_spans),
    "browsecomp-plus": Format("runs of BrowseComp-Plus agents", _browsecomp_plus),
    "table": Format("tables with one row per result", lambda: _unchanged, rows=True),
    "custom": Format("anything, by a mapping of your own", lambda: _unchanged, rows=True),
}
