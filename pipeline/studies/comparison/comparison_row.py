"""Rows of a comparison: of one measure in one slice, and of one metric under another policy."""

from __future__ import annotations

from typing import Literal

from goodgain.pipeline.studies.comparison.measures import Family
from goodgain.transforms.core.comparison.differences import MetricComparison
from goodgain.transforms.core.metric import ZERO_TO_ONE, Direction
from goodgain.transforms.core.metrics.by_name import metric_by_name
from goodgain.transforms.core.metrics.plan import Population

Verdict = Literal["better", "worse", "changed", "not shown", "not tested", "not comparable"]
DECIDED: tuple[Verdict, ...] = ("better", "worse", "changed")


class ComparisonRow(MetricComparison, frozen=True, kw_only=True):
    """One measure in one slice; differences are candidate - base, in the unit of the metric.

    Attributes: as the columns of `goodgain.pipeline.results.datasets.COMPARISON`, and those by
      which an interval at another confidence is made (`MetricComparison.studentized`). A number is
      None if it has no value, was not requested, or needs the correction of p values, which comes
      later. The population is `everyone`, at N and at each i, if the arms differ in their share of
      conversations that searched.
    """

    slice: dict[str, str]
    metric: str
    i: int | None
    population: Population
    direction: Direction
    own_ideal: bool
    family: Family
    p_holm: float | None = None
    p_benjamini_hochberg: float | None = None
    verdict_confidence: float | None = None
    verdict_ci_low: float | None = None
    verdict_ci_high: float | None = None
    tolerance: float
    good: int | None = None
    same: int | None = None
    bad: int | None = None
    gsb: float | None = None
    gsb_ci_low: float | None = None
    gsb_ci_high: float | None = None
    bootstrap_ci_low: float | None = None
    bootstrap_ci_high: float | None = None
    bootstrap_resamples: int | None = None
    wilcoxon_p: float | None = None
    wilcoxon_p_holm: float | None = None
    wilcoxon_p_benjamini_hochberg: float | None = None
    rank_biserial: float | None = None
    sign_p: float | None = None
    sign_p_holm: float | None = None
    sign_p_benjamini_hochberg: float | None = None
    only_in_base: int
    only_in_candidate: int
    undefined_in_base: int
    undefined_in_candidate: int
    undefined_in_both: int
    worst_base_mean: float | None = None
    worst_candidate_mean: float | None = None
    worst_difference: float | None = None
    verdict: Verdict = "not tested"
    reason: str | None

    @property
    def without_difference(self) -> bool:
        """Whether no value differs between the arms, so that there is no interval."""
        return self.difference == 0 and self.stderr is None and self.p_value is not None

    @property
    def shown_interval(self) -> tuple[float | None, float | None]:
        """The interval to show: the one that decided the verdict, else the uncorrected one."""
        if self.verdict_ci_low is None or self.verdict_ci_high is None:
            return clip_to_possible(self.metric, self.ci_low, self.ci_high)
        return clip_to_possible(self.metric, self.verdict_ci_low, self.verdict_ci_high)


def clip_to_possible(
    metric: str, low: float | None, high: float | None
) -> tuple[float | None, float | None]:
    """An interval of a difference clipped to what is possible, since shares differ by at most 1."""
    if low is None or high is None or metric_by_name(metric).unit not in ZERO_TO_ONE:
        return low, high
    return max(low, -1.0), min(high, 1.0)


class SensitivityRow(ComparisonRow, frozen=True, kw_only=True):
    """A row at N, over all conversations, that was compared under another policy.

    Attributes:
      verdict_changes: whether the verdict differs from that under the runs' own policies.
    """

    policy: str
    verdict_changes: bool
