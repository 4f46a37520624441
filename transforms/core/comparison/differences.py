"""The t-test of a difference whose standard error was estimated, and the comparison of a metric."""

from __future__ import annotations

from math import isfinite
from typing import Literal

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.transforms.core.comparison.samples import Moments
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.special_functions import student_quantile
from goodgain.transforms.core.statistics import Studentized


class ComparisonOptions(Struct, frozen=True):
    """The options of a comparison.

    Attributes:
      confidence: confidence of the intervals; the two-sided level of the tests is 1 - confidence.
      power: the probability with which the minimum detectable effect is detected.
      interval: whether t is corrected for skewness (`hall`) or plain (`student`), for the intervals
        and for the tests.

    Raises:
      UsageError: confidence or power is outside (0, 1).
    """

    confidence: float = 0.95
    power: float = 0.8
    interval: Interval = "hall"

    def __post_init__(self) -> None:
        for name, value in (("confidence", self.confidence), ("power", self.power)):
            if not 0 < value < 1:
                raise UsageError(f"`{name}` is {value}: give a number between 0 and 1.")


DEFAULT_OPTIONS = ComparisonOptions()


class DifferenceTest(Struct, frozen=True):
    """The two-sided test of no difference.

    Attributes:
      t, degrees_of_freedom, p_value: of the test; t = difference / stderr.
      asymmetry: used to correct t for skewness, see `Studentized`; 0 in Student's test.
      effect_size: the difference in standard deviations.
      minimum_detectable_effect: the smallest true difference, in the unit of the metric, that
        this test at this n detects with the requested power, before any correction of p.
      clusters: number of clusters of the values; None if they count as independent.
      effective_clusters: number of clusters of the same size that would weigh as much.
      note: why something is None or unusual, if anything is.
    """

    stderr: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    t: float | None = None
    degrees_of_freedom: float | None = None
    asymmetry: float | None = None
    p_value: float | None = None
    effect_size: float | None = None
    minimum_detectable_effect: float | None = None
    clusters: int | None = None
    effective_clusters: float | None = None
    note: str | None = None


def difference_test(
    difference: float,
    stderr: float,
    degrees_of_freedom: float,
    asymmetry: float,
    effect_size: float | None,
    options: ComparisonOptions,
) -> DifferenceTest:
    """Interval, t, two-sided p and detectable effect of one difference.

    The minimum detectable effect is the longer side of the interval plus t[power] * stderr, where
    t[power] is a quantile of Student's distribution with these degrees of freedom: if the true
    difference has this size, the test detects it with probability `power`. It is an estimate, since
    stderr and interval are the observed ones.

    Args:
      difference, stderr: in the unit of the metric; stderr > 0.
      asymmetry: see `Studentized`; not used for Student's t.
    """
    asymmetry = asymmetry if options.interval == "hall" else 0.0
    estimate = Studentized(difference, stderr, degrees_of_freedom, asymmetry, covers_student=True)
    low, high = estimate.interval(options.confidence)
    longer_side = max(difference - low, high - difference)
    power_margin = student_quantile(degrees_of_freedom, options.power) * stderr
    return DifferenceTest(
        stderr=stderr,
        ci_low=low,
        ci_high=high,
        t=estimate.t,
        degrees_of_freedom=degrees_of_freedom,
        asymmetry=asymmetry,
        p_value=estimate.p_value,
        effect_size=effect_size,
        minimum_detectable_effect=longer_side + power_margin,
    )


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
