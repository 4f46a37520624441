"""Values are checked, and values that differ only by rounding count as equal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.samples import (
    measure_moments,
    round_differences,
    rounding_grain,
)
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from goodgain.transforms.core.errors import UsageError

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e301])
def test_rejects_a_value_that_cannot_be_compared_with_its_position(value):
    with pytest.raises(UsageError, match="Value 2 of candidate"):
        compare_paired([1, 2], [1, value])
    with pytest.raises(UsageError, match="Value 1 of base"):
        compare_unpaired([value], [1])


def test_rejects_values_of_two_dimensions():
    with pytest.raises(UsageError, match="2 dimensions"):
        compare_unpaired([[1.0, 2.0]], [1.0])


def test_rejects_pairs_of_different_lengths():
    with pytest.raises(UsageError, match=r"base \(3\).*candidate \(2\)"):
        compare_paired([1, 2, 3], [1, 2])


def test_differences_that_differ_only_by_rounding_are_tied():
    base, candidate = np.array([0.1, 0.2, 0.3, 0.7]), np.array([0.2, 0.3, 0.4, 0.8])
    assert len(set((candidate - base).tolist())) > 1
    assert len(set(round_differences(base, candidate).tolist())) == 1


def test_equal_means_do_not_differ_by_rounding():
    base, candidate = np.array([0.1, 0.2, 0.3] * 4), np.array([0.2, 0.3, 0.1] * 4)
    constant = np.array([0.2] * 12)
    clusters = np.arange(12)
    for compared in (
        compare_paired(base, candidate),
        compare_paired(base, constant),
        compare_paired(base, constant, codes=clusters),
        compare_unpaired(base, constant),
        compare_unpaired(base, constant, codes=(clusters, clusters)),
    ):
        assert (compared.difference, compared.relative_difference, compared.t) == (0, 0, 0)
        assert compared.p_value == 1
        assert compared.ci_low < 0 < compared.ci_high


def test_a_shift_below_rounding_is_no_difference():
    values = np.full(20, 0.3)
    for compared in (
        compare_paired(values, values * (1 + 5e-13)),
        compare_unpaired(values, values * (1 + 5e-13)),
    ):
        assert (compared.difference, compared.p_value) == (0, 1)


def test_small_true_differences_are_kept():
    base, candidate = np.array([1000.0, 5.0]), np.array([1000.0 + 1e-9, 5.0])
    assert round_differences(base, candidate) == pytest.approx([1e-9, 0], rel=0.05)


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20))
def test_differences_of_whole_numbers_are_unchanged(values):
    candidate = np.array(values, dtype=float)
    assert round_differences(candidate[::-1], candidate).tolist() == (
        (candidate - candidate[::-1]).tolist()
    )


@given(VALUES, st.randoms())
def test_moments_equal_numpy_in_any_order(values, random):
    array = np.array(values)
    ours = measure_moments(array, rounding_grain(array))
    assert ours.mean == pytest.approx(array.mean(), rel=1e-9, abs=1e-9)
    assert ours.stddev == pytest.approx(array.std(ddof=1), rel=1e-9, abs=1e-7)
    random.shuffle(values)
    assert measure_moments(np.array(values), rounding_grain(array)) == ours


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_squares_neither_underflow_nor_overflow(scale):
    array = np.array([1.0, 2.0, 4.0])
    scaled = array * scale
    assert measure_moments(scaled, rounding_grain(scaled)).stddev == pytest.approx(
        array.std(ddof=1) * scale, rel=1e-12
    )
