"""The result of comparing one metric between two arms."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from msgspec.structs import asdict

from goodgain.transforms.core.comparison.difference_test import ComparisonOptions, DifferenceTest
from goodgain.transforms.core.comparison.samples import Moments
from goodgain.transforms.core.statistics import Studentized

Design = Literal["paired", "unpaired"]
EffectSize = Literal["cohen_dz", "hedges_g"]


class MetricComparison(DifferenceTest, frozen=True, kw_only=True):
    """Two means and the evidence that they differ; differences are candidate - base.

    Attributes:
      design: whether values were compared pair by pair or as two samples (Welch).
      n_base, n_candidate: number of values; when paired, both are the number of pairs.
      base_mean, candidate_mean, base_stddev, candidate_stddev: of the compared values, in the unit
        of the metric; stddev with n - 1.
      relative_difference: difference / |base_mean|, so 0.1 is a rise by 10 %; None if base_mean is
        0.
      effect_size_name: Cohen's d_z = difference / standard deviation of the pairs' differences, or
        Hedges' g = difference / pooled stddev, corrected for its small-sample bias.
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
    confidence: float
    effect_size_name: EffectSize

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
