"""Declares every metric of SPEC 5 once, for columns, schemas, tables and reports.

To add a metric, add an entry with its `function`, which `computed` calls. The ranking metrics of
SPEC 8, of which users choose some, are declared in `ranking`.
"""

from __future__ import annotations

from collections.abc import Iterable

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.scoring.gains import (
    iterations_after_last_good,
    iterations_for_all_good_results,
)

NO_SEARCH = "the last turn did not search (N = 0)"
_REWARDS_STOPPING = "Stopping early raises it, so read it beside CG."
_REWARDS_FINDING_LESS = "Finding less finishes sooner, so read it beside GR."

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
        needs_labels=True, function=iterations_after_last_good,
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

POOL_ITERATION_METRICS: tuple[Metric, ...] = (
    Metric(
        "pool_recall_at_i", "share", "Share of the pool's good documents found so far.", "higher",
        _NO_GOOD_IN_POOL, "good pool documents found by i / good pool documents of the topic",
        words="Recall of the pool so far",
    ),
    Metric(
        "pool_nCG_at_i", "share", "Share of the pool's gain found so far.", "higher",
        _NO_GOOD_IN_POOL,
        "sum of the gains of good pool documents found by i / sum of the gains of all good pool "
        "documents of the topic",
        words="Gain of the pool so far",
    ),
    Metric(
        "pool_nDCG_at_i", "share", "Share of the pool's gain found so far, worth less when late.",
        "higher", _NO_GOOD_IN_POOL,
        "sum of gain / log2(k + 1) of good pool documents found at k <= i / the pool's gain",
        words="Discounted gain of the pool so far",
    ),
)  # fmt: skip

ITERATION_METRICS: tuple[Metric, ...] = (
    Metric(
        "calls", "calls", "Search calls of the iteration.", "neither", "",
        "number of usable search calls of iteration i", True, words="Search calls",
    ),
    Metric(
        "R_i", "results", "Results of the iteration.", "neither", "", "|R^i|", True,
        words="Results",
    ),
    Metric(
        "UR_i", "results", "Documents that the iteration found for the first time.", "neither",
        "", "|UR^i|: first occurrences in iteration i", True, words="Distinct results",
    ),
    Metric(
        "GR_i", "results", "Good documents that the iteration found for the first time.",
        "higher", "", "|GR^i|: first occurrences with gain >= good_gain_threshold", True,
        bounded=True, needs_labels=True, words="Good results",
    ),
    Metric(
        "Dup_i", "results", "Results of the iteration that repeat an earlier one.", "lower", "",
        "|R^i| - |UR^i|", True, words="Repeated results",
    ),
    Metric(
        "G_i", "gain", "Good, new material that the iteration found.", "higher", "",
        "sum of gain over GR^i", True, bounded=True, needs_labels=True, words="Gain",
    ),
    Metric(
        "unlabelled_i", "results", "Results of the iteration without a label.", "neither", "",
        "number of results of iteration i with gain null", True, words="Unlabelled results",
    ),
    Metric(
        "AvgGain_i", "gain per result", "Good, new material per result of the iteration.",
        "higher", "", "G_i / |R^i|, 0 if |R^i| = 0", bounded=True, needs_labels=True,
        words="Gain per result",
    ),
    Metric(
        "R_at_i", "results", "Results so far, duplicates included.", "neither", "",
        "sum of |R^k| for k = 1..i", True, words="Results so far",
    ),
    Metric(
        "UR_at_i", "results", "Distinct documents so far.", "neither", "",
        "sum of |UR^k| for k = 1..i", True, words="Distinct results so far",
    ),
    Metric(
        "GR_at_i", "results", "Distinct good documents so far.", "higher", "",
        "sum of |GR^k| for k = 1..i", True, bounded=True, needs_labels=True,
        words="Good results so far",
    ),
    Metric(
        "DupR_at_i", "results", "Results so far that repeat an earlier one.", "lower", "",
        "R@i - UR@i", True, words="Repeated results so far",
    ),
    Metric(
        "CG_at_i", "gain", "Good, new material gathered so far.", "higher", "",
        "sum of G_k for k = 1..i", True, bounded=True, needs_labels=True, words="Gain so far",
    ),
    Metric(
        "RG_at_i", "gain per iteration", "Good, new material so far per iteration.", "higher", "",
        "CG@i / i", bounded=True, needs_labels=True, words="Gain per iteration so far",
    ),
    Metric(
        "DCG_at_i", "gain", "Good, new material so far, worth less the later it came.", "higher",
        "", "sum of G_k / log2(k + 1) for k = 1..i", bounded=True, needs_labels=True,
        words="Discounted gain so far",
    ),
    Metric(
        "DRG_at_i", "gain per iteration", "DCG@i per iteration.", "higher", "", "DCG@i / i",
        bounded=True, needs_labels=True, words="Discounted gain per iteration so far",
    ),
    Metric(
        "RAG_at_i", "gain per result", "Good, new material per result, averaged over iterations.",
        "higher", "", "(1/i) sum of AvgGain_k for k = 1..i", bounded=True, needs_labels=True,
        words="Gain per result so far",
    ),
    Metric(
        "DRAG_at_i", "gain per result", "RAG@i, with later iterations worth less.", "higher", "",
        "(1/i) sum of AvgGain_k / log2(k + 1) for k = 1..i", bounded=True, needs_labels=True,
        words="Discounted gain per result so far",
    ),
    Metric(
        "SRE_at_i", "share", "Share of the results so far that were good and new.", "higher", "",
        "GR@i / R@i, 0 if R@i = 0", bounded=True, needs_labels=True,
        words="Good and new results so far",
    ),
    Metric(
        "SRR_at_i", "share", "Share of the results so far that repeated an earlier one.", "lower",
        "", "DupR@i / R@i, 0 if R@i = 0", words="Repeated results so far",
    ),
)  # fmt: skip


AT_END = {metric.name: metric for metric in CONVERSATION_METRICS + POOL_METRICS}
BY_ITERATION = {metric.name: metric for metric in ITERATION_METRICS + POOL_ITERATION_METRICS}
OF_POOL = frozenset(metric.name for metric in POOL_METRICS + POOL_ITERATION_METRICS)


def cautions(names: Iterable[str]) -> dict[str, list[str]]:
    """The distinct cautions about metrics of conversations, each with the labels of its metrics."""
    labels: dict[str, list[str]] = {}
    for metric in filter(None, map(AT_END.get, dict.fromkeys(names))):
        if metric.caution:
            labels.setdefault(metric.caution, []).append(metric.label)
    return labels
