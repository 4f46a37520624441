"""The search calls, openings and citations of a trace, each counted once, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import fsum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.convert.importing.spans import (
    MILLISECONDS,
    MODEL,
    RERANK,
    Span,
    SpanTree,
)
from goodgain.transforms.core.records.search_call import CITE, SEARCH, USAGES


class Search(Struct, frozen=True):
    """A search call, from one or several spans.

    Attributes:
      span: the span that gives query, results and position.
      model_costs: costs of the models that it calls.
    """

    span: Span
    costs: dict[str, float]
    model_costs: dict[str, float]


def searches_of(tree: SpanTree) -> tuple[list[Search], int]:
    """The search calls of a trace by start, and how many spans were merged into them.

    Of nested searches, the innermost ones that record their documents count; if none does, the
    innermost. A re-ranking replaces the earlier searches, under the same parent or under itself,
    whose documents it contains.
    """
    candidates = [span for span in tree.spans if span.kind == SEARCH]
    innermost = _innermost(candidates, tree)
    names = {span.span_id for span in candidates}
    outermost = {
        span.span_id: next(
            (ancestor for ancestor in tree.ancestors(span)[::-1] if ancestor.span_id in names), span
        )
        for span in candidates
    }
    models_inside: dict[str, list[Span]] = {}
    costs_of_models = model_costs_of(tree)
    for span in (other for other in tree.spans if other.kind == MODEL):
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
            [costs_of_models[model.span_id] for model in models_inside.get(wrapper.span_id, ())]
            if is_first
            else []
        )
        model_costs = _total(models)
        model_costs.pop(MILLISECONDS, None)  # included in the search's own
        searches.append(Search(span, costs, model_costs))
    reranked, merged = _merge_reranked(searches, outermost, tree)
    return reranked, len(candidates) - len(innermost) + merged


def model_costs_of(tree: SpanTree) -> dict[str, dict[str, float]]:
    """The costs of each model's span: those of the models within it, where they all report them.

    A framework's span around the provider's own repeats its usage, or works it out anew.
    """
    models = [span for span in tree.spans if span.kind == MODEL]
    inside: dict[str, list[dict[str, float]]] = {}
    for span in tree.innermost(models):
        for above in tree.ancestors(span):
            if above.kind == MODEL:
                inside.setdefault(above.span_id, []).append(span.costs)
    costs = {}
    for span in models:
        inner = _total(inside.get(span.span_id, ()))
        inner.pop(MILLISECONDS, None)
        costs[span.span_id] = span.costs | inner
    return costs


def usages_of(tree: SpanTree) -> list[Span]:
    """The calls that opened documents, and the citations, by start.

    Of nested ones the innermost count; one within a search is part of the search, and one around a
    search only leads to it.
    """
    calls = [span for span in tree.spans if span.kind in (SEARCH, *USAGES)]
    return [
        span
        for span in tree.innermost(calls)
        if span.kind in USAGES and not any(above.kind == SEARCH for above in tree.ancestors(span))
    ]


def citations_of(tree: SpanTree) -> list[Span]:
    """The citations in the answers of models, each after its step.

    Of nested models the innermost that cite count; others repeat what these answered.
    """
    citing = [span for span in tree.spans if span.kind == MODEL and span.cited]
    return [
        replace(
            span,
            span_id=f"{span.span_id}/cited",
            parent_id=span.span_id,
            # Behind the step and the calls in it, before whatever follows.
            start=span.start + 1 + len(span.provider_calls),
            kind=CITE,
            costs={},
            results=span.cited,
        )
        for span in tree.innermost(citing)
    ]


def _total(costs: Iterable[dict[str, float]]) -> dict[str, float]:
    """The sum of each cost that all of them have."""
    several = list(costs)
    names = set(several[0]).intersection(*several[1:]) if several else set()
    return {name: fsum(costs_of[name] for costs_of in several) for name in sorted(names)}


def _innermost(candidates: Sequence[Span], tree: SpanTree) -> list[Span]:
    """The innermost that record documents; elsewhere the innermost."""
    recording = [span for span in candidates if span.results is not None]
    found = {span.span_id for span in (*tree.innermost(recording), *tree.innermost(candidates))}
    return [
        span
        for span in candidates
        if span.span_id in found
        and not any(above.span_id in found for above in tree.ancestors(span))
    ]


def _merge_reranked(
    searches: list[Search], outermost: dict[str, Span], tree: SpanTree
) -> tuple[list[Search], int]:
    merged = 0
    for span in tree.spans:
        if span.kind != RERANK or not span.results:
            continue
        ancestors = {ancestor.span_id for ancestor in tree.ancestors(span)}
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
        costs = _total([span.costs, *(search.costs for search in replaced)])
        model_costs = _total([search.model_costs for search in replaced])
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
