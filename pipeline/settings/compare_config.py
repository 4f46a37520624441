"""The options of a comparison."""

from __future__ import annotations

from pydantic import field_validator

from goodgain.pipeline.settings.catalogue import OTHER_PARAMETERS
from goodgain.pipeline.settings.option_fields import ARMS, RESULTS, STATISTICS, argument, option
from goodgain.pipeline.settings.option_types import (
    DistinctNames,
    Patterns,
    Slices,
    Text,
    Tolerances,
)
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.comparison.adjustment import AdjustmentMethod
from goodgain.transforms.core.files.format_names import Format
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.number import Number, RealNumber
from goodgain.transforms.core.option import COMMON
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import GREATEST_MAX_I

_LEAST_RESAMPLES = 100
_MOST_RESAMPLES = 1_000_000  # all means of resamples are kept: 8 MB a metric


class CompareConfig(Settings):
    """What is compared, how, and where the result goes."""

    outputs: Patterns = argument(
        "DIR",
        "outputs of `goodgain run`: BASE and CANDIDATE, or a single one to split with "
        + Remedy("by"),
    )
    output: Text | None = option(
        COMMON, "DIR", "also write all rows as datasets, and report.html", None, keyword=""
    )
    by: Text | None = option(COMMON, "ATTRIBUTE", "attribute whose values are the arms", None)
    base: Text | None = option(COMMON, "VALUE", "its value in the base arm", None)
    candidate: Text | None = option(
        COMMON, "VALUE", "its value in the candidate arm; the only other one by default", None
    )
    pair_by: Text | None = option(
        COMMON,
        "ATTRIBUTE",
        "pair by an attribute like query_id; conversations of an arm with the same value count as "
        "one, with their mean; conversation_id by default, if the arms share any",
        None,
    )
    slice: Slices = option(
        COMMON,
        "NAMES",
        "attributes to compare by, like market, or model,market for both at once",
        (),
        keyword="slices",
    )
    metrics: DistinctNames = option(
        COMMON,
        "NAME",
        "metrics to compare, over the whole turn (at N) and by i; all by default",
        (),
    )
    primary: Text | None = option(
        COMMON,
        "NAME",
        "metric that answers the question, over the whole turn (at N); tested alone; the first of "
        "the family by default",
        None,
    )
    cluster: Text | None = option(
        COMMON,
        "ATTRIBUTE",
        "attribute shared by conversations that are not independent, like repeated runs of a "
        "query; intervals and tests allow for it; the runs' " + Remedy("cluster") + " by default",
        None,
    )
    overwrite: bool = option(
        COMMON, "", "replace the contents of " + Remedy("output"), False, keyword=""
    )
    unpaired: bool = option(ARMS, "", "compare as two samples although pairs exist", False)
    pool: Text | None = option(
        ARMS,
        "POOL",
        "measure both against this pool: a run not scored with its current state is scored again "
        "from its traces, without changing its folder",
        None,
    )
    force: bool = option(
        ARMS,
        "",
        f"compare runs even if {OTHER_PARAMETERS}; the result says so",
        False,
    )
    family: DistinctNames = option(
        STATISTICS,
        "NAME",
        "metrics that the decision rests on; their p values are corrected together, apart from "
        "all others; by default those of " + Remedy("metrics") + ", else the headline metrics",
        (),
    )
    tolerance: Tolerances = option(
        STATISTICS,
        "VALUE",
        "smallest difference that makes a pair good or bad: 0.01, or CG=1 for one metric; 0 by "
        "default",
        (),
        keyword="tolerances",
    )
    confidence: RealNumber = option(STATISTICS, "SHARE", "level of intervals", 0.95, gt=0, lt=1)
    interval: Interval = option(
        STATISTICS,
        "HOW",
        "the statistic behind intervals, p values and verdicts: t corrected for skewness (hall) "
        "or plain t (student)",
        "hall",
    )
    correction: AdjustmentMethod = option(
        STATISTICS,
        "HOW",
        "how p values are corrected for many metrics; the corrected p decides the verdict",
        "holm",
    )
    bootstrap: Number = option(
        STATISTICS,
        "N",
        "also compute BCa bootstrap intervals of the family, from N resamples, like 9999; 0 is "
        "none",
        0,
        ge=0,
        le=_MOST_RESAMPLES,
    )
    seed: Number = option(STATISTICS, "S", "seed of the bootstrap", 1, ge=0)
    sensitivity: bool = option(
        STATISTICS,
        "",
        "also score both arms again under other policies: copies that keep their slots, no "
        "de-duplication, exact ids only, thresholds 1 to 3; takes several runs",
        False,
        keyword="",
    )
    wilcoxon: bool = option(STATISTICS, "", "also run Wilcoxon's signed-rank test on pairs", False)
    sign: bool = option(STATISTICS, "", "also run the sign test on pairs", False)
    at: Number | None = option(
        RESULTS,
        "I",
        "show the metrics at iteration I instead of those of the whole turn",
        None,
        ge=1,
        keyword="",
    )
    max_i: Number | None = option(
        RESULTS, "I", "last iteration i; as in the runs by default", None, ge=1, le=GREATEST_MAX_I
    )
    examples: Number = option(RESULTS, "N", "number of wins and of losses to list", 5, ge=0)
    examples_by: Text | None = option(
        RESULTS, "NAME", "metric to choose them by; the first of the family by default", None
    )
    format: Format = option(RESULTS, "FORMAT", "for " + Remedy("output"), "parquet", keyword="")

    @field_validator("bootstrap")
    @classmethod
    def _resamples_suffice(cls, resamples: int) -> int:
        if 0 < resamples < _LEAST_RESAMPLES:
            raise ValueError(f"must be 0 or at least {_LEAST_RESAMPLES}, not {resamples}")
        return resamples
