"""The metrics of aspects: how much of what is asked was covered (SPEC 13). Only with aspects."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.gains import NO_SEARCH
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.turn import TurnAspects
from goodgain.transforms.core.remedy import Remedy

_NO_ASPECTS = "the topic has no aspects (A = 0), or they are unknown"


def _if_any(
    function: Callable[[Prefix, TurnAspects], float | None],
) -> Callable[[Prefix], float | None]:
    """The function, with null where the topic has no aspects."""

    def of_prefix(prefix: Prefix) -> float | None:
        aspects = prefix.turn.aspects
        return function(prefix, aspects) if aspects is not None and aspects.topic.number else None

    return of_prefix


def _count_covered(prefix: Prefix, i: int) -> int:
    return prefix.turn.aspects.number(i) if prefix.turn.aspects is not None else 0


def _iterations_for_all(prefix: Prefix, aspects: TurnAspects) -> int | None:
    if aspects.number(prefix.i) < aspects.topic.number:
        return None
    return aspects.first_covered[aspects.topic.number - 1]


_AT_I = Metric(
    "aspects_at_i", "aspects", "Aspects that the documents found so far cover.", "higher", "",
    "number of aspects covered by documents of iterations 1..i", whole=True, by_i=True,
    words="Aspects so far", function=lambda prefix: _count_covered(prefix, prefix.i), counted=True,
)  # fmt: skip
_RECALL_AT_I = Metric(
    "aspect_recall_at_i", "share", "Share of the topic's aspects that were covered so far.",
    "higher", _NO_ASPECTS, "aspects@i / A, the aspects that some judged document covers", by_i=True,
    words="Recall of aspects so far", own_ideal=True, of_aspects=True,
    function=_if_any(lambda prefix, aspects: aspects.number(prefix.i) / aspects.topic.number),
)  # fmt: skip
_CONVERSATION_METRICS = (
    replace(
        _AT_I, name="aspects", meaning="Aspects that the documents found cover.", words="Aspects",
        formula="number of aspects covered by documents of iterations 1..N", by_i=False,
        so_far=_AT_I, headline=("table",), gives_way=3,
    ),
    replace(
        _RECALL_AT_I, name="aspect_recall", by_i=False, words="Recall of aspects",
        meaning="Share of the topic's aspects that were covered.",
        formula="aspects / A, the aspects that some judged document covers",
        undefined=f"{NO_SEARCH}, or {_NO_ASPECTS}", so_far=_RECALL_AT_I,
        headline=("table", "predictor"),
    ),
    Metric(
        "iterations_for_all_aspects", "iterations", "Iterations until all aspects were covered.",
        "lower", f"not all were covered, {NO_SEARCH}, or {_NO_ASPECTS}",
        "the smallest i with aspects@i = A", whole=True, words="Iterations for all aspects",
        own_ideal=True, of_aspects=True, waits=True, function=_if_any(_iterations_for_all),
        caution="Only conversations that covered all count, so read it beside aspect_recall.",
    ),
)  # fmt: skip
_ITERATION_METRICS = (
    replace(
        _AT_I, name="new_aspects_i", words="New aspects",
        meaning="Aspects that no document of an earlier iteration covers.",
        formula="aspects@i - aspects@(i - 1)",
        function=lambda prefix: (
            _count_covered(prefix, prefix.i) - _count_covered(prefix, prefix.i - 1)
        ),
    ),
    _AT_I,
    _RECALL_AT_I,
)  # fmt: skip
ASPECTS = MetricGroup(
    "of aspects; where results have them, or with " + Remedy("aspect_qrels"),
    _CONVERSATION_METRICS,
    _ITERATION_METRICS,
)
