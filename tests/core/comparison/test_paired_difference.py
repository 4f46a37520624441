"""The paired t-test against scipy, and its notes if a test is impossible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from scipy import stats

from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.errors import UsageError
from tests.core.comparison import populations

STUDENT = ComparisonOptions(interval="student")
VALUE = st.floats(-1e3, 1e3) | st.integers(0, 3) | st.sampled_from([0.1, 0.2, 0.3, 1e-200, 1e250])


@pytest.mark.parametrize(
    "population", [populations.normal, populations.precisions, populations.gains]
)
@pytest.mark.parametrize("n", [5, 40, 1000])
def test_figures_equal_scipy(population, n):
    generator = np.random.default_rng(n)
    (base,), (candidate,) = population(generator, 1, n, 0.05)
    ours, theirs = compare_paired(base, candidate, STUDENT), stats.ttest_rel(candidate, base)
    interval = theirs.confidence_interval(0.95)
    assert (ours.t, ours.degrees_of_freedom, ours.p_value, ours.ci_low, ours.ci_high) == (
        pytest.approx(
            (theirs.statistic, theirs.df, theirs.pvalue, interval.low, interval.high), rel=1e-9
        )
    )
    differences = candidate - base
    assert ours.base_mean == pytest.approx(base.mean(), rel=1e-12)
    assert ours.candidate_stddev == pytest.approx(candidate.std(ddof=1), rel=1e-12)
    assert ours.effect_size == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert ours.relative_difference == pytest.approx(differences.mean() / abs(base.mean()))
    assert (ours.n_base, ours.n_candidate, ours.note) == (n, n, None)


def test_intervals_of_skewed_differences_contain_those_of_hall_and_student():
    """For 1, 0, 0, 0, 0: mean 0.2, stderr 0.2, skewness 1.5, so a = 1.5 / sqrt(5)."""
    ours = compare_paired([0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0])
    asymmetry, t = 1.5 / np.sqrt(5), stats.t.ppf(0.975, 4)
    root = np.cbrt(1 + asymmetry * (-t - asymmetry / 6))
    low, high = 0.2 - 0.2 * t, 0.2 - 0.2 * 3 * (root - 1) / asymmetry
    assert (ours.ci_low, ours.ci_high) == pytest.approx((low, high), rel=1e-12)
    assert ours.asymmetry == pytest.approx(asymmetry)
    student = compare_paired([0.0] * 5, [1.0, 0.0, 0.0, 0.0, 0.0], STUDENT)
    assert (student.ci_low, student.ci_high) == pytest.approx((low, 0.2 + 0.2 * t))
    assert (student.asymmetry, student.p_value) == (0.0, ours.p_value)


def test_the_interval_has_the_requested_confidence():
    base, candidate = [1.0, 2.0, 3.0], [2.0, 2.5, 5.0]
    ours = compare_paired(base, candidate, ComparisonOptions(confidence=0.8, interval="student"))
    theirs = stats.ttest_rel(candidate, base).confidence_interval(0.8)
    assert (ours.ci_low, ours.ci_high) == pytest.approx((theirs.low, theirs.high))
    assert ours.confidence == 0.8


@pytest.mark.parametrize("options", [{"confidence": 95}, {"confidence": 0}, {"power": 1}])
def test_rejects_options_outside_0_to_1(options):
    with pytest.raises(UsageError, match="between 0 and 1"):
        ComparisonOptions(**options)


def test_without_pairs_there_is_no_difference():
    empty = compare_paired([], [])
    assert (empty.difference, empty.p_value, empty.note) == (None, None, "there are no pairs")


def test_one_pair_has_only_means_and_a_difference():
    one = compare_paired([2.0], [3.0])
    assert (one.difference, one.relative_difference) == (1.0, 0.5)
    assert (one.base_stddev, one.ci_low, one.t, one.p_value) == (None, None, None, None)
    assert one.note == "one pair has no interval and no test"


def test_equal_arms_have_p_1():
    same = compare_paired([0.1, 0.5, 0.9], [0.1, 0.5, 0.9])
    assert (same.difference, same.p_value) == (0.0, 1.0)
    assert (same.ci_low, same.t, same.effect_size) == (None, None, None)
    assert same.note == "no pair differs, so there is no interval"


def test_arms_that_differ_only_by_rounding_have_p_1():
    base, candidate = [0.1 + 0.2, 0.7, 0.5], [0.3, 0.1 + 0.6, 0.5]
    assert base != candidate
    assert compare_paired(base, candidate).p_value == 1.0


@pytest.mark.parametrize("n", [2, 3, 10])
def test_a_constant_difference_is_tested_by_swapping_the_arms(n):
    base = np.arange(n) / 10
    constant = compare_paired(base, base + 0.1)
    swaps = stats.permutation_test(
        (np.full(n, 0.5),), lambda d, axis: d.mean(axis=axis), permutation_type="samples"
    )
    assert constant.p_value == pytest.approx(swaps.pvalue, rel=1e-12)
    assert constant.difference == pytest.approx(0.1)
    assert (constant.ci_low, constant.effect_size, constant.t) == (None, None, None)
    assert constant.note.startswith("every pair differs by the same amount")


def test_a_base_mean_of_zero_has_no_relative_difference():
    zero = compare_paired([0.0, 0.0, 0.0], [1.0, 0.0, 0.5])
    assert zero.relative_difference is None
    assert zero.difference == 0.5
    assert zero.note == "the base mean is 0, so there is no relative difference"


def test_relative_difference_has_the_sign_of_the_difference():
    assert compare_paired([-2.0, -4.0], [-1.0, -2.0]).relative_difference == 0.5


@given(st.lists(st.tuples(VALUE, VALUE), max_size=12))
def test_every_number_is_finite_or_null_with_a_note(pairs):
    base, candidate = [first for first, _ in pairs], [second for _, second in pairs]
    comparison = compare_paired(base, candidate)
    values = structs.asdict(comparison)
    assert all(np.isfinite(value) for value in values.values() if isinstance(value, float))
    explained = {name for name, value in values.items() if value is None} - {
        "note",
        "clusters",
        "effective_clusters",
    }
    assert (comparison.note is None) == (not explained)
    assert comparison.p_value is None or 0 <= comparison.p_value <= 1


@given(st.lists(st.tuples(VALUE, VALUE), min_size=2, max_size=12), st.randoms())
def test_order_changes_nothing_and_swapping_arms_changes_only_signs(pairs, order):
    base, candidate = [first for first, _ in pairs], [second for _, second in pairs]
    forward = compare_paired(base, candidate)
    backward = compare_paired(candidate, base)
    largest = max(map(abs, base + candidate))
    assert backward.difference == pytest.approx(-forward.difference, rel=1e-9, abs=largest * 1e-12)
    assert backward.p_value == pytest.approx(forward.p_value, rel=1e-9, abs=1e-9)
    order.shuffle(pairs)
    assert compare_paired(*zip(*pairs, strict=True)) == forward
