"""The spans of one trace as a tree, even if some are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from goodgain.pipeline.convert.importing.spans import Span

_encode = msgspec.msgpack.Encoder().encode


class SpanTree:
    """The spans of a trace.

    A span whose parent is missing is put under the first root or, without a root, under the first
    such span.

    Attributes:
      spans: each once, by start.
      repeated: number of extra copies.
      parent_missing: number of spans whose parent is missing.
    """

    def __init__(self, spans: Iterable[Span]) -> None:
        """Order and link spans; of several with one id, the last by start and content is kept."""
        by_id: dict[str, Span] = {}
        self.repeated = 0
        for span in spans:
            earlier = by_id.setdefault(span.span_id, span)
            if earlier is not span:
                self.repeated += 1
                by_id[span.span_id] = max(earlier, span, key=lambda one: (one.start, _encode(one)))
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

    def root(self, span: Span) -> Span:
        """The root above a span, or the fallback for spans whose parent is missing."""
        top = (span, *self.ancestors(span))[-1]
        return top if top.span_id in self._roots else self._fallback_root
