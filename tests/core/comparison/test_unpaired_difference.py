"""Welch's t-test against scipy, and its notes if a test is impossible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import integrate, stats

from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from tests.core.comparison import populations

STUDENT = ComparisonOptions(interval="student")
VALUES = st.lists(
    st.floats(-1e3, 1e3) | st.integers(0, 3) | st.sampled_from([1e-200, 1e250]), max_size=12
)


@pytest.mark.parametrize(
    "population", [populations.normal, populations.precisions, populations.gains]
)
@pytest.mark.parametrize(("n", "other"), [(5, 9), (200, 30), (1000, 1000)])
def test_statistics_equal_scipy(population, n, other):
    generator = np.random.default_rng(n)
    base, candidate = population(generator, 1, n)[0][0], population(generator, 1, other, 0.05)[1][0]
    ours = compare_unpaired(base, candidate, STUDENT)
    theirs = stats.ttest_ind(candidate, base, equal_var=False)
    interval = theirs.confidence_interval(0.95)
    assert (ours.t, ours.degrees_of_freedom, ours.p_value, ours.ci_low, ours.ci_high) == (
        pytest.approx(
            (theirs.statistic, theirs.df, theirs.pvalue, interval.low, interval.high), rel=1e-9
        )
    )
    assert (ours.n_base, ours.n_candidate, ours.note) == (n, other, None)


def test_with_one_constant_arm_the_skewness_is_that_of_the_other():
    skewed = [1.0, 0.0, 0.0, 0.0, 0.0]
    above, below = compare_unpaired([0.0] * 9, skewed), compare_unpaired(skewed, [0.0] * 9)
    assert above.asymmetry == pytest.approx(1.5 / np.sqrt(5))
    assert (below.ci_low, below.ci_high) == pytest.approx((-above.ci_high, -above.ci_low))
    assert below.p_value == pytest.approx(above.p_value)


def test_equally_skewed_arms_have_a_symmetric_difference():
    skewed = [1.0, 0.0, 0.0, 0.0, 0.0]
    assert compare_unpaired(skewed, [3.0, 2.0, 2.0, 2.0, 2.0]).asymmetry == pytest.approx(0)


@pytest.mark.slow
def test_hedges_g_is_unbiased():
    """Hedges (1981): the expected g is the true difference in standard deviations."""
    generator = np.random.default_rng(81)
    base, candidate = generator.normal(0, 1, (8000, 5)), generator.normal(0.8, 1, (8000, 7))
    sizes = [compare_unpaired(*arms).effect_size for arms in zip(base, candidate, strict=True)]
    assert np.mean(sizes) == pytest.approx(0.8, abs=4 * np.std(sizes) / np.sqrt(len(sizes)))


def test_hedges_g_by_hand():
    """Sums of squares 2 and 8/3 over 3 degrees of freedom; the correction from its definition."""
    pooled = np.sqrt((2 + 8 / 3) / 3)
    bias = integrate.quad(lambda x: stats.chi.pdf(x, 3) / x, 0, np.inf)[0] * np.sqrt(3)
    comparison = compare_unpaired([0.0, 2.0], [2.0, 4.0, 4.0])
    assert comparison.effect_size == pytest.approx((10 / 3 - 1) / pooled / bias)


@pytest.mark.parametrize(("base", "candidate"), [([], [1.0]), ([1.0, 2.0], []), ([], [])])
def test_an_empty_arm_has_no_difference(base, candidate):
    empty = compare_unpaired(base, candidate)
    assert (empty.difference, empty.p_value, empty.note) == (
        None,
        None,
        "an arm has no value",
    )


def test_an_arm_with_one_value_has_no_test():
    one = compare_unpaired([1.0], [2.0, 3.0])
    assert (one.difference, one.p_value, one.ci_low) == (1.5, None, None)
    assert one.note == "an arm with one value has no interval and no test"


@pytest.mark.filterwarnings("ignore:Precision loss")  # of scipy, for the arm with constant values
def test_one_constant_arm_is_tested():
    ours = compare_unpaired([1.0, 1.0, 1.0], [1.0, 2.0, 4.0], STUDENT)
    theirs = stats.ttest_ind([1.0, 2.0, 4.0], [1.0, 1.0, 1.0], equal_var=False)
    assert (ours.p_value, ours.degrees_of_freedom) == pytest.approx((theirs.pvalue, 2), rel=1e-9)


def test_equal_constants_have_p_1():
    same = compare_unpaired([0.3, 0.1 + 0.2], [0.3, 0.3, 0.3])
    assert (same.p_value, same.ci_low, same.t) == (1.0, None, None)
    assert same.note == "no value differs, so there is no interval"


@pytest.mark.parametrize(("n", "other"), [(2, 2), (3, 5), (4, 4), (6, 2)])
def test_two_constants_get_a_permutation_test(n, other):
    base, candidate = np.full(n, 0.2), np.full(other, 0.7)
    permutations = stats.permutation_test(
        (candidate, base),
        lambda x, y, axis: np.abs(x.mean(axis=axis) - y.mean(axis=axis)),
        alternative="greater",
        n_resamples=np.inf,
    )
    ours = compare_unpaired(base, candidate)
    assert ours.p_value == pytest.approx(permutations.pvalue, rel=1e-9)
    assert ours.note.startswith("each arm has only one distinct value")


@given(VALUES, VALUES)
def test_every_number_is_finite_or_null_with_a_note(base, candidate):
    comparison = compare_unpaired(base, candidate)
    values = structs.asdict(comparison)
    assert all(np.isfinite(value) for value in values.values() if isinstance(value, float))
    missing = {name for name, value in values.items() if value is None}
    explained = missing - {"note", "clusters", "effective_clusters"}
    assert (comparison.note is None) == (not explained)
    assert comparison.p_value is None or 0 <= comparison.p_value <= 1
    assert compare_unpaired(base[::-1], candidate[::-1]) == comparison
