"""The spans of a trace, read by a mapping, and their tree, even if some are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.convert.importing.answers.answer import read_answer
from goodgain.pipeline.convert.importing.answers.arguments import query_of, read_arguments
from goodgain.pipeline.convert.importing.answers.provider_calls import find_provider_calls
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.mapping_file import MappingFile
from goodgain.pipeline.convert.importing.tool_answers import ToolAnswer, tool_answer
from goodgain.pipeline.convert.importing.tools import Tools, is_named_as_search
from goodgain.pipeline.convert.importing.values.scalars import is_in_range, millis, nanos, text
from goodgain.transforms.core.records.search_call import CITE, OPEN, SEARCH

TOOL, RERANK, MODEL, OTHER = "tool", "rerank", "model", ""
FUNCTION = "function"  # of no kind that the mapping knows, but named as a search
MILLISECONDS = "milliseconds"
# The conditions of a mapping, in the order in which they apply.
_KINDS = (
    ("search", SEARCH),
    ("rerank", RERANK),
    ("model", MODEL),
    ("tool_call", TOOL),
    ("cite", CITE),
)
# With words for the thing that has the time.
OUT_OF_RANGE = "{} is out of range (nanoseconds? see time_unit)"
_NANOS_PER_MILLI = 1_000_000
_encode = msgspec.msgpack.Encoder().encode


class ProviderCall(Struct, frozen=True, array_like=True):
    """A call that a model's provider ran within a step of the model.

    Attributes:
      id: the provider's, if it has one.
    """

    id: str | None
    tool: str
    query: str | None
    answer: ToolAnswer


class Span(Struct, frozen=True, array_like=True):
    """The needed fields of a span.

    Attributes:
      span_id: "" for a record about the whole trace.
      start: start time in nanoseconds since 1970, by which spans are ordered.
      kind: SEARCH, OPEN, CITE, TOOL and FUNCTION (until they are classified), RERANK, MODEL, OTHER.
      conversation: the session, if it names one.
      time: event time of the search call, in milliseconds since 1970.
      results: None if the span does not record any, or is the call of a tool.
      error: what it says about its failure.
      answer: what a tool answered, until the tool is classified.
      outcomes: what became of the turn, or of the whole trace.
      cited: the documents that the answer of a model's step cites.
      provider_calls: the calls that the provider of a model ran in its step.
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
    error: str | None = None
    answer: ToolAnswer | None = None
    outcomes: dict[str, float] = {}
    cited: list[dict[str, Any]] = []
    provider_calls: list[ProviderCall] = []

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
    if start is not None and not is_in_range(start):
        counts.skip(OUT_OF_RANGE.format("a span whose start time"), position)
        return None
    kinds = (kind for name, kind in _KINDS if mapping.holds(name, record))
    kind = next(kinds, OTHER) if span_id else OTHER
    tool = text(mapping.part("tool", record))
    if kind == OTHER and span_id and is_named_as_search(tool or ""):
        kind = FUNCTION
    searches = kind in (SEARCH, TOOL, FUNCTION, RERANK, CITE)
    answer = mapping.answer_of(record) if searches else None
    if kind == FUNCTION and (answer is None or not answer.is_of_a_search):
        kind, searches, answer = OTHER, False, None
    is_tool = kind in (TOOL, FUNCTION)
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=text(mapping.part("parent", record)),
        start=start or 0,
        kind=kind,
        conversation=text(mapping.part("conversation", record)),
        tool=tool if searches else None,
        query=mapping.query_of(record) if searches else None,
        time=millis(nanos(mapping.part("time", record), mapping.time_unit)),
        attributes=mapping.attributes_of(record),
        costs={} if kind == OTHER else _costs_of(record, mapping, start),
        results=None if answer is None or is_tool else answer.results(),
        error=None if answer is None else answer.error,
        answer=answer if is_tool else None,
        outcomes=mapping.outcomes_of(record),
        cited=mapping.find_cited(record) if kind == MODEL else [],
        provider_calls=_provider_calls(record, mapping) if kind == MODEL else [],
    )


