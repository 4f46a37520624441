"""Comparing an estimate with a bound."""

import pytest
from scipy.stats import binomtest

from goodgain.pipeline.studies.gate.bounds import GateEstimate, Share, check_bound


@pytest.mark.parametrize(
    ("value", "scale", "bound", "side", "keeps"),
    [
        (0.1 + 0.2, 0.3, 0.3, "at most", True),
        (0.7 - 0.1, 0.7, 0.6, "at least", True),
        # A rounding error in a difference of means near 10.
        (1e-14, 10.0, 0.0, "at most", True),
        (-1e-14, 10.0, 0.0, "at least", True),
        (1e-9, 10.0, 0.0, "at most", False),
        (-1e-9, 10.0, 0.0, "at least", False),
    ],
)
def test_only_rounding_errors_may_exceed_a_bound(value, scale, bound, side, keeps):
    estimate = GateEstimate(value, None, scale)
    assert check_bound(estimate, bound, side, "none", 0.95).passed == keeps


@pytest.mark.parametrize(("hits", "n"), [(0, 30), (27, 30), (30, 30)])
def test_bounds_of_a_share_are_wilsons(hits, n):
    share = Share(hits / n, n)
    for alternative, bound in (("less", share.upper(0.9)), ("greater", share.lower(0.9))):
        interval = binomtest(hits, n, alternative=alternative).proportion_ci(0.9, method="wilson")
        assert bound == pytest.approx(interval.high if alternative == "less" else interval.low)
