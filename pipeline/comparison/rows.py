"""A row of `comparison`: the comparison of one measure in one slice."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from goodgain.pipeline.comparison.measures import Family
from goodgain.transforms.core.comparison import Design, EffectSize
from goodgain.transforms.core.means.rows import Population
from goodgain.transforms.core.metric import ZERO_TO_ONE, Direction
from goodgain.transforms.core.scoring.metric_by_name import metric_by_name

Verdict = Literal["better", "worse", "changed", "not shown", "not tested", "not comparable"]


class ComparisonRow(Struct, frozen=True):
    """One measure in one slice; differences are candidate - base, in the unit of the metric.

    Attributes:
      slice: attributes that the conversations share; {} = all conversations.
      metric, i, population: as in `means` (SPEC 6); the population is `everyone`, at N and at i, if
        the arms differ in their share of conversations that searched.
      direction: whether higher or lower values are better.
      own_ideal: measured against what each run found itself (SPEC 10).
      family: the p values of a family are corrected together, those of slices separately.
      design: paired, or unpaired (Welch).
      n_base, n_candidate: number of values compared; when paired, both are the number of pairs.
      relative_difference: difference / |base_mean|.
      p_holm, p_benjamini_hochberg: p_value corrected within the family; null if the verdict is
        withheld, which removes the row from its family.
      verdict_confidence, verdict_ci_low, verdict_ci_high: the interval that the verdict rests on;
        it excludes 0 exactly when the corrected p is at most 1 - confidence.
      effect_size: Cohen's d_z (paired) or Hedges' g, as effect_size_name says.
      minimum_detectable_effect: the smallest true difference that the test detects with the
        requested power.
      clusters: number of clusters of the values; null if values count as independent.
      good, same, bad: number of pairs on which the candidate is better by more than `tolerance`,
        neither, or worse.
      gsb: (good - bad) / (good + same + bad), with its interval; null when unpaired.
      bootstrap_*, wilcoxon_*, sign_*: null unless requested.
      only_in_base, only_in_candidate: number of pairing keys that only one arm has, in this
        population.
      undefined_in_base, undefined_in_candidate, undefined_in_both: number of nulls, see `Sample`.
      worst_*: means and difference if each null were the metric's worst value; null if no value is
        null, or the metric has no worst value.
      verdict: `better`, `worse` or `changed` (for a metric without direction) when the corrected p
        is at most 1 - confidence, `not shown` when it is above, `not tested` when there is no p,
        `not comparable` when the arms do not measure the same thing.
      reason: why it is `not comparable`, as a clause.
      note: why something is null, or a caveat.
    """

    slice: dict[str, str]
    metric: str
    i: int | None
    population: Population
    direction: Direction
    own_ideal: bool
    family: Family
    design: Design
    n_base: int
    n_candidate: int
    base_mean: float | None
    candidate_mean: float | None
    base_stddev: float | None
    candidate_stddev: float | None
    difference: float | None
    relative_difference: float | None
    stderr: float | None
    confidence: float
    ci_low: float | None
    ci_high: float | None
    t: float | None
    degrees_of_freedom: float | None
    p_value: float | None
    p_holm: float | None
    p_benjamini_hochberg: float | None
    verdict_confidence: float | None
    verdict_ci_low: float | None
    verdict_ci_high: float | None
    effect_size: float | None
    effect_size_name: EffectSize
    minimum_detectable_effect: float | None
    clusters: int | None
    tolerance: float
    good: int | None
    same: int | None
    bad: int | None
    gsb: float | None
    gsb_ci_low: float | None
    gsb_ci_high: float | None
    bootstrap_ci_low: float | None
    bootstrap_ci_high: float | None
    bootstrap_resamples: int | None
    wilcoxon_p: float | None
    wilcoxon_p_holm: float | None
    wilcoxon_p_benjamini_hochberg: float | None
    rank_biserial: float | None
    sign_p: float | None
    sign_p_holm: float | None
    sign_p_benjamini_hochberg: float | None
    only_in_base: int
    only_in_candidate: int
    undefined_in_base: int
    undefined_in_candidate: int
    undefined_in_both: int
    worst_base_mean: float | None
    worst_candidate_mean: float | None
    worst_difference: float | None
    verdict: Verdict
    reason: str | None
    note: str | None

    @property
    def shown_interval(self) -> tuple[float | None, float | None]:
        """The interval to show: the one that decided the verdict, else the uncorrected one.

        It is clipped to the possible differences, since shares differ by at most 1.
        """
        low, high = self.verdict_ci_low, self.verdict_ci_high
        if low is None or high is None:
            low, high = self.ci_low, self.ci_high
        if low is None or high is None or metric_by_name(self.metric).unit not in ZERO_TO_ONE:
            return low, high
        return max(low, -1.0), min(high, 1.0)
