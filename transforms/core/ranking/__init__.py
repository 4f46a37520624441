"""Ranking metrics of SPEC 8: pure functions over a ranked list of labels and its judged pool."""

from goodgain.transforms.core.ranking.binary import count_judged
from goodgain.transforms.core.ranking.evaluator import RankingEvaluator
from goodgain.transforms.core.ranking.families import FAMILIES, GAUC, GAUC_WEIGHTED, Family
from goodgain.transforms.core.ranking.names import (
    DEFAULT_RANKING_METRICS,
    RankingMetric,
    column_name,
    greatest_cutoff,
    metric_name,
    parse_ranking_metrics,
    respell,
)
from goodgain.transforms.core.ranking.ranked_list import (
    HELD_COPY,
    UNJUDGED,
    RankedList,
    RankedListOptions,
)

__all__ = [
    "DEFAULT_RANKING_METRICS",
    "FAMILIES",
    "GAUC",
    "GAUC_WEIGHTED",
    "HELD_COPY",
    "UNJUDGED",
    "Family",
    "RankedList",
    "RankedListOptions",
    "RankingEvaluator",
    "RankingMetric",
    "column_name",
    "count_judged",
    "greatest_cutoff",
    "metric_name",
    "parse_ranking_metrics",
    "respell",
]
