"""Joins spans that are events of one call of a tool: its start, updates, and finish."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from goodgain.pipeline.convert.importing.spans import MILLISECONDS, Span
from goodgain.pipeline.convert.importing.tool_answers import ToolAnswer

_EVENT = re.compile(
    r"(?P<tool>.+)[.:/](?P<event>start|update|partial_?update|success|finish|end|error)(?:-\d+)?$",
    re.IGNORECASE,
)
_FIRST = "start"


def join_events(spans: Sequence[Span]) -> list[Span]:
    """The spans of a trace, in which the events of a call are one span, with the tool's name.

    A tool has events if one of its calls started, and another event followed. They belong to the
    call that the tool's own span above them is, or else to the last one of the tool under their
    parent that started.
    """
    named = {_parts(span) for span in spans if span.answer is not None}
    tools = {tool for tool, event in named if event not in (None, _FIRST)}
    tools = {tool for tool in tools if (tool, _FIRST) in named}
    if not tools:
        return list(spans)  # the common case
    by_id = {span.span_id: span for span in spans}
    calls: dict[tuple[str | None, str], list[list[Span]]] = {}
    for span in sorted(by_id.values(), key=lambda span: span.order):
        tool, event = _parts(span)
        if span.answer is not None and tool in tools:
            several = calls.setdefault((_caller(span, tool, by_id), tool), [])
            begins = event == _FIRST and not (several and _is_open(several[-1]))
            if not several or begins or event is None:
                several.append([])
            several[-1].append(span)
    kept: dict[str, str] = {}
    joined = []
    for (_, tool), several in calls.items():
        for events in several:
            joined.append(_call(tool, events))
            kept |= {event.span_id: events[0].span_id for event in events}
    others = [span for span in spans if span.answer is None or _parts(span)[0] not in tools]
    return [
        replace(span, parent_id=kept.get(span.parent_id or "", span.parent_id))
        for span in (*joined, *others)
    ]


def tool_of(name: str) -> str:
    """The tool whose call, or an event of whose call, has this name."""
    match = _EVENT.match(name)
    return match["tool"] if match else name


def _parts(span: Span) -> tuple[str, str | None]:
    """The name of a span's tool, and the event; None for a span of the whole call."""
    match = _EVENT.match(span.tool or "")
    return tool_of(span.tool or ""), match["event"].lower() if match else None


def _caller(span: Span, tool: str, by_id: dict[str, Span]) -> str | None:
    """The id of the span above a call, beyond spans of the same call."""
    parent, seen = span.parent_id, {span.span_id}
    while parent in by_id and parent not in seen:
        above = by_id[parent]
        if above.answer is None or _parts(above)[0] != tool:
            break
        seen.add(parent)
        parent = above.parent_id
    return parent


def _is_open(events: Sequence[Span]) -> bool:
    """Whether only the span of the whole call has been seen."""
    return len(events) == 1 and _parts(events[0])[1] is None


def _call(tool: str, events: Sequence[Span]) -> Span:
    first = events[0]
    ends = [event.start + event.costs.get(MILLISECONDS, 0.0) * 1e6 for event in events]
    answers = [event.answer for event in events if event.answer is not None]
    answer = replace(
        max(answers, key=_informativeness),
        has_query=any(answer.has_query for answer in answers),
        has_address=any(answer.has_address for answer in answers),
        has_url=any(answer.has_url for answer in answers),
    )
    return replace(
        first,
        tool=tool,
        query=next((event.query for event in events if event.query is not None), None),
        costs=first.costs | {MILLISECONDS: (max(ends) - first.start) / 1e6},
        answer=answer,
        results=answer.results(),
        error=answer.error,
    )


def _informativeness(answer: ToolAnswer) -> int:
    """How much an event says about what the call answered."""
    says: Iterable[bool] = (
        answer.found == [],
        bool(answer.otherwise),
        bool(answer.listed),
        answer.error is not None,
        bool(answer.found),
    )
    return max((rank for rank, is_said in enumerate(says, 1) if is_said), default=0)
