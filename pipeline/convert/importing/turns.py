"""The turns of a trace: its search calls, each counted once, with their iterations and costs."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.searches import (
    Search,
    citations_of,
    model_costs_of,
    searches_of,
    usages_of,
)
from goodgain.pipeline.convert.importing.spans import (
    MILLISECONDS,
    MODEL,
    Span,
    SpanTree,
)
from goodgain.transforms.core.records.search_call import OPEN, SEARCH, USAGES


class TurnOfTrace(Struct, frozen=True, array_like=True):
    """The search calls under one root span for one conversation.

    Attributes:
      conversation: the session, else the id of the trace.
      session: None if the trace names none.
      start: start of the root, by which the turns of a conversation are ordered.
      calls: searches and openings, ordered by start, each with its iteration, attributes and costs.
      outcomes: what became of the turn.
    """

    conversation: str
    session: str | None
    start: int
    trace_id: str
    root_id: str
    calls: list[tuple[int, Span]]
    outcomes: dict[str, float]

    @property
    def order(self) -> tuple[int, str, str]:
        """The sort key of turns in a conversation."""
        return self.start, self.trace_id, self.root_id


def turns_of_trace(
    spans: Sequence[Span], counts: ImportCounts, keep_apart: bool = False
) -> list[TurnOfTrace]:
    """The turns of a trace.

    A turn is a root span with its descendants. Its conversation is the session named by the
    search's topmost ancestor that names one, so that sub-agents belong to the agent that calls
    them; else by another span of the turn, else by another span of the trace.
    With `keep_apart`, the nearest ancestor decides.

    A call's iteration is the ordinal of the model step that precedes it; each search before the
    first step has an ordinal of its own. The costs of steps belong to the searches after them.
    """
    of_trace = sorted((span for span in spans if not span.span_id), key=lambda span: span.order)
    with_id = [span for span in spans if span.span_id]
    if not with_id:
        return []
    tree = SpanTree(with_id)
    counts.repeated += tree.repeated
    counts.parent_missing += tree.parent_missing
    searches, counted_once = searches_of(tree)
    cites = citations_of(tree)
    usages = [Search(span, span.costs, {}) for span in (*usages_of(tree), *cites)]
    counts.counted_once += counted_once
    sessions = _Sessions(tree, of_trace, keep_apart)
    counts.joined += sessions.joined
    common = {name: text for span in of_trace for name, text in span.attributes.items()}
    groups: dict[tuple[str, str | None], tuple[list[Search], list[Span]]] = {}
    for root in {tree.root(span).span_id: tree.root(span) for span in tree.spans}.values():
        for session in sessions.of_root(root):
            groups[root.span_id, session] = ([], [])
    for search in (*searches, *usages):
        root = tree.root(search.span)
        groups.setdefault((root.span_id, sessions.of(search.span)), ([], []))[0].append(search)
    for step in _model_steps(tree):
        root = tree.root(step)
        groups.setdefault((root.span_id, sessions.of(step)), ([], []))[1].append(step)
    searching = {group for group, (found, _) in groups.items() if found}
    counts.split += len(searching) > len({root for root, _ in searching})
    roots = {span.span_id: span for span in tree.spans}
    of_whole = {name: value for span in of_trace for name, value in span.outcomes.items()}
    outcomes = {root: dict(of_whole) for root in roots}
    for span in tree.spans:
        outcomes[tree.root(span).span_id] |= span.outcomes
    return [
        TurnOfTrace(
            conversation=session or tree.spans[0].trace_id,
            session=session,
            start=roots[root].start,
            trace_id=tree.spans[0].trace_id,
            root_id=root,
            calls=_calls(searches_of_turn, steps, tree, common),
            outcomes=outcomes[root],
        )
        for (root, session), (searches_of_turn, steps) in groups.items()
    ]


def _model_steps(tree: SpanTree) -> list[Span]:
    """The spans in which a model decides what to do next, by start.

    A step within another is part of it; one within a search or an opening belongs to that.
    """
    costs_of_models = model_costs_of(tree)
    return [
        replace(span, costs=costs_of_models[span.span_id])
        for span in tree.spans
        if span.kind == MODEL
        and not any(above.kind in (MODEL, SEARCH, OPEN) for above in tree.ancestors(span))
    ]


class _Sessions:
    """Which session a span belongs to.

    Attributes:
      joined: number of sessions of sub-agents that belong to another one.
    """

    def __init__(self, tree: SpanTree, of_trace: Sequence[Span], keep_apart: bool) -> None:
        self._tree = tree
        self._keep_apart = keep_apart
        self._of_root: dict[str, list[str]] = {}
        anywhere = [span.conversation for span in (*of_trace, *tree.spans) if span.conversation]
        self._of_trace = anywhere[0] if anywhere else None
        inner = {
            span.conversation
            for span in tree.spans
            if span.conversation is not None and self.of(span) != span.conversation
        }
        self.joined = len(inner)
        for span in tree.spans:
            if span.conversation is not None:
                named = self._of_root.setdefault(tree.root(span).span_id, [])
                session = self.of(span)
                if session is not None and session not in named:
                    named.append(session)

    def of(self, span: Span) -> str | None:
        path = (span, *self._tree.ancestors(span))
        for near in path if self._keep_apart else reversed(path):
            if near.conversation is not None:
                return near.conversation
        return self.of_root(self._tree.root(span))[0]

    def of_root(self, root: Span) -> Sequence[str | None]:
        """The sessions named by spans under a root, in order of the spans."""
        return self._of_root.get(root.span_id) or [self._of_trace]


def _calls(
    searches: Sequence[Search], steps: Sequence[Span], tree: SpanTree, common: dict[str, str]
) -> list[tuple[int, Span]]:
    turn_costs = _TurnCosts(
        [search for search in searches if search.span.kind not in USAGES], steps
    )
    events: list[tuple[tuple[int, int, str], Search | Span]] = [
        *(((step.start, 2 * _lasts_a_millisecond(step), step.span_id), step) for step in steps),
        *(((search.span.start, 1, search.span.span_id), search) for search in searches),
    ]
    ordinal = 0
    pending: list[dict[str, float]] = []
    has_stepped = False
    calls = []
    for _, event in sorted(events, key=lambda event: event[0]):
        if isinstance(event, Span):
            ordinal, has_stepped = ordinal + 1, True
            pending.append(event.costs)
            continue
        span = event.span
        is_search = span.kind not in USAGES
        ordinal = max(1, ordinal + (is_search and not has_stepped))
        attributes = {**common}
        for above in reversed((span, *tree.ancestors(span))):
            attributes |= above.attributes
        costs = turn_costs.costs(event, pending) if is_search else span.costs
        calls.append((ordinal, replace(span, attributes=attributes, costs=costs)))
        pending = [] if is_search else pending
    return calls


def _lasts_a_millisecond(step: Span) -> bool:
    """Whether calls that begin with a step cannot be those that it asks for.

    Some clocks have whole milliseconds, so that a fast call and the step after it begin together.
    """
    return step.costs.get(MILLISECONDS, 0.0) >= 1


class _TurnCosts:
    """The costs that the spans of a turn report, and from them the costs of each call."""

    def __init__(self, searches: Sequence[Search], steps: Sequence[Span]) -> None:
        self._by_searches = {name for search in searches for name in search.costs}
        self._by_searches.add(MILLISECONDS)
        inside = {name for search in searches for name in search.model_costs}
        by_steps = {name for step in steps for name in step.costs}
        self._names = sorted(self._by_searches | inside | by_steps)

    def costs(self, search: Search, pending: Sequence[dict[str, float]]) -> dict[str, float]:
        """The summed costs of a call and its model steps, except costs that one of them lacks."""
        costs = {}
        for name in self._names:
            if name in self._by_searches and name not in search.costs:
                continue
            if all(name in step for step in pending):
                parts = [search.costs.get(name, 0.0), search.model_costs.get(name, 0.0)]
                costs[name] = fsum(parts + [step[name] for step in pending])
        return costs
