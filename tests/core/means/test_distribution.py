"""The accumulator of means: exact sums in any order, quantiles within the stated error (SPEC 6)."""

from fractions import Fraction
from math import isclose, sqrt
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.means.distribution import (
    GREATEST_MAGNITUDE,
    MOST_DISTINCT,
    NOTHING,
    Adder,
    Distribution,
)

floats = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 0.1, 1e16, -1e16, 1.0, 1e-16, 2.0**499, -(2.0**499), 1 / 3, 5e-324]
    ),
    st.floats(-1e140, 1e140),
    st.floats(0, 1),
    st.integers(0, 20).map(float),
)


@given(st.lists(floats, min_size=1))
def test_moments_are_exact(values):
    found = Distribution().add(values)
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions) / len(fractions)
    assert found.mean == float(mean)
    if len(values) > 1:
        variance = sum((value - mean) ** 2 for value in fractions) / (len(values) - 1)
        assert found.stddev == sqrt(variance)
    assert (found.n, found.lowest, found.highest) == (len(values), min(values), max(values))


@pytest.mark.parametrize("value", [2.2271e-161, 2.6e-162, 1e-170, 5e-324])
@pytest.mark.parametrize("copies", [2, 3, 1_000])
def test_values_whose_squares_underflow_have_no_deviation(value, copies):
    found = Distribution().add([value] * copies)
    assert found.mean == value
    assert found.stddev == pytest.approx(0, abs=1e-160)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), GREATEST_MAGNITUDE])
def test_rejects_values_that_cannot_be_summed(value):
    with pytest.raises(ValueError, match="not finite"):
        Distribution().add([1.0, value])


@given(
    st.lists(st.tuples(st.lists(floats, max_size=6), st.integers(0, 3)), max_size=8),
    st.randoms(use_true_random=False),
)
def test_any_order_and_grouping_gives_the_same(batches, order):
    whole = Distribution().add(
        [value for values, _ in batches for value in values],
        undefined=sum(undefined for _, undefined in batches),
    )
    parts = [Distribution().add(values, undefined) for values, undefined in batches]
    parts.append(Distribution())
    order.shuffle(parts)
    while len(parts) > 1:
        one = parts.pop(order.randrange(len(parts)))
        other = order.randrange(len(parts))
        parts[other] = parts[other].merge(one)
    (merged,) = parts
    assert merged == whole


@given(st.lists(st.one_of(floats, st.integers(0, 4).map(float)), min_size=1, max_size=60))
def test_quantiles_of_few_values_equal_numpy(values):
    found = Distribution().add(values)
    for share in (0.0, 0.1, 0.25, 0.5, 0.9, 1.0):
        expected = float(np.quantile(np.array(values) + 0.0, share))
        scale = max(abs(found.lowest), abs(found.highest))
        assert isclose(
            found.quantiles([share])[0], expected, rel_tol=1e-9, abs_tol=1e-12 * scale + 5e-324
        )


def test_quantiles_at_the_limit_of_distinct_values_are_exact():
    random = Random(3)
    values = [random.lognormvariate(0, 3) for _ in range(MOST_DISTINCT)]
    found = Distribution().add(values + values[:500])
    assert found.binned is None
    for share in (0.1, 0.5, 0.9):
        expected = np.quantile(np.array(values + values[:500]), share)
        assert found.quantiles([share])[0] == pytest.approx(float(expected), rel=1e-12)


@given(
    seed=st.integers(0, 2**32),
    spread=st.floats(0.1, 8),
    sign=st.sampled_from([1.0, -1.0]),
    zeros=st.integers(0, 900),
)
@settings(max_examples=25)
def test_quantiles_beyond_the_limit_are_within_0_2_percent(seed, spread, sign, zeros):
    random = Random(seed)
    values = [sign * random.lognormvariate(0, spread) for _ in range(MOST_DISTINCT + 500)]
    values += [0.0] * zeros
    found = Distribution().add(values)
    assert found.counts == {}
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        expected = float(np.quantile(values, share))
        assert found.quantiles([share])[0] == pytest.approx(expected, rel=0.002, abs=1e-300)


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20)
def test_binning_does_not_depend_on_order(seed):
    random = Random(seed)
    values = [random.choice([random.random(), float(random.randint(0, 5))]) for _ in range(3_000)]
    whole = Distribution().add(values)
    assert whole.binned is not None
    shuffled = list(values)
    random.shuffle(shuffled)
    merged = Distribution()
    while shuffled:
        size = random.choice([1, 10, 300, 1_100])
        merged = Distribution().add(shuffled[:size]).merge(merged)
        shuffled = shuffled[size:]
    assert merged == whole


def test_no_values_give_nulls():
    for empty in (Distribution(), Distribution().add([], undefined=3)):
        assert (empty.n, empty.mean, empty.stddev, *empty.quantiles([0.5])) == (0, None, None, None)
    assert Distribution().add([], undefined=3).undefined == 3
    assert Distribution().add([2.5]).stddev is None


def test_minus_zero_is_zero():
    assert Distribution().add([-0.0]) == Distribution().add([0.0])
    assert not str(Distribution().add([-0.0]).lowest).startswith("-")


def test_large_whole_numbers_that_are_one_double_count_as_one_value():
    found = Distribution().add([2**53, 2**53 + 1, 2.0**53, None])
    assert found == Distribution(3, 1, {2.0**53: 3})
    assert all(isinstance(value, float) for value in found.counts)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.lists(st.none() | floats | st.integers(0, 3), max_size=4),
            st.booleans(),
        )
    )
)
def test_repeated_columns_are_added_like_others(columns):
    adder = Adder()
    start = Distribution().add([2.5])
    for key, column, from_nothing in columns:
        before = NOTHING if from_nothing else start
        defined = [value for value in column if value is not None]
        expected = before.add(defined, undefined=len(column) - len(defined))
        assert adder.add(key, before, column) == expected


def test_a_repeated_column_is_added_only_once():
    adder = Adder()
    column = (1.0, None, 3.0)
    once = adder.add("a", NOTHING, column)
    assert adder.add("a", NOTHING, column) is once
    assert adder.add("b", NOTHING, column) is not once
    assert adder.add("a", once, column).n == 4
