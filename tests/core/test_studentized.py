"""Hall's t: its interval follows the formula, agrees with its test, and is Student's at a = 0."""

from math import cbrt, isfinite, sqrt

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.statistics import Studentized, has_spread

asymmetries = st.floats(-0.999, 0.999) | st.sampled_from([0.0, 1e-300, 1e-17, -1e-9, 0.999])


@given(st.floats(-5, 5), st.floats(0.01, 10), st.floats(1, 1e6), st.floats(0.5, 0.999))
def test_without_asymmetry_it_equals_students(estimate, stderr, freedom, confidence):
    ours = Studentized(estimate, stderr, freedom)
    theirs = stats.t.interval(confidence, freedom, estimate, stderr)
    assert ours.interval(confidence) == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    assert ours.p_value == pytest.approx(2 * stats.t.sf(abs(estimate / stderr), freedom), rel=1e-9)


@pytest.mark.parametrize("asymmetry", [0.3, -0.3, 0.9, -0.9])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_ends_of_the_interval_follow_the_formula(asymmetry, confidence):
    """3 ((1 + a (y - a / 6))^(1/3) - 1) / a at y = t and y = -t."""
    t = stats.t.ppf((1 + confidence) / 2, 19)
    low, high = (
        10 - 2 * 3 * (cbrt(1 + asymmetry * (y - asymmetry / 6)) - 1) / asymmetry for y in (t, -t)
    )
    ours = Studentized(10, 2, 19, asymmetry).interval(confidence)
    assert ours == pytest.approx((low, high), rel=1e-12)


@given(st.floats(-8, 8), asymmetries, st.floats(2, 1e4), st.floats(0.3, 0.999), st.booleans())
def test_the_interval_excludes_0_exactly_when_the_test_rejects_it(
    t, asymmetry, freedom, confidence, covers_student
):
    found = Studentized(t, 1.0, freedom, asymmetry, covers_student)
    assume(abs(found.p_value - (1 - confidence)) > 1e-9)
    low, high = found.interval(confidence)
    assert (low <= 0 <= high) == (found.p_value > 1 - confidence)


@given(asymmetries, st.floats(1, 1e4), st.floats(0.001, 0.998))
def test_a_greater_confidence_gives_a_wider_interval(asymmetry, freedom, confidence):
    found = Studentized(1.0, 0.5, freedom, asymmetry)
    narrow, wide = found.interval(confidence), found.interval(confidence + 0.001)
    assert wide[0] < narrow[0] <= narrow[1] < wide[1]


@given(asymmetries, st.floats(-0.1, 0.1))
@example(0.47148164616872945, 0.0625)  # a cube root of nearly 0, where it is steep
def test_a_small_asymmetry_changes_little(asymmetry, change):
    found = Studentized(0.0, 1.0, 30, asymmetry).interval(0.95)
    tiny = Studentized(0.0, 1.0, 30, asymmetry + change * 1e-9).interval(0.95)
    assert tiny == pytest.approx(found, abs=2e-3)


@pytest.mark.parametrize("asymmetry", [0.9, -0.9, 0.0])
@pytest.mark.parametrize("estimate", [1e300, -1e300, 1e-300])
def test_huge_and_tiny_t_have_a_p_value(asymmetry, estimate):
    for stderr in (1e-10, 1e-300, 1e300):
        found = Studentized(estimate, stderr, 5, asymmetry)
        assert 0 <= found.p_value <= 1
        assert all(map(isfinite, found.interval(0.95)))


def test_intervals_of_right_skewed_samples_extend_further_up():
    low, high = Studentized(1.0, 0.2, 19, 1.5 / sqrt(20)).interval(0.95)
    assert high - 1 > 1 - low


@given(st.floats(-8, 8), asymmetries, st.floats(2, 1e4), st.floats(0.3, 0.999))
@example(1.4375, -(2.0**-52), 454.0, 0.5)  # stdtr is not monotone in the last bit
def test_covers_student_gives_the_hull_of_both_intervals(t, asymmetry, freedom, confidence):
    hall = Studentized(t, 1.0, freedom, asymmetry)
    student = Studentized(t, 1.0, freedom)
    hull = Studentized(t, 1.0, freedom, asymmetry, covers_student=True)
    lows, highs = zip(hall.interval(confidence), student.interval(confidence), strict=True)
    assert hull.interval(confidence) == pytest.approx((min(lows), max(highs)), rel=1e-12)
    assert hull.p_value == pytest.approx(max(hall.p_value, student.p_value), rel=1e-12)


def test_rounding_errors_are_not_spread():
    assert not has_spread(0.0, 0.0)
    assert not has_spread(0.0, 1.0)
    assert not has_spread(1e-13, 1.0)
    assert has_spread(1e-11, 1.0)
    assert has_spread(5e-324, 0.0)
