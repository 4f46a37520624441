"""MLflow's traces, as `trace.to_json()` gives them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goodgain.pipeline.convert.importing.formats.flat_spans import error_of
from goodgain.pipeline.convert.importing.formats.format import (
    NO_SPAN,
    Refuse,
    object_of,
    objects,
    pairs,
)


def mlflow_spans(record: Any, refuse: Refuse) -> Iterator[dict[str, Any]]:
    """The spans of a trace, each with the trace's `info` under `trace`."""
    data = object_of(record).get("data")
    spans = (data if isinstance(data, dict) else object_of(record)).get("spans")
    if not isinstance(spans, list):
        refuse("JSON that holds no data.spans")
        return
    info = object_of(record.get("info"))
    metadata = info.get("trace_metadata") or info.get("request_metadata") or {}
    tags = info.get("tags") or {}
    if isinstance(tags, list):
        tags = dict(pairs(tags))
    trace_id = info.get("trace_id") or info.get("request_id")
    trace = {"id": trace_id, "metadata": metadata, "tags": tags}
    for span in objects(spans, refuse, NO_SPAN):
        context = object_of(span.get("context"))
        status = span.get("status") or span.get("status_code")  # of MLflow 3, and of 2
        yield {
            **span,
            "trace_id": trace_id or span.get("trace_id") or context.get("trace_id"),
            "span_id": span.get("span_id") or context.get("span_id"),
            "parent_id": span.get("parent_span_id") or span.get("parent_id") or None,
            "start": span.get("start_time_unix_nano") or span.get("start_time"),
            "end": span.get("end_time_unix_nano") or span.get("end_time"),
            "error": error_of(status, span.get("status_message"), span.get("events")),
            "trace": trace,
        }
