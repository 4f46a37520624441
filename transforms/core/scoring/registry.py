"""Declares every metric of SPEC 5 once, for columns, schemas, tables and reports.

To add a metric, add an entry with its `function`, which `computed` calls. The ranking metrics of
SPEC 8, of which users choose some, are declared in `ranking`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.scoring.gains import (
    iterations_after_last_good,
    iterations_for_all_good_results,
)

NO_SEARCH = "the last turn did not search (N = 0)"
_REWARDS_STOPPING = "Stopping early raises it, so read it beside CG."
_REWARDS_FINDING_LESS = "Finding less finishes sooner, so read it beside GR."
_REWARDS_GIVING_UP = "Giving up at once lowers it, so read it beside CG."

CONVERSATION_METRICS: tuple[Metric, ...] = (
    Metric(
        "N", "iterations", "Iterations of the last turn that searched.", "neither", "",
        "number of distinct iterations of the last turn with a search call", True,
        words="Iterations",
    ),
    Metric(
        "calls", "calls", "Search calls of the last turn.", "neither", "",
        "number of usable search calls of the last turn", True, words="Search calls",
    ),
    Metric(
        "R", "results", "Results retrieved, duplicates included.", "neither", "",
        "|R| over all iterations", True, words="Results",
    ),
    Metric(
        "UR", "results", "Distinct documents retrieved.", "neither", "",
        "|UR|: first occurrences", True, words="Distinct results",
    ),
    Metric(
        "GR", "results", "Distinct good documents retrieved.", "higher", "",
        "|GR|: first occurrences with gain >= good_gain_threshold", True, bounded=True,
        needs_labels=True, words="Good results",
    ),
    Metric(
        "DupR", "results", "Results that repeat an earlier one.", "lower", "",
        "|R| - |UR|", True, words="Repeated results",
    ),
    Metric(
        "CG", "gain", "All the good, new material gathered.", "higher", NO_SEARCH,
        "sum of G_k for k = 1..N", True, bounded=True, needs_labels=True, words="Gain",
    ),
    Metric(
        "RG", "gain per iteration", "Good, new material per iteration.", "higher", NO_SEARCH,
        "CG / N", bounded=True,
        needs_labels=True, caution=_REWARDS_STOPPING, words="Gain per iteration",
    ),
    Metric(
        "DCG", "gain", "Good, new material, worth less the later it came.", "higher", NO_SEARCH,
        "sum of G_k / log2(k + 1) for k = 1..N", bounded=True, needs_labels=True,
        words="Discounted gain",
    ),
    Metric(
        "DRG", "gain per iteration", "DCG per iteration.", "higher", NO_SEARCH, "DCG / N",
        bounded=True, needs_labels=True, caution=_REWARDS_STOPPING,
        words="Discounted gain per iteration",
    ),
    Metric(
        "RAG", "gain per result", "Good, new material per result, averaged over iterations.",
        "higher", NO_SEARCH, "(1/N) sum of AvgGain_k for k = 1..N", bounded=True,
        needs_labels=True, caution=_REWARDS_STOPPING, words="Gain per result",
    ),
    Metric(
        "DRAG", "gain per result", "RAG, with later iterations worth less.", "higher", NO_SEARCH,
        "(1/N) sum of AvgGain_k / log2(k + 1) for k = 1..N", bounded=True,
        needs_labels=True, caution=_REWARDS_STOPPING, words="Discounted gain per result",
    ),
    Metric(
        "SRE", "share", "Share of the results that were good and new.", "higher", NO_SEARCH,
        "GR / R, 0 if R = 0", bounded=True, needs_labels=True, words="Good and new results",
    ),
    Metric(
        "SRR", "share", "Share of the results that repeated an earlier one.", "lower", NO_SEARCH,
        "DupR / R, 0 if R = 0", words="Repeated results",
    ),
    Metric(
        "iterations_for_all_good_results", "iterations",
        "Iterations until every good document had been found.", "lower",
        "no good document was found",
        "min(k, 100), k the smallest i at which every good result of the turn was retrieved", True,
        needs_labels=True, caution=_REWARDS_FINDING_LESS,
        function=iterations_for_all_good_results, words="Iterations for all good results",
    ),
    Metric(
        "iterations_after_last_good", "iterations",
        "Iterations at the end that found no new good document.", "lower", NO_SEARCH,
        "N minus the last i with a good first occurrence; N when there is none", True, bounded=True,
        needs_labels=True, caution=_REWARDS_GIVING_UP, function=iterations_after_last_good,
        words="Iterations after the last good",
    ),
    Metric(
        "unlabelled", "results", "Results without a label; they count as gain 0.", "neither", "",
        "number of results with gain null, duplicates included", True, words="Unlabelled results",
    ),
    Metric(
        "label_conflicts", "results",
        "Copies whose label differs from that of the first occurrence.", "neither", "",
        "number of labelled duplicates whose labelled first occurrence has another gain", True,
        words="Label conflicts",
    ),
    Metric(
        "redelivered", "records", "Records delivered again.", "neither", "",
        "deliveries beyond the one that counts", True, words="Redelivered records",
    ),
)  # fmt: skip

_NO_GOOD_IN_POOL = "the pool has no good document of the topic"
_OF_POOL = f"{NO_SEARCH}, or {_NO_GOOD_IN_POOL}"

# Only with a pool (SPEC 9); without one there are no such columns.
POOL_METRICS: tuple[Metric, ...] = (
    Metric(
        "pool_recall", "share", "Share of the pool's good documents that was found.", "higher",
        _OF_POOL, "good pool documents found / good pool documents of the topic",
        words="Recall of the pool",
    ),
    Metric(
        "pool_nCG", "share", "Share of the pool's gain that was found.", "higher", _OF_POOL,
        "sum of the gains of good pool documents found / sum of the gains of all good pool "
        "documents of the topic",
        words="Gain of the pool",
    ),
    Metric(
        "pool_nDCG", "share", "Share of the pool's gain, worth less the later it was found.",
        "higher", _OF_POOL,
        "sum of gain / log2(i + 1) of good pool documents found at i / the pool's gain",
        words="Discounted gain of the pool",
    ),
    Metric(
        "half_of_pool_reached", "share", "Whether half of the pool's good documents were found.",
        "higher", _OF_POOL, "1 if pool_recall >= 0.5, else 0", True, binary=True,
        words="Half of the pool reached",
    ),
    Metric(
        "iterations_for_half_of_pool", "iterations",
        "Iterations until half of the pool's good documents had been found.", "lower",
        f"less than half was found, {_OF_POOL}", "the smallest i with pool_recall@i >= 0.5", True,
        caution="Only conversations that reached it count, so read it beside half_of_pool_reached.",
        words="Iterations for half of the pool",
    ),
)  # fmt: skip

AT_END = {metric.name: metric for metric in CONVERSATION_METRICS + POOL_METRICS}


def _by_iteration(
    name: str, meaning: str, formula: str, like: str = "", undefined: str = ""
) -> Metric:
    """A metric of iterations, with unit, direction and words of the metric at N that it is like."""
    end = AT_END[like or name.removesuffix("_i").removesuffix("_at")]
    words = f"{end.words} so far" if name.endswith("_at_i") else end.words
    changed = {"meaning": meaning, "formula": formula, "undefined": undefined, "words": words}
    return replace(end, name=name, caution="", **changed)


POOL_ITERATION_METRICS: tuple[Metric, ...] = (
    _by_iteration(
        "pool_recall_at_i", "Share of the pool's good documents found so far.",
        "good pool documents found by i / good pool documents of the topic",
        undefined=_NO_GOOD_IN_POOL,
    ),
    _by_iteration(
        "pool_nCG_at_i", "Share of the pool's gain found so far.",
        "sum of the gains of good pool documents found by i / sum of the gains of all good pool "
        "documents of the topic", undefined=_NO_GOOD_IN_POOL,
    ),
    _by_iteration(
        "pool_nDCG_at_i", "Share of the pool's gain found so far, worth less when late.",
        "sum of gain / log2(k + 1) of good pool documents found at k <= i / the pool's gain",
        undefined=_NO_GOOD_IN_POOL,
    ),
)  # fmt: skip

ITERATION_METRICS: tuple[Metric, ...] = (
    _by_iteration(
        "calls", "Search calls of the iteration.", "number of usable search calls of iteration i"
    ),
    _by_iteration("R_i", "Results of the iteration.", "|R^i|"),
    _by_iteration(
        "UR_i", "Documents that the iteration found for the first time.",
        "|UR^i|: first occurrences in iteration i",
    ),
    _by_iteration(
        "GR_i", "Good documents that the iteration found for the first time.",
        "|GR^i|: first occurrences with gain >= good_gain_threshold",
    ),
    _by_iteration(
        "Dup_i", "Results of the iteration that repeat an earlier one.", "|R^i| - |UR^i|", "DupR"
    ),
    _by_iteration(
        "G_i", "Good, new material that the iteration found.", "sum of gain over GR^i", "CG"
    ),
    _by_iteration(
        "unlabelled_i", "Results of the iteration without a label.",
        "number of results of iteration i with gain null",
    ),
    _by_iteration(
        "AvgGain_i", "Good, new material per result of the iteration.",
        "G_i / |R^i|, 0 if |R^i| = 0", "RAG",
    ),
    _by_iteration(
        "R_at_i", "Results so far, duplicates included.", "sum of |R^k| for k = 1..i"
    ),
    _by_iteration("UR_at_i", "Distinct documents so far.", "sum of |UR^k| for k = 1..i"),
    _by_iteration("GR_at_i", "Distinct good documents so far.", "sum of |GR^k| for k = 1..i"),
    _by_iteration("DupR_at_i", "Results so far that repeat an earlier one.", "R@i - UR@i"),
    _by_iteration("CG_at_i", "Good, new material gathered so far.", "sum of G_k for k = 1..i"),
    _by_iteration("RG_at_i", "Good, new material so far per iteration.", "CG@i / i"),
    _by_iteration(
        "DCG_at_i", "Good, new material so far, worth less the later it came.",
        "sum of G_k / log2(k + 1) for k = 1..i",
    ),
    _by_iteration("DRG_at_i", "DCG@i per iteration.", "DCG@i / i"),
    _by_iteration(
        "RAG_at_i", "Good, new material per result, averaged over iterations.",
        "(1/i) sum of AvgGain_k for k = 1..i",
    ),
    _by_iteration(
        "DRAG_at_i", "RAG@i, with later iterations worth less.",
        "(1/i) sum of AvgGain_k / log2(k + 1) for k = 1..i",
    ),
    _by_iteration(
        "SRE_at_i", "Share of the results so far that were good and new.",
        "GR@i / R@i, 0 if R@i = 0",
    ),
    _by_iteration(
        "SRR_at_i", "Share of the results so far that repeated an earlier one.",
        "DupR@i / R@i, 0 if R@i = 0",
    ),
)  # fmt: skip

BY_ITERATION = {metric.name: metric for metric in ITERATION_METRICS + POOL_ITERATION_METRICS}
OF_POOL = frozenset(metric.name for metric in POOL_METRICS + POOL_ITERATION_METRICS)


def cautions(names: Iterable[str]) -> dict[str, list[str]]:
    """The distinct cautions about metrics of conversations, each with the labels of its metrics."""
    labels: dict[str, list[str]] = {}
    for metric in filter(None, map(AT_END.get, dict.fromkeys(names))):
        if metric.caution:
            labels.setdefault(metric.caution, []).append(metric.label)
    return labels
