"""How often 95 % intervals contain the true difference.

Populations are normal, or distributed like search metrics: mostly zero, tied and skewed.
"""

from __future__ import annotations

import numpy as np
import pytest

from goodgain.transforms.core.comparison.differences import ComparisonOptions
from goodgain.transforms.core.comparison.paired_difference import compare_paired
from goodgain.transforms.core.comparison.unpaired_difference import compare_unpaired
from tests.core.comparison import populations

pytestmark = pytest.mark.slow

POPULATIONS = [
    (populations.normal, 0.3),
    (populations.precisions, 0.02),
    (populations.gains, 0.1),
    (populations.rare_changes, 0.005),
]


def share_covered(found, true):
    """Share of the existing intervals that contain `true`, with a tolerance for rounding."""
    ends = [(each.ci_low, each.ci_high) for each in found if each.ci_low is not None]
    assert len(ends) > 0.95 * len(found)
    return np.mean([low - 1e-9 <= true <= high + 1e-9 for low, high in ends])


@pytest.mark.parametrize("n", [30, 150])
@pytest.mark.parametrize(("population", "true"), POPULATIONS)
def test_paired_intervals_cover_the_true_difference(population, true, n):
    base, candidate = population(np.random.default_rng(n), 3000, n, true)
    found = [compare_paired(*arms) for arms in zip(base, candidate, strict=True)]
    assert 0.93 <= share_covered(found, true) <= 0.97


@pytest.mark.parametrize(("population", "true"), POPULATIONS)
def test_welch_intervals_cover_with_unequal_sample_sizes(population, true):
    generator = np.random.default_rng(95)
    base = population(generator, 3000, 60)[0]
    candidate = population(generator, 3000, 150, true)[1]
    found = [compare_unpaired(*arms) for arms in zip(base, candidate, strict=True)]
    assert 0.93 <= share_covered(found, true) <= 0.97


def test_welch_intervals_cover_with_unequal_variances():
    """The smaller sample has the larger variance, where a pooled variance would be wrong."""
    generator = np.random.default_rng(1947)
    base, candidate = generator.normal(0, 3, (3000, 10)), generator.normal(1, 1, (3000, 60))
    found = [compare_unpaired(*arms) for arms in zip(base, candidate, strict=True)]
    assert 0.93 <= share_covered(found, 1.0) <= 0.97


@pytest.mark.parametrize("n", [30, 150])
def test_default_intervals_cover_skewed_differences_and_students_do_not(n):
    """Differences are 0 or lognormal, and samples seldom contain the long tail."""
    base, candidate = populations.doubling(np.random.default_rng(n), 3000, n, 0.1)
    arms = list(zip(base, candidate, strict=True))
    student = [compare_paired(*each, ComparisonOptions(interval="student")) for each in arms]
    assert share_covered(student, 0.1) < 0.93
    assert 0.93 <= share_covered([compare_paired(*each) for each in arms], 0.1) <= 0.97
