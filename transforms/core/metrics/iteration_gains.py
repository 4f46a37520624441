"""The metrics of gains of each iteration, and all of gains as a group (SPEC 5)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS, DECLARED, ratio
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.prefix import Prefix


def _of_iteration(
    name: str,
    like: str,
    meaning: str,
    formula: str,
    function: Callable[[Prefix], float],
) -> Metric:
    """A metric of one iteration, with unit, direction and words of the metric that it is like."""
    return replace(
        DECLARED[like], name=name, meaning=meaning, formula=formula, function=function,
        undefined="", caution="", so_far=None, by_i=True, headline=(),
    )  # fmt: skip


_SINGLE: tuple[Metric, ...] = (
    _of_iteration(
        "calls", "calls", "Search calls of the iteration.",
        "number of usable search calls of iteration i", lambda prefix: prefix.last.calls,
    ),
    _of_iteration(
        "R_i", "R", "Results of the iteration.", "|R^i|", lambda prefix: prefix.last.results
    ),
    _of_iteration(
        "UR_i", "UR", "Documents that the iteration found for the first time.",
        "|UR^i|: first occurrences in iteration i", lambda prefix: prefix.last.unique,
    ),
    _of_iteration(
        "GR_i", "GR", "Good documents that the iteration found for the first time.",
        "|GR^i|: first occurrences with gain >= good_gain_threshold",
        lambda prefix: prefix.last.good,
    ),
    _of_iteration(
        "Dup_i", "DupR", "Results of the iteration that repeat an earlier one.", "|R^i| - |UR^i|",
        lambda prefix: prefix.last.results - prefix.last.unique,
    ),
    _of_iteration(
        "G_i", "CG", "Good, new material that the iteration found.", "sum of gain over GR^i",
        lambda prefix: prefix.last.gain,
    ),
    _of_iteration(
        "unlabelled_i", "unlabelled", "Results of the iteration without a label.",
        "number of results of iteration i with gain null", lambda prefix: prefix.last.unlabelled,
    ),
    _of_iteration(
        "AvgGain_i", "RAG", "Good, new material per result of the iteration.",
        "G_i / |R^i|, 0 if |R^i| = 0", lambda prefix: ratio(prefix.last.gain, prefix.last.results),
    ),
)  # fmt: skip
GAINS = MetricGroup("of gains, results and repetition", CONVERSATION_METRICS, _SINGLE)
