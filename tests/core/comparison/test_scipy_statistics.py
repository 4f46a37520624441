"""What scipy's statistics are given and what becomes of them; constant values have none."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.scipy_statistics import (
    bootstrap_interval,
    sign_test,
    wilcoxon,
)
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from goodgain.transforms.core.errors import UsageError
from tests.core.comparison import populations


def generator():
    return np.random.default_rng(42)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_wilcoxon_with_ties_counts_every_assignment_of_signs(differences):
    found = wilcoxon([0.0] * len(differences), [each / 10 for each in differences])
    kept = [each for each in differences if each]
    if not kept:
        assert (found.p_value, found.rank_biserial) == (None, None)
        return
    ranks = stats.rankdata(np.abs(kept))
    sums = np.array(list(product([0, 1], repeat=len(kept)))) @ ranks
    observed = ranks[np.array(kept) > 0].sum()
    lesser = min(observed, ranks.sum() - observed)
    assert found.p_value == pytest.approx(min(1.0, 2 * np.mean(sums <= lesser)), rel=1e-12)
    assert found.rank_biserial == pytest.approx(2 * observed / ranks.sum() - 1)


@pytest.mark.parametrize("n", [1, 6, 25, 50, 51, 400])
def test_wilcoxon_without_ties_is_scipys(n):
    base, candidate = (arm[0] for arm in populations.normal(np.random.default_rng(n), 1, n, 0.3))
    found, expected = wilcoxon(base, candidate), stats.wilcoxon(candidate, base)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_swapping_the_arms_changes_only_the_direction():
    base, candidate = [0.1, 0.4, 0.4, 0.9, 0.3], [0.2, 0.8, 0.1, 0.9, 0.9]
    forward, backward = wilcoxon(base, candidate), wilcoxon(candidate, base)
    assert backward.p_value == forward.p_value
    assert backward.rank_biserial == -forward.rank_biserial
    assert forward.rank_biserial > 0


@given(st.integers(0, 60), st.integers(0, 10), st.integers(0, 60))
def test_the_sign_test_is_twice_the_smaller_tail(higher, equal, lower):
    base = [0.5] * (higher + equal + lower)
    candidate = [0.7] * higher + [0.5] * equal + [0.2] * lower
    p = sign_test(base, candidate)
    if not higher + lower:
        assert p is None
        return
    lesser = min(higher, lower)
    tail = sum(comb(higher + lower, k) for k in range(lesser + 1)) / 2 ** (higher + lower)
    assert p == pytest.approx(min(1.0, 2 * tail), rel=1e-9)


def test_values_that_differ_only_by_rounding_are_equal():
    assert sign_test([0.1 + 0.2], [0.3]) is None
    assert wilcoxon([0.1 + 0.2], [0.3]).p_value is None


@pytest.mark.parametrize("design", ["paired", "unpaired"])
def test_a_bootstrap_interval_of_a_large_normal_sample_is_students(design):
    (base,), (candidate,) = populations.normal(generator(), 1, 500, 0.1)
    found = bootstrap_interval(base, candidate, design, generator(), 4_999)
    compare = compare_paired if design == "paired" else compare_unpaired
    expected = compare(base, candidate)
    allowed = 0.15 * expected.stderr
    assert found.ci_low == pytest.approx(expected.ci_low, abs=allowed)
    assert found.ci_high == pytest.approx(expected.ci_high, abs=allowed)
    assert found.note is None


@pytest.mark.slow
@pytest.mark.parametrize("n", [10_000, 10_001])
def test_large_samples_are_resampled_in_batches(n, monkeypatch):
    sizes = []

    def recorded(values, axis):
        sizes.append(values.size)
        return values.mean(axis=axis)

    monkeypatch.setattr("goodgain.transforms.core.comparison.scipy_statistics._mean", recorded)
    values = generator().normal(size=n)
    found = bootstrap_interval(np.zeros(n), values, "paired", generator(), 100)
    assert found.ci_low < values.mean() < found.ci_high
    assert max(sizes) <= 2**20
    jackknife = [size for size in sizes if size % (n - 1) == 0]
    assert bool(jackknife) == (n == 10_000)


def test_the_interval_depends_on_the_seed_but_not_on_the_order_of_pairs():
    (base,), (candidate,) = populations.gains(generator(), 1, 80, 0.1)
    once = bootstrap_interval(base, candidate, "paired", generator(), 500)
    assert bootstrap_interval(base[::-1], candidate[::-1], "paired", generator(), 500) == once
    other = bootstrap_interval(base, candidate, "paired", np.random.default_rng(1), 500)
    assert other.ci_low != once.ci_low


@pytest.mark.parametrize("design", ["paired", "unpaired"])
def test_constant_values_have_no_interval(design):
    same = bootstrap_interval([0.3] * 5, [0.1 + 0.2] * 5, design, generator(), 200)
    assert (same.ci_low, same.ci_high) == (None, None)
    assert same.note == "the values do not vary, so neither do the resamples"


def test_differences_within_rounding_errors_count_as_constant():
    same = bootstrap_interval([0.3, 0.7], [0.1 + 0.2, 0.7], "paired", generator(), 200)
    assert same.ci_low is None


@pytest.mark.parametrize(
    ("base", "candidate", "design"),
    [([], [], "paired"), ([1.0], [3.0], "paired"), ([1.0, 2.0], [], "unpaired")],
)
def test_fewer_than_two_values_cannot_be_resampled(base, candidate, design):
    few = bootstrap_interval(base, candidate, design, generator(), 200)
    assert few.ci_low is None
    assert few.note == "fewer than two values cannot be resampled"


def test_few_values_give_a_warning():
    few = bootstrap_interval([1.0, 2.0, 4.0], [2.0, 2.5, 6.0], "paired", generator(), 200)
    assert few.ci_low < 3.5 - 7 / 3 < few.ci_high
    assert few.note == "with fewer than 50 values a bootstrap interval tends to be too narrow"


def test_rejects_too_few_resamples():
    with pytest.raises(UsageError):
        bootstrap_interval([1.0, 2.0], [1.0, 3.0], "paired", generator(), 99)
