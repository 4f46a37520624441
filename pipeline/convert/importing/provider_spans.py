"""Calls that providers ran within steps of their models, as spans of calls of tools."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from goodgain.pipeline.convert.importing.spans import (
    MILLISECONDS,
    MODEL,
    TOOL,
    ProviderCall,
    Span,
    SpanTree,
)
from goodgain.transforms.core.records.search_call import SEARCH

_SPACES = re.compile(r"\s+")


def with_provider_calls(spans: Sequence[Span]) -> list[Span]:
    """The spans of a trace, and one for each call in the outputs of its models.

    Of nested models the innermost that have calls count; others repeat what these answered. A call
    whose id was seen before, in an output that repeats an earlier one, counts once. One that a
    tool's own span records, up to the next step of a model, is that span's.
    """
    if not any(span.provider_calls for span in spans):
        return list(spans)  # the common case
    tree = SpanTree([span for span in spans if span.span_id])
    recorded = _Recorded(tree)
    seen: set[tuple[str, str]] = set()
    added = []
    for step in tree.innermost([span for span in tree.spans if span.provider_calls]):
        for number, call in enumerate(step.provider_calls):
            known = (call.tool, call.id or f"{step.span_id} {number}")
            if known not in seen and not recorded.takes(call, step):
                added.append(_span(call, step, number))
            seen.add(known)
    return [*spans, *added]


def _span(call: ProviderCall, step: Span, number: int) -> Span:
    """The call as a span within the step; it takes no time and costs nothing besides the step."""
    return replace(
        step,
        span_id=f"{step.span_id}/call-{number + 1}",
        parent_id=step.span_id,
        start=step.start + 1 + number,
        kind=TOOL,
        conversation=None,
        tool=call.tool,
        query=call.query,
        attributes={},
        costs={MILLISECONDS: 0.0},
        error=call.answer.error,
        answer=call.answer,
        outcomes={},
        cited=[],
        provider_calls=[],
    )


class _Recorded:
    """The calls that have spans of their own, each of which stands for one of a provider's."""

    def __init__(self, tree: SpanTree) -> None:
        self._tree = tree
        self._starts = [span.start for span in tree.spans if span.kind == MODEL]
        self._calls = [span for span in tree.spans if span.kind in (TOOL, SEARCH)]
        self._taken: set[str] = set()

    def takes(self, call: ProviderCall, step: Span) -> bool:
        """Whether a span records the call, which then stands for no other one."""
        found = next((span for span in self._spans_near(step) if _is_same(span, call)), None)
        if found is not None:
            self._taken.add(found.span_id)
        return found is not None

    def _spans_near(self, step: Span) -> Iterator[Span]:
        """Spans of calls in the same turn, from a step to the next one."""
        at = bisect_right(self._starts, step.start)
        end = self._starts[at] if at < len(self._starts) else None
        root = self._tree.root(step)
        for span in self._calls:
            is_near = span.start >= step.start and (end is None or span.start < end)
            if is_near and span.span_id not in self._taken and self._tree.root(span) is root:
                yield span


def _is_same(span: Span, call: ProviderCall) -> bool:
    """Whether both have the same query; without queries, the same tool."""
    if span.query is None or call.query is None:
        return span.query == call.query and span.tool == call.tool
    return _normalize(span.query) == _normalize(call.query)


def _normalize(query: str) -> str:
    return _SPACES.sub(" ", query).strip().casefold()
