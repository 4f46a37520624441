"""Good, same, bad: counts, balance, and the exact coverage of its interval."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.gsb import good_same_bad, share_difference_interval
from tests.core.comparison import populations

SHARES = [(0.05, 0.05), (0.1, 0.05), (0.3, 0.2), (0.5, 0.3), (0.4, 0.4), (0.9, 0.05)]
RARE = [(0.02, 0.02), (0.1, 0.0), (0.01, 0.0), (0.01, 0.01), (1.0, 0.0), (0.0, 0.97)]


def test_balance_of_metric_trap_23():
    balance = good_same_bad([1, 1, 1, 1], [2, 1, 0, 0], 0, "higher")
    assert (balance.good, balance.same, balance.bad, balance.gsb) == (1, 1, 2, -0.25)
    assert -1 <= balance.ci_low < -0.25 < balance.ci_high <= 1


def test_lower_values_may_be_better():
    balance = good_same_bad([1, 1, 1, 1], [2, 1, 0, 0], 0, "lower")
    assert (balance.good, balance.bad, balance.gsb) == (2, 1, 0.25)


def test_only_differences_beyond_the_tolerance_count():
    base, candidate = [0.2, 0.6, 1.0, 0.5, 0.5], [0.3, 0.7, 1.1, 0.5, 0.61]
    balance = good_same_bad(base, candidate, 0.1, "higher")
    assert (balance.good, balance.same, balance.bad) == (1, 4, 0)


def test_without_pairs_there_is_no_balance():
    empty = good_same_bad([], [], 0, "higher")
    assert (empty.gsb, empty.ci_low) == (None, None)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_the_interval_contains_the_balance_and_is_mirrored_with_the_arms(good, same, bad):
    n = good + same + bad
    if n == 0:
        return
    low, high = share_difference_interval(good, bad, n, 0.95)
    assert -1 <= low <= (good - bad) / n <= high <= 1
    assert low < high
    mirrored = share_difference_interval(bad, good, n, 0.95)
    assert mirrored == (-high, -low)


def test_the_score_test_is_just_significant_at_the_ends_of_the_interval():
    """Tango's score, maximised over the shares numerically instead of in closed form."""
    good, bad, n = 9, 4, 40
    for end in share_difference_interval(good, bad, n, 0.95):
        shares_of_bad = np.linspace(max(0, -end), (1 - end) / 2, 200_001)[1:-1]
        same = 1 - 2 * shares_of_bad - end
        fit = (
            good * np.log(shares_of_bad + end)
            + bad * np.log(shares_of_bad)
            + (n - good - bad) * np.log(same)
        )
        share_of_bad = shares_of_bad[np.argmax(fit)]
        variance = n * (2 * share_of_bad + end - end**2)
        score = (good - bad - n * end) / np.sqrt(variance)
        assert abs(score) == pytest.approx(stats.norm.ppf(0.975), abs=1e-3)


@cache
def intervals(n):
    """Every possible (good, bad) of n pairs, and the interval of each."""
    outcomes = [(good, bad) for good in range(n + 1) for bad in range(n + 1 - good)]
    ends = [share_difference_interval(good, bad, n, 0.95) for good, bad in outcomes]
    return np.array(outcomes), np.array(ends)


def coverage(n, good_share, bad_share):
    """The exact probability that the interval contains the true balance."""
    outcomes, ends = intervals(n)
    counts = np.column_stack([outcomes, n - outcomes.sum(axis=1)])
    shares = [good_share, bad_share, 1 - good_share - bad_share]
    probability = stats.multinomial.pmf(counts, n, shares)
    true = good_share - bad_share
    return probability[(ends[:, 0] <= true + 1e-9) & (true - 1e-9 <= ends[:, 1])].sum()


@pytest.mark.parametrize("shares", SHARES)
def test_coverage_is_close_to_nominal(shares):
    assert 0.93 <= coverage(80, *shares) <= 0.97


@pytest.mark.parametrize("n", [10, 30, 80])
@pytest.mark.parametrize("shares", SHARES + RARE)
def test_coverage_is_not_too_low_even_for_rare_outcomes(n, shares):
    assert coverage(n, *shares) >= 0.93


def test_intervals_cover_if_most_pairs_are_equal():
    base, candidate = populations.rare_changes(np.random.default_rng(23), 3000, 100, 0.01)
    found = [good_same_bad(*arms, 0.05, "higher") for arms in zip(base, candidate, strict=True)]
    true = 0.1  # a shift of 0.01 in steps of 0.1
    assert 0.93 <= np.mean([each.ci_low <= true <= each.ci_high for each in found]) <= 0.97
