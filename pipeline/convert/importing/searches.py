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
    SpanTree,
)


class Search(Struct, frozen=True):
    """A search call, from one or several spans.

    Attributes:
      span: the span that gives query, results and position.
      model_costs: costs of the models that it calls.
    """

    span: Span
    costs: dict[str, float]
    model_costs: dict[str, float]


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
    innermost = _innermost(candidates, tree)
    names = {span.span_id for span in candidates}
    outermost = {
        span.span_id: next(
            (one for one in tree.ancestors(span)[::-1] if one.span_id in names), span
        )
        for span in candidates
    }
    models_inside: dict[str, list[Span]] = {}
    for span in (one for one in tree.spans if one.kind == MODEL):
        for above in tree.ancestors(span):
            if above.kind == MODEL:
                break  # counted as part of it
            if above.span_id in outermost:
                models_inside.setdefault(outermost[above.span_id].span_id, []).append(span)
                break
    by_wrapper: dict[str, list[Span]] = {}
    for span in innermost:
        by_wrapper.setdefault(outermost[span.span_id].span_id, []).append(span)
    searches = []
    for span in innermost:
        wrapper = outermost[span.span_id]
        is_alone = by_wrapper[wrapper.span_id] == [span]
        is_first = by_wrapper[wrapper.span_id][0] is span
        costs = {**span.costs}
        if is_alone and MILLISECONDS in wrapper.costs:
            costs[MILLISECONDS] = wrapper.costs[MILLISECONDS]
        models = (
            [model.costs for model in models_inside.get(wrapper.span_id, ())] if is_first else []
        )
        model_costs = total(models)
        model_costs.pop(MILLISECONDS, None)  # included in the search's own
        searches.append(Search(span, costs, model_costs))
    reranked, merged = _reranked(searches, outermost, tree)
    return reranked, len(candidates) - len(innermost) + merged


def total(costs: Iterable[dict[str, float]]) -> dict[str, float]:
    """The sum of each cost that all of them have."""
    several = list(costs)
    names = set(several[0]).intersection(*several[1:]) if several else set()
    return {name: fsum(one[name] for one in several) for name in sorted(names)}


def _innermost(candidates: Sequence[Span], tree: SpanTree) -> list[Span]:
    names = {span.span_id for span in candidates}
    has_inner: set[str] = set()
    has_recording_inner: set[str] = set()
    for span in candidates:
        for above in tree.ancestors(span):
            if above.span_id in names:
                has_inner.add(above.span_id)
                if span.results is not None:
                    has_recording_inner.add(above.span_id)
    innermost = [
        span
        for span in candidates
        if span.span_id not in has_recording_inner
        and (span.results is not None or span.span_id not in has_inner)
    ]
    innermost_names = {span.span_id for span in innermost}
    return [
        span
        for span in innermost
        if not any(above.span_id in innermost_names for above in tree.ancestors(span))
    ]


def _reranked(
    searches: list[Search], outermost: dict[str, Span], tree: SpanTree
) -> tuple[list[Search], int]:
    merged = 0
    for span in tree.spans:
        if span.kind != RERANK or not span.results:
            continue
        ancestors = {one.span_id for one in tree.ancestors(span)}
        if ancestors & outermost.keys():
            continue  # the enclosing search has the re-ranked results
        documents = _names(span.results)
        replaced = [
            search
            for search in searches
            if search.span.order < span.order
            and search.span.kind != RERANK
            and (search.span.parent_id == span.parent_id or span in tree.ancestors(search.span))
            and documents & _names(search.span.results or [])
        ]
        costs = total([span.costs, *(search.costs for search in replaced)])
        model_costs = total([search.model_costs for search in replaced])
        replaced_span = replaced[0].span if replaced else span
        reranked = replace(
            replaced_span,
            kind=RERANK,
            results=span.results,
            query=replaced_span.query or span.query,
        )
        searches = [search for search in searches if search not in replaced]
        searches.append(Search(reranked, costs, model_costs))
        merged += max(len(replaced) - 1, 0) + bool(replaced)
    return sorted(searches, key=lambda search: search.span.order), merged


def _names(results: Iterable[dict[str, Any]]) -> set[Any]:
    return {
        (name, result[name])
        for result in results
        for name in ("id", "url", "snippet")
        if name in result
    }
