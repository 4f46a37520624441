"""The metrics of gains, results and repetition, for every run (SPEC 5).

To add one, add a declaration with its function here: all outputs then have it. A declaration with
`so_far` also makes a metric of iterations, by the same function of a shorter prefix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goodgain.transforms.core.metric import Direction, Metric, Place
from goodgain.transforms.core.metrics.calls import CALL_METRICS
from goodgain.transforms.core.metrics.prefix import Prefix

NO_SEARCH = "the last turn did not search (N = 0)"
MOST_ITERATIONS_FOR_ALL_GOOD = 100
_EVERYWHERE: tuple[Place, ...] = (
    "card", "table", "everyone", "stream", "comparison", "decision", "predictor",
)  # fmt: skip
_REWARDS_STOPPING = "Stopping early raises it, so read it beside CG."
_REWARDS_FINDING_LESS = "Finding less finishes sooner, so read it beside GR."
_REWARDS_GIVING_UP = "Giving up at once lowers it, so read it beside CG."


def iterations_for_all_good_results(prefix: Prefix) -> int | None:
    """The smallest i by which all good results were retrieved, at most 100; None without any."""
    return min(prefix.last_good, MOST_ITERATIONS_FOR_ALL_GOOD) if prefix.last_good else None


def ratio(part: float, whole: float) -> float:
    """Part of a whole; 0 if there is nothing."""
    return part / whole if whole else 0.0


def _declare(
    name: str,
    unit: str,
    words: str,
    meaning: str,
    direction: Direction,
    formula: str,
    function: Callable[[Prefix], float | None],
    so_far: tuple[str, str] | None = None,
    **more: Any,
) -> Metric:
    """Declare a metric at N, and with `so_far`, a meaning and a formula, its form at i."""
    if not more.get("counted"):
        more.setdefault("undefined", NO_SEARCH)
    metric = Metric(
        name, unit, meaning, direction, formula=formula, words=words, function=function,
        **{"undefined": "", **more},
    )  # fmt: skip
    if so_far is None:
        return metric
    meaning, formula = so_far
    return metric.with_so_far(meaning=meaning, formula=formula, undefined="")


CONVERSATION_METRICS: tuple[Metric, ...] = (
    _declare(
        "N", "iterations", "Iterations", "Iterations of the last turn that searched.", "neither",
        "number of distinct iterations of the last turn with a search call",
        lambda prefix: prefix.i, whole=True, counted=True,
        headline=("table", "stream", "predictor", "example", "unlabelled"),
    ),
    _declare(
        "calls", "calls", "Search calls", "Search calls of the last turn.", "neither",
        "number of usable search calls of the last turn",
        lambda prefix: prefix.calls, whole=True, counted=True,
        headline=("predictor", "unlabelled"), gives_way=2,
    ),
    _declare(
        "R", "results", "Results", "Results retrieved, duplicates included.", "neither",
        "|R| over all iterations", lambda prefix: prefix.results,
        ("Results so far, duplicates included.", "sum of |R^k| for k = 1..i"),
        whole=True, counted=True, headline=("example", "unlabelled"), gives_way=4,
    ),
    _declare(
        "UR", "results", "Distinct results", "Distinct documents retrieved.", "neither",
        "|UR|: first occurrences", lambda prefix: prefix.unique,
        ("Distinct documents so far.", "sum of |UR^k| for k = 1..i"),
        whole=True, counted=True, headline=("unlabelled",), gives_way=3,
    ),
    _declare(
        "GR", "results", "Good results", "Distinct good documents retrieved.", "higher",
        "|GR|: first occurrences with gain >= good_gain_threshold", lambda prefix: prefix.good,
        ("Distinct good documents so far.", "sum of |GR^k| for k = 1..i"),
        whole=True, counted=True, bounded=True, needs_labels=True, headline=("predictor",),
    ),
    _declare(
        "DupR", "results", "Repeated results", "Results that repeat an earlier one.", "lower",
        "|R| - |UR|", lambda prefix: prefix.results - prefix.unique,
        ("Results so far that repeat an earlier one.", "R@i - UR@i"),
        whole=True, counted=True, headline=("unlabelled",), gives_way=5,
    ),
    _declare(
        "CG", "gain", "Gain", "All the good, new material gathered.", "higher",
        "sum of G_k for k = 1..N", lambda prefix: prefix.gain,
        ("Good, new material gathered so far.", "sum of G_k for k = 1..i"),
        whole=True, bounded=True, needs_labels=True,
        headline=(*_EVERYWHERE, "example"),
    ),
    _declare(
        "RG", "gain per iteration", "Gain per iteration", "Good, new material per iteration.",
        "higher", "CG / N", lambda prefix: ratio(prefix.gain, prefix.i),
        ("Good, new material so far per iteration.", "CG@i / i"),
        bounded=True, needs_labels=True, caution=_REWARDS_STOPPING,
    ),
    _declare(
        "DCG", "gain", "Discounted gain", "Good, new material, worth less the later it came.",
        "higher", "sum of G_k / log2(k + 1) for k = 1..N", lambda prefix: prefix.discounted_gain,
        (
            "Good, new material so far, worth less the later it came.",
            "sum of G_k / log2(k + 1) for k = 1..i",
        ),
        bounded=True, needs_labels=True,
        headline=("table", "stream", "comparison", "decision", "predictor"), gives_way=5,
    ),
    _declare(
        "DRG", "gain per iteration", "Discounted gain per iteration", "DCG per iteration.",
        "higher", "DCG / N", lambda prefix: ratio(prefix.discounted_gain, prefix.i),
        ("DCG@i per iteration.", "DCG@i / i"),
        bounded=True, needs_labels=True, caution=_REWARDS_STOPPING,
    ),
    _declare(
        "RAG", "gain per result", "Gain per result",
        "Good, new material per result, averaged over iterations.", "higher",
        "(1/N) sum of AvgGain_k for k = 1..N",
        lambda prefix: ratio(prefix.gains_per_result, prefix.i),
        (
            "Good, new material per result, averaged over iterations.",
            "(1/i) sum of AvgGain_k for k = 1..i",
        ),
        bounded=True, needs_labels=True, caution=_REWARDS_STOPPING,
        headline=("table", "everyone", "stream", "comparison", "decision", "predictor"),
        gives_way=2,
    ),
    _declare(
        "DRAG", "gain per result", "Discounted gain per result",
        "RAG, with later iterations worth less.", "higher",
        "(1/N) sum of AvgGain_k / log2(k + 1) for k = 1..N",
        lambda prefix: ratio(prefix.discounted_gains_per_result, prefix.i),
        (
            "RAG@i, with later iterations worth less.",
            "(1/i) sum of AvgGain_k / log2(k + 1) for k = 1..i",
        ),
        bounded=True, needs_labels=True, caution=_REWARDS_STOPPING,
        headline=("table", "comparison", "decision", "predictor"), gives_way=6,
    ),
    _declare(
        "SRE", "share", "Good and new results", "Share of the results that were good and new.",
        "higher", "GR / R, 0 if R = 0", lambda prefix: ratio(prefix.good, prefix.results),
        ("Share of the results so far that were good and new.", "GR@i / R@i, 0 if R@i = 0"),
        bounded=True, needs_labels=True,
        headline=(*_EVERYWHERE, "example"),
    ),
    _declare(
        "SRR", "share", "Repeated results", "Share of the results that repeated an earlier one.",
        "lower", "DupR / R, 0 if R = 0",
        lambda prefix: ratio(prefix.results - prefix.unique, prefix.results),
        ("Share of the results so far that repeated an earlier one.", "DupR@i / R@i, 0 if R@i = 0"),
        headline=(
            "card", "table", "stream", "comparison", "decision", "predictor", "example",
            "unlabelled",
        ),
        gives_way=1,
    ),
    _declare(
        "iterations_for_all_good_results", "iterations", "Iterations for all good results",
        "Iterations until every good document had been found.", "lower",
        "min(k, 100), k the smallest i at which every good result of the turn was retrieved",
        iterations_for_all_good_results, undefined="no good document was found",
        whole=True, needs_labels=True, waits=True, caution=_REWARDS_FINDING_LESS,
        headline=("card", "table", "comparison"), gives_way=4,
    ),
    _declare(
        "iterations_after_last_good", "iterations", "Iterations after the last good",
        "Iterations at the end that found no new good document.", "lower",
        "N minus the last i with a good first occurrence; N when there is none",
        lambda prefix: prefix.i - prefix.last_good, whole=True, bounded=True, needs_labels=True,
        caution=_REWARDS_GIVING_UP,
        headline=("comparison",),
    ),
    _declare(
        "unlabelled", "results", "Unlabelled results",
        "Results without a label; they count as gain 0.", "neither",
        "number of results with gain null, duplicates included", lambda prefix: prefix.unlabelled,
        whole=True, counted=True,
    ),
    _declare(
        "label_conflicts", "results", "Label conflicts",
        "Copies whose label differs from that of the first occurrence.", "neither",
        "number of labelled duplicates whose labelled first occurrence has another gain",
        lambda prefix: prefix.turn.label_conflicts, whole=True, counted=True,
    ),
    _declare(
        "redelivered", "records", "Redelivered records", "Records delivered again.", "neither",
        "deliveries beyond the one that counts", lambda prefix: prefix.turn.redelivered,
        whole=True, counted=True,
    ),
    *CALL_METRICS,
)  # fmt: skip

DECLARED = {metric.name: metric for metric in CONVERSATION_METRICS}
