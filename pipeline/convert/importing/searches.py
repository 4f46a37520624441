"""Finds the search calls among the spans of a trace, so that each search counts once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import fsum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.convert.importing.spans import (
    MILLISECONDS,
    MODEL,
    RERANK,
    SEARCH,
    TOOL,
    Span,
)
from goodgain.pipeline.convert.importing.tree import SpanTree


class Search(Struct, frozen=True):
    """A search call, from one or several spans.

    Attributes:
      span: the span that gives query, results and place.
      costs: costs of that span.
      inside: costs of the models that it calls.
    """

    span: Span
    costs: dict[str, float]
    inside: dict[str, float]


def is_search(span: Span, tools: Collection[str]) -> bool:
    """Whether a span is a search; a tool's span is if the tool is in `tools`."""
    return span.kind == SEARCH or (span.kind == TOOL and span.tool in tools)


def searches_of(tree: SpanTree, tools: Collection[str]) -> tuple[list[Search], int]:
    """The search calls of a trace by start, and how many spans were merged into them.

    Of nested searches, the innermost ones that record their documents count; if none does, the
    innermost. A re-ranking replaces the earlier searches, under the same parent or under itself,
    whose documents it contains.
    """
    candidates = [span for span in tree.spans if is_search(span, tools)]
    kept = _innermost(candidates, tree)
    outer = {span.span: _outermost(span, candidates, tree) for span in candidates}
    models = [span for span in tree.spans if span.kind == MODEL]
    inside: dict[str, list[Span]] = {}
    for span in models:
        for above in tree.above(span):
            if above.kind == MODEL:
                break  # counted as part of it
            if above.span in outer:
                inside.setdefault(outer[above.span].span, []).append(span)
                break
    sharing: dict[str, list[Span]] = {}
    for span in kept:
        sharing.setdefault(outer[span.span].span, []).append(span)
    found = []
    for span in kept:
        wrapper = outer[span.span]
        alone = sharing[wrapper.span] == [span]
        first = sharing[wrapper.span][0] is span
        costs = {**span.costs}
        if alone and MILLISECONDS in wrapper.costs:
            costs[MILLISECONDS] = wrapper.costs[MILLISECONDS]
        within = [model.costs for model in inside.get(wrapper.span, ())] if first else []
        inside_costs = total(within)
        inside_costs.pop(MILLISECONDS, None)  # included in the search's own
        found.append(Search(span, costs, inside_costs))
    reranked, taken = _reranked(found, outer, tree)
    return reranked, len(candidates) - len(kept) + taken


def total(costs: Iterable[dict[str, float]]) -> dict[str, float]:
    """The sum of each cost that all of them have."""
    several = list(costs)
    names = set(several[0]).intersection(*several[1:]) if several else set()
    return {name: fsum(one[name] for one in several) for name in sorted(names)}


def _innermost(candidates: Sequence[Span], tree: SpanTree) -> list[Span]:
    names = {span.span for span in candidates}
    has_inner: set[str] = set()
    has_recording_inner: set[str] = set()
    for span in candidates:
        for above in tree.above(span):
            if above.span in names:
                has_inner.add(above.span)
                if span.results is not None:
                    has_recording_inner.add(above.span)
    kept = [
        span
        for span in candidates
        if span.span not in has_recording_inner
        and (span.results is not None or span.span not in has_inner)
    ]
    kept_names = {span.span for span in kept}
    return [
        span for span in kept if not any(above.span in kept_names for above in tree.above(span))
    ]


def _outermost(span: Span, candidates: Sequence[Span], tree: SpanTree) -> Span:
    names = {one.span for one in candidates}
    return next((above for above in reversed(tree.above(span)) if above.span in names), span)


def _reranked(
    searches: list[Search], outer: dict[str, Span], tree: SpanTree
) -> tuple[list[Search], int]:
    taken = 0
    for span in tree.spans:
        if span.kind != RERANK or not span.results:
            continue
        above = {one.span for one in tree.above(span)}
        if above & outer.keys():
            continue  # the enclosing search has the re-ranked results
        documents = _names(span.results)
        before = [
            search
            for search in searches
            if search.span.order < span.order
            and search.span.kind != RERANK
            and (search.span.parent == span.parent or span in tree.above(search.span))
            and documents & _names(search.span.results or [])
        ]
        costs = total([span.costs, *(search.costs for search in before)])
        within = total([search.inside for search in before])
        first = before[0].span if before else span
        took = replace(first, kind=RERANK, results=span.results, query=first.query or span.query)
        searches = [search for search in searches if search not in before]
        searches.append(Search(took, costs, within))
        taken += max(len(before) - 1, 0) + bool(before)
    return sorted(searches, key=lambda search: search.span.order), taken


def _names(results: Iterable[dict[str, Any]]) -> set[Any]:
    return {
        (name, result[name])
        for result in results
        for name in ("id", "url", "snippet")
        if name in result
    }
