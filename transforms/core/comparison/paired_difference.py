"""The paired t-test: pair by pair, so that what is hard for both arms cancels out."""

from __future__ import annotations

from collections.abc import Sequence
from math import ldexp, sqrt

import numpy as np
from msgspec.structs import replace

from goodgain.transforms.core.comparison.cluster_errors import ClusteredError, Codes, error_of_mean
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
    check_pairs,
    difference_of_means,
    measure_moments,
    rounding_grain,
)
from goodgain.transforms.core.statistics import has_spread


def compare_paired(
    base: Sequence[float] | Array,
    candidate: Sequence[float] | Array,
    options: ComparisonOptions = DEFAULT_OPTIONS,
    codes: Codes | None = None,
) -> MetricComparison:
    """The paired t-test of candidate - base, two-sided, with its interval.

    It tests the differences, corrected for their skewness unless Student's t is requested. If every
    pair differs by the same amount, there is no variance. Then t, the interval, the effect size and
    the detectable effect are None, and the p value is that of the exact randomisation test, which
    swaps the arms within pairs: 1 if no pair differs, else 2^(1 - n), since only two of the 2^n
    swaps are as extreme.

    Args:
      base, candidate: the values of pair j are at index j, in the unit of the metric.
      codes: the cluster number of each pair; then t is Student's with clusters - 1 degrees of
        freedom, and the randomisation test swaps whole clusters. None = pairs are independent.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    base, candidate = check_pairs(base, candidate)
    grain = rounding_grain(base, candidate)
    differences = measure_moments(candidate - base, grain)
    if differences.mean is not None:
        mean = difference_of_means(differences.mean, base, candidate)
        differences = replace(differences, mean=mean)
    if codes is None:
        test = _test(differences, options)
    else:
        error = error_of_mean(candidate - base, codes) if base.size else None
        greatest = max(float(np.abs(arm).max(initial=0.0)) for arm in (base, candidate))
        test = _test_clustered(differences, error, greatest, options)
        if error is not None:
            test = replace(test, clusters=error.clusters, effective_clusters=error.effective)
    return metric_comparison(
        design="paired",
        base=measure_moments(base, grain),
        candidate=measure_moments(candidate, grain),
        difference=differences.mean,
        test=test,
        options=options,
    )


def _test(differences: Moments, options: ComparisonOptions) -> DifferenceTest:
    n, mean, stddev = differences.n, differences.mean, differences.stddev
    if mean is None:
        return DifferenceTest(note="there are no pairs")
    if stddev is None:
        return DifferenceTest(note="one pair has no interval and no test")
    if stddev > 0:
        return difference_test(
            mean, stddev / sqrt(n), n - 1, differences.asymmetry, mean / stddev, options
        )
    if mean == 0:
        return DifferenceTest(p_value=1.0, note="no pair differs, so there is no interval")
    return DifferenceTest(
        p_value=ldexp(1.0, 1 - n),
        note="every pair differs by the same amount, so there is no interval; "
        "p is that of the exact randomisation test",
    )


def _test_clustered(
    differences: Moments,
    error: ClusteredError | None,
    greatest: float,
    options: ComparisonOptions,
) -> DifferenceTest:
    mean = differences.mean
    if mean is None or error is None:
        return DifferenceTest(note="there are no pairs")
    if error.stderr is None or error.degrees_of_freedom is None:
        return DifferenceTest(note="one cluster has no interval and no test")
    if has_spread(error.stderr, greatest):
        effect_size = mean / differences.stddev if differences.stddev else None
        return difference_test(
            mean, error.stderr, error.degrees_of_freedom, 0.0, effect_size, options
        )
    if mean == 0:
        note = "no cluster differs on average, so there is no interval"
        return DifferenceTest(p_value=1.0, note=note)
    return DifferenceTest(
        p_value=ldexp(1.0, 1 - error.clusters),
        note="every cluster differs by the same amount, so there is no interval; "
        "p is that of the exact randomisation test",
    )
