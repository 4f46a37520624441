"""How an estimate is held against its bound."""

import pytest

from goodgain.pipeline.gate.bounds import Measured, hold


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