def _costs_of(record: Any, mapping: MappingFile, start: int | None) -> dict[str, float]:
    """What a span cost, and how long it took."""
    costs = mapping.costs_of(record)
    end = nanos(mapping.part("end", record), mapping.time_unit)
    if start is not None and end is not None and end >= start:
        costs.setdefault(MILLISECONDS, (end - start) / _NANOS_PER_MILLI)
    return costs


def _provider_calls(record: Any, mapping: MappingFile) -> list[ProviderCall]:
    """The calls in the output of a model."""
    calls = []
    for call, returned in find_provider_calls(mapping.part("answer", record)):
        arguments = read_arguments(call.arguments)
        answer = read_answer(None if returned is None else returned.answer)
        error = None if returned is None else text(returned.error)
        read = tool_answer(answer, arguments, error, mapping.result_of)
        calls.append(ProviderCall(text(call.id), call.name, query_of(arguments), read))
    return calls


def classify(span: Span, tools: Tools) -> Span:
    """The span of a tool's call as a search, an opening, or neither, by its tool."""
    if span.answer is None:
        return span
    tool = span.tool or ""
    action = tools.verdict(tool).action
    if span.kind == FUNCTION and not tools.finds(tool):
        return replace(span, kind=OTHER, results=None, answer=None)
    if action == SEARCH:
        results = span.answer.results(tools.is_named(tool))
        return replace(span, kind=SEARCH, results=results, answer=None)
    if action == OPEN:
        return replace(span, kind=OPEN, results=span.answer.opened_documents(), answer=None)
    return replace(span, kind=OTHER, results=None, answer=None)


class SpanTree:
    """The spans of a trace.

    A span whose parent is missing is put under the first root or, without a root, under the first
    such span.

    Attributes:
      spans: each once, by start.
      repeated: number of extra copies.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        """Order and link spans; of several with one id, the last by start and content is kept."""
        by_id: dict[str, Span] = {}
        self.repeated = 0
        for span in spans:
            earlier = by_id.setdefault(span.span_id, span)
            if earlier is not span:
                self.repeated += 1
                by_id[span.span_id] = max(
                    earlier, span, key=lambda copy: (copy.start, _encode(copy))
                )
        self.spans: Sequence[Span] = sorted(by_id.values(), key=lambda span: span.order)
        self._by_id = by_id
        without_parent = [span for span in self.spans if span.parent_id not in by_id]
        roots = [span for span in without_parent if span.parent_id is None]
        self.parent_missing = len(without_parent) - len(roots)
        self._fallback_root = (roots or without_parent or self.spans)[0]
        self._roots = {span.span_id for span in roots}
        self._ancestors: dict[str, tuple[Span, ...]] = {}

    def ancestors(self, span: Span) -> tuple[Span, ...]:
        """The ancestors of a span, its parent first; a cycle ends before it repeats a span."""
        known = self._ancestors.get(span.span_id)
        if known is None:
            ancestors: list[Span] = []
            seen = {span.span_id}
            parent = span.parent_id
            while parent is not None and parent in self._by_id and parent not in seen:
                seen.add(parent)
                ancestors.append(self._by_id[parent])
                parent = ancestors[-1].parent_id
            known = self._ancestors[span.span_id] = tuple(ancestors)
        return known

    def innermost(self, spans: Sequence[Span]) -> list[Span]:
        """Those of some spans that are around none of the others."""
        outer = {above.span_id for span in spans for above in self.ancestors(span)}
        return [span for span in spans if span.span_id not in outer]

    def root(self, span: Span) -> Span:
        """The root above a span, or the fallback for spans whose parent is missing."""
        top = (span, *self.ancestors(span))[-1]
        return top if top.span_id in self._roots else self._fallback_root
