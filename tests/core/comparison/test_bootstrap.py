"""The BCa interval equals scipy's on the same resamples; constant values have none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from goodgain.transforms.core.comparison.bootstrap import bootstrap_interval
from goodgain.transforms.core.errors import UsageError
from tests.core.comparison import populations


def generator():
    return np.random.default_rng(42)


@pytest.mark.parametrize(
    "population", [populations.normal, populations.gains, populations.precisions]
)
def test_paired_interval_equals_scipy(population):
    (base,), (candidate,) = population(generator(), 1, 60, 0.1)
    ours = bootstrap_interval(base, candidate, "paired", generator(), 999)
    theirs = stats.bootstrap(
        (np.sort(candidate - base),), np.mean, n_resamples=999, method="BCa", rng=generator()
    ).confidence_interval
    assert (ours.ci_low, ours.ci_high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)
    assert ours.note is None


def test_unpaired_interval_equals_scipy():
    base, candidate = generator().gamma(1, size=70), generator().gamma(2, size=50)
    ours = bootstrap_interval(base, candidate, "unpaired", generator(), 999)
    theirs = stats.bootstrap(
        (np.sort(base), np.sort(candidate)),
        lambda x, y, axis: y.mean(axis=axis) - x.mean(axis=axis),
        n_resamples=999,
        method="BCa",
        rng=generator(),
    ).confidence_interval
    assert (ours.ci_low, ours.ci_high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


def test_drawing_counts_of_repeated_values_gives_the_same_interval():
    (base,), (candidate,) = populations.rare_changes(generator(), 1, 2000, 0.005)
    ours = bootstrap_interval(base, candidate, "paired", generator(), 9_999)
    theirs = stats.bootstrap(
        (candidate - base,), np.mean, n_resamples=9_999, batch=500, rng=generator()
    )
    allowed = 0.1 * theirs.standard_error
    assert ours.ci_low == pytest.approx(theirs.confidence_interval.low, abs=allowed)
    assert ours.ci_high == pytest.approx(theirs.confidence_interval.high, abs=allowed)


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
