"""How an estimate is held against its bound."""

import pytest
from scipy.stats import binomtest

from goodgain.pipeline.gate.bounds import Measured, Share, hold


@pytest.mark.parametrize(
    ("value", "scale", "bound", "side", "keeps"),
    [
        (0.1 + 0.2, 0.3, 0.3, "at most", True),
        (0.7 - 0.1, 0.7, 0.6, "at least", True),
        # A difference of means near 10 that should be 0.
        (1e-14, 10.0, 0.0, "at most", True),
        (-1e-14, 10.0, 0.0, "at least", True),
        (1e-9, 10.0, 0.0, "at most", False),
        (-1e-9, 10.0, 0.0, "at least", False),
    ],
)
def test_only_rounding_is_forgiven(value, scale, bound, side, keeps):
    estimate = Measured(value, None, scale)
    assert hold(estimate, bound, side, "none", 0.95).keeps == keeps


@pytest.mark.parametrize(("hits", "n"), [(0, 30), (27, 30), (30, 30)])
def test_a_share_has_wilsons_bounds_on_both_sides(hits, n):
    share = Share(hits / n, n)
    for side, found in (("less", share.upper(0.9)), ("greater", share.lower(0.9))):
        interval = binomtest(hits, n, alternative=side).proportion_ci(0.9, method="wilson")
        assert found == pytest.approx(interval.high if side == "less" else interval.low)
