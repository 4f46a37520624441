"""Means of what nobody has labelled: null, with the reason, and not 0 (SPEC 10, no_labels)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics
from goodgain.transforms.core.scoring.costs import cost_metric
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

if TYPE_CHECKING:
    from goodgain.transforms.core.means.rows import Estimate

_NOTE = "no result has a label"
_DECLARED = {
    metric.name: metric.needs_labels
    for metric in (
        *CONVERSATION_METRICS,
        *ITERATION_METRICS,
        *POOL_METRICS,
        *POOL_ITERATION_METRICS,
        GAUC,
        GAUC_WEIGHTED,
    )
}


@lru_cache
def needs_labels(metric: str) -> bool:
    """Whether a metric says nothing where no result has a label."""
    if metric in _DECLARED:
        return _DECLARED[metric]
    if (cost := cost_metric(metric)) is not None:
        return cost.needs_labels
    return parse_ranking_metrics([metric])[0].declaration.needs_labels


def without_labels(estimate: Estimate) -> Estimate:
    """Of a metric that needs labels, over conversations none of whose results has one."""
    return replace(
        estimate,
        n=0,
        undefined=estimate.n + estimate.undefined,
        mean=None,
        stddev=None,
        stderr=None,
        skewness=None,
        ci_low=None,
        ci_high=None,
        interval=None,
        clusters=None if estimate.clusters is None else 0,
        intraclass_correlation=None,
        note=_NOTE,
        worst=None,
        best=None,
        min=None,
        max=None,
        p10=None,
        p50=None,
        p90=None,
    )
