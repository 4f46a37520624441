"""The metrics of the topic's pool: what share of it a turn found (SPEC 9). Only with a pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.gains import NO_SEARCH
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.turn import TopicGains
from goodgain.transforms.core.remedy import Remedy

_NO_GOOD_IN_POOL = "the pool has no good document of the topic"
_OF_POOL = f"{NO_SEARCH}, or {_NO_GOOD_IN_POOL}"


def _if_findable(
    function: Callable[[Prefix, TopicGains], float | None],
) -> Callable[[Prefix], float | None]:
    """The function, with null where the pool has no good document."""

    def of_prefix(prefix: Prefix) -> float | None:
        pool = prefix.turn.pool
        return function(prefix, pool) if pool is not None and pool.good else None

    return of_prefix


def _declare(
    name: str,
    words: str,
    meaning: str,
    formula: str,
    function: Callable[[Prefix, TopicGains], float | None],
    so_far: tuple[str, str] | None = None,
    **more: Any,
) -> Metric:
    given = {"unit": "share", "direction": "higher", "undefined": _OF_POOL, **more}
    metric = Metric(
        name=name, meaning=meaning, formula=formula, words=words, function=_if_findable(function),
        **given,
    )  # fmt: skip
    if so_far is None:
        return metric
    meaning, formula = so_far
    return metric.with_so_far(meaning=meaning, formula=formula, undefined=_NO_GOOD_IN_POOL)


_METRICS: tuple[Metric, ...] = (
    _declare(
        "pool_recall", "Recall of the pool", "Share of the pool's good documents that was found.",
        "good pool documents found / good pool documents of the topic",
        lambda prefix, pool: prefix.found / pool.good,
        (
            "Share of the pool's good documents found so far.",
            "good pool documents found by i / good pool documents of the topic",
        ),
        headline=("comparison", "decision", "predictor"),
    ),
    _declare(
        "pool_nCG", "Gain of the pool", "Share of the pool's gain that was found.",
        "sum of the gains of good pool documents found / sum of the gains of all good pool "
        "documents of the topic",
        lambda prefix, pool: prefix.found_gain / pool.gain,
        (
            "Share of the pool's gain found so far.",
            "sum of the gains of good pool documents found by i / sum of the gains of all good "
            "pool documents of the topic",
        ),
    ),
    _declare(
        "pool_nDCG", "Discounted gain of the pool",
        "Share of the pool's gain, worth less the later it was found.",
        "sum of gain / log2(i + 1) of good pool documents found at i / the pool's gain",
        lambda prefix, pool: prefix.found_discounted / pool.gain,
        (
            "Share of the pool's gain found so far, worth less when late.",
            "sum of gain / log2(k + 1) of good pool documents found at k <= i / the pool's gain",
        ),
    ),
    _declare(
        "half_of_pool_reached", "Half of the pool reached",
        "Whether half of the pool's good documents were found.", "1 if pool_recall >= 0.5, else 0",
        lambda prefix, pool: int(prefix.half_found is not None), whole=True, binary=True,
    ),
    _declare(
        "iterations_for_half_of_pool", "Iterations for half of the pool",
        "Iterations until half of the pool's good documents had been found.",
        "the smallest i with pool_recall@i >= 0.5", lambda prefix, pool: prefix.half_found,
        unit="iterations", direction="lower", undefined=f"less than half was found, {_OF_POOL}",
        whole=True, waits=True,
        caution="Only conversations that reached it count, so read it beside half_of_pool_reached.",
    ),
)  # fmt: skip

POOL = MetricGroup("of the topic's pool; with " + Remedy("pool"), _METRICS)
