"""Checks an estimate against a bound, alone or with its one-sided interval."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from goodgain.pipeline.gate.rules import Proof
from goodgain.transforms.core.statistics import Studentized, wilson_lower, wilson_upper

DEFAULT_CONFIDENCE = 0.95
Side = Literal["at least", "at most"]
_ROUNDING = 1e-12  # relative; the same numbers summed in another way may differ by this much


class Share(Struct, frozen=True):
    """A mean of values that are 0 or 1, whose one-sided intervals are Wilson's."""

    estimate: float
    n: int

    def lower(self, confidence: float) -> float:
        """See `Studentized.lower`."""
        return wilson_lower(self.estimate, self.n, confidence)

    def upper(self, confidence: float) -> float:
        """See `Studentized.upper`."""
        return wilson_upper(self.estimate, self.n, confidence)


class Measured(Struct, frozen=True):
    """A number and its uncertainty.

    Attributes:
      value: the estimate.
      uncertainty: computes its one-sided intervals; None = it has none.
      scale: the magnitude of the numbers behind it, for rounding.
      why_none: why it has no interval, if it has none.
      spreads: whether the values behind it differ from one another.
    """

    value: float
    uncertainty: Studentized | Share | None
    scale: float
    why_none: str = ""
    spreads: bool = True


class Held(Struct, frozen=True):
    """Whether an estimate is within a bound, and why.

    Attributes:
      without_interval: whether a proof was required, but the estimate has no interval.
    """

    keeps: bool
    reason: str
    without_interval: bool = False


def hold(estimate: Measured, bound: float, side: Side, proof: Proof, confidence: float) -> Held:
    """Check an estimate against a bound.

    Without an interval nothing is proven, and the rule fails. The exception is `of_breach` on
    values that are all equal: their common value decides.

    Args:
      side: whether the true value must be at least or at most the bound.
      proof: see `Rule`.
      confidence: confidence of the one-sided interval.
    """
    sign = 1.0 if side == "at least" else -1.0
    grain = _ROUNDING * max(abs(bound), estimate.scale)
    keeps_itself = sign * (estimate.value - bound) >= -grain
    if proof == "none":
        return Held(keeps_itself, "")
    if estimate.uncertainty is None:
        seen = proof == "of_breach" and not estimate.spreads
        return Held(
            seen and keeps_itself, f"no interval: {estimate.why_none}", without_interval=True
        )
    of_compliance = proof == "of_compliance"
    bounded_below = of_compliance == (side == "at least")
    uncertainty = estimate.uncertainty
    end = uncertainty.lower(confidence) if bounded_below else uncertainty.upper(confidence)
    reason = (
        f"{confidence * 100:g} % sure that it is {'at least' if bounded_below else 'at most'} "
        f"{end:.4g}"
    )
    return Held(sign * (end - bound) >= -grain, reason)
