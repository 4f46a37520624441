"""The result of comparing one metric between two arms."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.transforms.core.comparison.difference_test import ComparisonOptions, DifferenceTest
from goodgain.transforms.core.comparison.samples import Moments
from goodgain.transforms.core.statistics import Studentized

Design = Literal["paired", "unpaired"]
EffectSize = Literal["cohen_dz", "hedges_g"]


class MetricComparison(Struct, frozen=True):
    """Two means and the evidence that they differ; differences are candidate - base.

    Attributes:
      design: whether values were compared pair by pair or as two samples (Welch).
      n_base, n_candidate: number of values; when paired, both are the number of pairs.
      base_mean, candidate_mean, base_stddev, candidate_stddev: of the compared values, in the unit
        of the metric; stddev with n - 1.
      difference: candidate_mean - base_mean.
      relative_difference: difference / |base_mean|, so 0.1 is a rise by 10 %; None if base_mean is
        0.
      difference_stddev: standard deviation of the pairs' differences; None when unpaired.
      stderr: standard error of the difference.
      confidence, ci_low, ci_high: the interval of the difference and its confidence.
      t, degrees_of_freedom, p_value: the two-sided test of no difference; t = difference / stderr.
      asymmetry: used to correct t for skewness, see `Studentized`; 0 in Student's test.
      effect_size: the difference in standard deviations, by the convention in `effect_size_name`:
        Cohen's d_z = difference / difference_stddev, or Hedges' g = difference / pooled stddev,
        corrected for its small-sample bias.
      minimum_detectable_effect: the smallest true difference, in the unit of the metric, that
        this test at this n detects with the requested power.
      clusters: number of clusters of the values; None if they count as independent.
      note: why something is None or unusual, if anything is.
    """

    design: Design
    n_base: int
    n_candidate: int
    base_mean: float | None
    candidate_mean: float | None
    base_stddev: float | None
    candidate_stddev: float | None
    difference: float | None
    relative_difference: float | None
    difference_stddev: float | None
    stderr: float | None
    confidence: float
    ci_low: float | None
    ci_high: float | None
    t: float | None
    degrees_of_freedom: float | None
    asymmetry: float | None
    p_value: float | None
    effect_size: float | None
    effect_size_name: EffectSize
    minimum_detectable_effect: float | None
    clusters: int | None
    note: str | None

    @property
    def studentized(self) -> Studentized | None:
        """The difference as an estimate, for other intervals; None without an interval."""
        if self.difference is None or self.stderr is None or self.degrees_of_freedom is None:
            return None
        return Studentized(
            self.difference,
            self.stderr,
            self.degrees_of_freedom,
            self.asymmetry or 0.0,
            covers_student=True,
        )


def metric_comparison(
    design: Design,
    base: Moments,
    candidate: Moments,
    difference: float | None,
    difference_stddev: float | None,
    test: DifferenceTest,
    options: ComparisonOptions,
) -> MetricComparison:
    """Combine two samples and the test of their difference."""
    relative_difference = _relative(difference, base.mean)
    tested = asdict(test)
    notes = list(filter(None, [tested.pop("note")]))
    if difference is not None and relative_difference is None:
        notes.append("the base mean is 0, so there is no relative difference")
    return MetricComparison(
        design=design,
        n_base=base.n,
        n_candidate=candidate.n,
        base_mean=base.mean,
        candidate_mean=candidate.mean,
        base_stddev=base.stddev,
        candidate_stddev=candidate.stddev,
        difference=difference,
        relative_difference=relative_difference,
        difference_stddev=difference_stddev,
        confidence=options.confidence,
        effect_size_name="cohen_dz" if design == "paired" else "hedges_g",
        note="; ".join(notes) or None,
        **tested,
    )


def _relative(difference: float | None, base_mean: float | None) -> float | None:
    if difference is None or not base_mean:
        return None
    share = difference / abs(base_mean)
    return share if isfinite(share) else None
