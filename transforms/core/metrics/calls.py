"""The metrics of search calls that brought nothing: empty, failed and repeated ones (SPEC 11)."""

from __future__ import annotations

from collections.abc import Callable

from goodgain.transforms.core.metric import Metric, Place
from goodgain.transforms.core.metrics.prefix import Prefix


def _declare(
    name: str,
    words: str,
    meaning: str,
    formula: str,
    function: Callable[[Prefix], int],
    headline: tuple[Place, ...] = (),
) -> Metric:
    return Metric(
        name, "calls", meaning, "lower", "", formula, whole=True, counted=True, words=words,
        function=function, headline=headline,
    )  # fmt: skip


CALL_METRICS: tuple[Metric, ...] = (
    _declare(
        "calls_empty", "Empty calls", "Search calls that returned nothing.",
        "number of search calls of the last turn without results",
        lambda prefix: prefix.turn.call_counts.empty,
    ),
    _declare(
        "calls_failed", "Failed calls", "Search calls that failed.",
        "number of search calls of the last turn with an error",
        lambda prefix: prefix.turn.call_counts.failed,
    ),
    _declare(
        "queries_repeated", "Repeated queries",
        "Search calls that asked what an earlier one of the turn had asked.",
        "number of search calls whose query, without case and punctuation, equals an earlier "
        "one's",
        lambda prefix: prefix.turn.call_counts.repeated,
        headline=("unlabelled",),
    ),
)  # fmt: skip
