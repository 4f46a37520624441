"""Sums of powers: exact in any order, and the moments computed from them (SPEC 6)."""

from collections import Counter
from fractions import Fraction
from math import isclose, isfinite, sqrt

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.means.power_sums import PowerSums

floats = st.one_of(
    st.sampled_from([0.0, 0.1, 1e16, -1e16, 1e-16, 2.0**499, -(2.0**499), 1 / 3, 5e-324]),
    st.floats(-1e150, 1e150),
    st.floats(0, 1),
    st.integers(0, 20).map(float),
)


def power_sums(values):
    return PowerSums.of(Counter(values))


def exact_moments(values):
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions) / len(fractions)
    return mean, *(sum((fraction - mean) ** power for fraction in fractions) for power in (2, 3))


@given(st.lists(floats, min_size=2))
def test_moments_equal_exact_arithmetic(values):
    sums, n = power_sums(values), len(values)
    mean, squares, cubes = exact_moments(values)
    assert sums.mean(n) == float(mean)
    assert sums.variance(n) == float(squares / (n - 1))
    skewness = sums.skewness(n)
    assert isfinite(skewness)
    if squares:
        squared = float(n * cubes**2 / squares**3)
        assert isclose(skewness, sqrt(squared) * (1 if cubes > 0 else -1), rel_tol=1e-14)
    else:
        assert skewness == 0


@given(st.lists(floats), st.randoms(use_true_random=False))
def test_any_order_and_grouping_gives_the_same_sums(values, order):
    shuffled = list(values)
    order.shuffle(shuffled)
    cut = order.randint(0, len(values))
    merged = power_sums(shuffled[:cut]).merge(power_sums(shuffled[cut:]))
    assert merged == power_sums(values) == PowerSums().merge(power_sums(values))


def test_skewness_equals_that_of_scipy():
    values = np.random.default_rng(1).lognormal(size=500)
    assert isclose(power_sums(values.tolist()).skewness(500), stats.skew(values), rel_tol=1e-12)


def test_one_outlier_gives_the_greatest_possible_skewness():
    n = 1_000
    assert isclose(power_sums([1.0] + [0.0] * (n - 1)).skewness(n), (n - 2) / sqrt(n - 1))
    assert power_sums([-1.0] + [0.0] * (n - 1)).skewness(n) < 0
