"""Wilcoxon's test against scipy and, with tied ranks, against every assignment of signs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.signed_ranks import wilcoxon
from tests.core.comparison import populations


@pytest.mark.parametrize("n", [1, 6, 25, 50, 51, 400])
def test_figures_without_ties_equal_scipy(n):
    base, candidate = (arm[0] for arm in populations.normal(np.random.default_rng(n), 1, n, 0.3))
    ours, theirs = wilcoxon(base, candidate), stats.wilcoxon(candidate, base)
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


def test_figures_with_many_ties_equal_scipy():
    base, candidate = (
        arm[0] for arm in populations.precisions(np.random.default_rng(3), 1, 900, 0.02)
    )
    ours = wilcoxon(base, candidate)
    tenths = np.rint(10 * candidate) - np.rint(10 * base)
    theirs = stats.wilcoxon(tenths[tenths != 0], method="asymptotic")
    assert ours.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8))
def test_p_with_ties_counts_every_assignment_of_signs(differences):
    ours = wilcoxon([0.0] * len(differences), [each / 10 for each in differences])
    kept = [each for each in differences if each]
    if not kept:
        assert (ours.p_value, ours.rank_biserial) == (None, None)
        return
    ranks = stats.rankdata(np.abs(kept))
    signs = np.array(list(product([0, 1], repeat=len(kept))))
    sums = signs @ ranks
    observed = ranks[np.array(kept) > 0].sum()
    lesser = min(observed, ranks.sum() - observed)
    assert ours.p_value == pytest.approx(min(1.0, 2 * np.mean(sums <= lesser)), rel=1e-12)
    assert ours.rank_biserial == pytest.approx(2 * observed / ranks.sum() - 1)


def test_swapping_the_arms_changes_only_the_direction():
    base, candidate = [0.1, 0.4, 0.4, 0.9, 0.3], [0.2, 0.8, 0.1, 0.9, 0.9]
    forward, backward = wilcoxon(base, candidate), wilcoxon(candidate, base)
    assert backward.p_value == forward.p_value
    assert backward.rank_biserial == -forward.rank_biserial
    assert forward.rank_biserial > 0
