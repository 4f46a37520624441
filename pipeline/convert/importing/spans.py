"""Reads spans from the records of a trace, with the paths that a mapping names."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.mapping_file import MappingFile
from goodgain.pipeline.convert.importing.values import millis, nanos, text

SEARCH, TOOL, RERANK, MODEL, OTHER = "search", "tool", "rerank", "model", ""
MILLISECONDS = "milliseconds"
_NANOS_PER_MILLI = 1_000_000


class Span(Struct, frozen=True, array_like=True):
    """The needed fields of a span.

    Attributes:
      span_id: "" for a record about the whole trace.
      start: start time in nanoseconds since 1970, by which spans are ordered.
      kind: SEARCH, TOOL (a search if its tool searches), RERANK, MODEL or OTHER.
      conversation: the session, if it names one.
      time: event time of the search call, in milliseconds since 1970.
      results: None if the span does not record any.
    """

    trace_id: str
    span_id: str
    parent_id: str | None
    start: int
    kind: str
    conversation: str | None
    tool: str | None
    query: str | None
    time: int | None
    attributes: dict[str, str]
    costs: dict[str, float]
    results: list[dict[str, Any]] | None

    @property
    def order(self) -> tuple[int, str]:
        """The sort key of spans in a trace."""
        return self.start, self.span_id


def span_of(record: Any, mapping: MappingFile, position: str, counts: ImportCounts) -> Span | None:
    """The span of a record; None, and counted, if the record is not a span."""
    trace_id = text(mapping.part("trace", record))
    if trace_id is None:
        counts.skip("a record without a trace id", position)
        return None
    span_id = text(mapping.part("span", record)) or ""
    start = nanos(mapping.part("start", record), mapping.time_unit)
    if span_id and start is None:
        counts.skip("a span without a readable start time", position)
        return None
    kind = _kind(record, mapping) if span_id else OTHER
    costs = mapping.costs_of(record)
    end = nanos(mapping.part("end", record), mapping.time_unit)
    if start is not None and end is not None and end >= start:
        costs.setdefault(MILLISECONDS, (end - start) / _NANOS_PER_MILLI)
    searches = kind in (SEARCH, TOOL, RERANK)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=text(mapping.part("parent", record)),
        start=start or 0,
        kind=kind,
        conversation=text(mapping.part("conversation", record)),
        tool=text(mapping.part("tool", record)) if searches else None,
        query=text(mapping.part("query", record)) if searches else None,
        time=millis(nanos(mapping.part("time", record), mapping.time_unit)),
        attributes=mapping.attributes_of(record),
        costs=costs if kind != OTHER else {},
        results=mapping.results_of(record) if searches else None,
    )


def _kind(record: Any, mapping: MappingFile) -> str:
    for name, kind in (
        ("search", SEARCH),
        ("rerank", RERANK),
        ("model", MODEL),
        ("tool_call", TOOL),
    ):
        if mapping.holds(name, record):
            return kind
    return OTHER
