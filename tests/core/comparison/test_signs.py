"""The sign test against the binomial distribution."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.comparison.signed_ranks import sign_test


@given(st.integers(0, 60), st.integers(0, 10), st.integers(0, 60))
def test_p_equals_the_binomial_test(higher, equal, lower):
    base = [0.5] * (higher + equal + lower)
    candidate = [0.7] * higher + [0.5] * equal + [0.2] * lower
    ours = sign_test(base, candidate)
    if not higher + lower:
        assert ours is None
        return
    assert ours == pytest.approx(stats.binomtest(higher, higher + lower).pvalue, rel=1e-9)
    lesser = min(higher, lower)
    tail = sum(comb(higher + lower, k) for k in range(lesser + 1)) / 2 ** (higher + lower)
    assert ours == pytest.approx(min(1.0, 2 * tail), rel=1e-9)


def test_values_that_differ_only_by_rounding_are_equal():
    assert sign_test([0.1 + 0.2], [0.3]) is None
