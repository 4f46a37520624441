"""Wilson's interval of a share, against scipy and by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goodgain.transforms.core.statistics import wilson_lower, wilson_upper


@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_both_ends_equal_scipy(n, data, confidence):
    ones = data.draw(st.integers(0, n))
    theirs = stats.binomtest(ones, n).proportion_ci(confidence, method="wilson")
    one_sided = (1 + confidence) / 2
    assert wilson_lower(ones / n, n, one_sided) == pytest.approx(theirs.low, abs=1e-12)
    assert wilson_upper(ones / n, n, one_sided) == pytest.approx(theirs.high, abs=1e-12)


def test_shares_of_two_values_computed_by_hand():
    assert wilson_lower(1.0, 2, 0.975) == pytest.approx(0.342380, abs=5e-7)
    assert wilson_upper(1.0, 2, 0.975) == 1.0
    assert (wilson_lower(0.0, 2, 0.975), wilson_upper(0.0, 2, 0.975)) == pytest.approx(
        (0, 1 - 0.342380), abs=5e-7
    )
