"""Welch's t-test: two samples that need not have the same variance or size."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, hypot, log, sqrt

import numpy as np
from msgspec.structs import replace

from goodgain.transforms.core.comparison.cluster_errors import (
    ClusteredError,
    Codes,
    error_of_difference,
)
from goodgain.transforms.core.comparison.differences import (
    DEFAULT_OPTIONS,
    ComparisonOptions,
    DifferenceTest,
    MetricComparison,
    difference_test,
    metric_comparison,
)
from goodgain.transforms.core.comparison.samples import (
    Array,
    Moments,
    check_values,
    difference_of_means,
    measure_moments,
    rounding_grain,
)
from goodgain.transforms.core.special_functions import log_gamma
from goodgain.transforms.core.statistics import has_spread


def compare_unpaired(
    base: Sequence[float] | Array,
    candidate: Sequence[float] | Array,
    options: ComparisonOptions = DEFAULT_OPTIONS,
    codes: tuple[Codes, Codes] | None = None,
) -> MetricComparison:
    """Welch's t-test of candidate - base, two-sided, with its interval.

    Corrected for the skewness of the difference unless Student's t is requested. If neither sample
    has any variance, t, the interval, the effect size and the detectable effect are None, and the p
    value is that of the exact permutation test, which redistributes the values between the arms: 1
    if both have the same value, else the share of redistributions that separate the two values as
    completely.

    Args:
      base, candidate: values in the unit of the metric, in any order and number.
      codes: the cluster numbers of each arm's values, see `error_of_difference`; None = values are
        independent.

    Raises:
      UsageError: a value is not a finite number.
    """
    base, candidate = check_values(base, "base"), check_values(candidate, "candidate")
    grain = rounding_grain(base, candidate)
    before, after = measure_moments(base, grain), measure_moments(candidate, grain)
    difference = None
    if before.mean is not None and after.mean is not None:
        difference = difference_of_means(after.mean - before.mean, base, candidate)
    if codes is None or difference is None:
        test = _test(before, after, difference, options)
    else:
        error = error_of_difference(base, codes[0], candidate, codes[1])
        greatest = max(float(np.abs(arm).max()) for arm in (base, candidate))
        test = _test_clustered(before, after, difference, error, greatest, options)
        test = replace(test, clusters=error.clusters, effective_clusters=error.effective)
    return metric_comparison(
        design="unpaired",
        base=before,
        candidate=after,
        difference=difference,
        test=test,
        options=options,
    )


def _test(
    base: Moments,
    candidate: Moments,
    difference: float | None,
    options: ComparisonOptions,
) -> DifferenceTest:
    if difference is None:
        return DifferenceTest(note="an arm has no value")
    if base.stddev is None or candidate.stddev is None:
        return DifferenceTest(note="an arm with one value has no interval and no test")
    if base.stddev == 0 and candidate.stddev == 0:
        return _test_without_spread(base.n, candidate.n, difference == 0)
    base_stderr = base.stddev / sqrt(base.n)
    candidate_stderr = candidate.stddev / sqrt(candidate.n)
    stderr = hypot(base_stderr, candidate_stderr)
    # Shares of the variance, so that tiny values do not underflow (Welch 1947, Satterthwaite 1946).
    base_share, candidate_share = (base_stderr / stderr) ** 2, (candidate_stderr / stderr) ** 2
    degrees_of_freedom = 1 / (base_share**2 / (base.n - 1) + candidate_share**2 / (candidate.n - 1))
    effect_size = _hedges_g(difference, base.n, base.stddev, candidate.n, candidate.stddev)
    # The third cumulant of a difference of means is the difference of theirs.
    asymmetry = candidate.asymmetry * candidate_share**1.5 - base.asymmetry * base_share**1.5
    return difference_test(difference, stderr, degrees_of_freedom, asymmetry, effect_size, options)


def _test_clustered(
    base: Moments,
    candidate: Moments,
    difference: float,
    error: ClusteredError,
    greatest: float,
    options: ComparisonOptions,
) -> DifferenceTest:
    if error.stderr is None or error.degrees_of_freedom is None:
        note = "an arm with one cluster has no interval and no test"
        return DifferenceTest(note=note)
    if not has_spread(error.stderr, greatest):
        note = "no cluster differs from another, so there is no interval"
        p_value = 1.0 if difference == 0 else None
        return DifferenceTest(p_value=p_value, note=note)
    effect_size = None
    if base.stddev is not None and candidate.stddev is not None and base.stddev + candidate.stddev:
        effect_size = _hedges_g(difference, base.n, base.stddev, candidate.n, candidate.stddev)
    return difference_test(
        difference, error.stderr, error.degrees_of_freedom, 0.0, effect_size, options
    )


def _hedges_g(
    difference: float, base_n: int, base_stddev: float, candidate_n: int, candidate_stddev: float
) -> float:
    """Hedges (1981): the difference in pooled standard deviations, with the exact correction."""
    freedom = base_n + candidate_n - 2
    pooled = hypot(base_stddev * sqrt(base_n - 1), candidate_stddev * sqrt(candidate_n - 1)) / sqrt(
        freedom
    )
    log_correction = log_gamma(freedom / 2) - log_gamma((freedom - 1) / 2) - log(freedom / 2) / 2
    return difference / pooled * exp(log_correction)


def _test_without_spread(base_n: int, candidate_n: int, equal: bool) -> DifferenceTest:
    if equal:
        return DifferenceTest(p_value=1.0, note="no value differs, so there is no interval")
    as_extreme = 2 if base_n == candidate_n else 1
    log_deals = (
        log_gamma(base_n + candidate_n + 1) - log_gamma(base_n + 1) - log_gamma(candidate_n + 1)
    )
    return DifferenceTest(
        p_value=as_extreme * exp(-log_deals),
        note="each arm has only one distinct value, so there is no interval; "
        "p is that of the exact permutation test",
    )
