"""The metrics of aspects: how much of what is asked was covered (SPEC 13). Only with aspects."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.gains import NO_SEARCH
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.turn import TurnAspects
from goodgain.transforms.core.ranking.families import NO_ASPECTS
from goodgain.transforms.core.remedy import Remedy


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


_ASPECTS = Metric(
    "aspects", "aspects", "Aspects that the documents found cover.", "higher", "",
    "number of aspects covered by documents of iterations 1..N", whole=True, words="Aspects",
    function=lambda prefix: _count_covered(prefix, prefix.i), counted=True, headline=("table",),
    gives_way=3,
).with_so_far(
    meaning="Aspects that the documents found so far cover.",
    formula="number of aspects covered by documents of iterations 1..i",
)  # fmt: skip
_METRICS = (
    _ASPECTS,
    Metric(
        "aspect_recall", "share", "Share of the topic's aspects that were covered.", "higher",
        f"{NO_SEARCH}, or {NO_ASPECTS}",
        "aspects / A, the aspects that some judged document covers", words="Recall of aspects",
        function=_if_any(lambda prefix, aspects: aspects.number(prefix.i) / aspects.topic.number),
        own_ideal=True, of_aspects=True, headline=("table", "predictor"),
    ).with_so_far(
        meaning="Share of the topic's aspects that were covered so far.", undefined=NO_ASPECTS,
        formula="aspects@i / A, the aspects that some judged document covers",
    ),
    Metric(
        "iterations_for_all_aspects", "iterations", "Iterations until all aspects were covered.",
        "lower", f"not all were covered, {NO_SEARCH}, or {NO_ASPECTS}",
        "the smallest i with aspects@i = A", whole=True, words="Iterations for all aspects",
        own_ideal=True, of_aspects=True, waits=True, function=_if_any(_iterations_for_all),
        caution="Only conversations that covered all count, so read it beside aspect_recall.",
    ),
)  # fmt: skip
_NEW = replace(
    _ASPECTS, name="new_aspects_i", words="New aspects",
    meaning="Aspects that no document of an earlier iteration covers.",
    formula="aspects@i - aspects@(i - 1)", by_i=True, so_far=None, headline=(), gives_way=0,
    function=lambda prefix: (
        _count_covered(prefix, prefix.i) - _count_covered(prefix, prefix.i - 1)
    ),
)  # fmt: skip
ASPECTS = MetricGroup(
    "of aspects; where results have them, or with " + Remedy("aspect_qrels"),
    _METRICS,
    (_NEW,),
)
