"""Checks an estimate against a bound, alone or with its one-sided interval.

The more intervals a gate checks, the higher is the confidence that each needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from goodgain.pipeline.document.numbers import level, number
from goodgain.pipeline.studies.gate.rule_values import Proof, Side
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.statistics import Studentized, wilson_lower, wilson_upper
from goodgain.transforms.core.wording import explain_missing_interval

DEFAULT_CONFIDENCE = 0.95
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


class GateEstimate(Struct, frozen=True):
    """A number and its uncertainty.

    Attributes:
      uncertainty: computes its one-sided intervals; None = it has none.
      scale: the magnitude of the numbers behind it, for rounding.
      subject: its name in a reason.
      constant: whether all values behind it are equal: then a proof `of_breach` goes by its value.
      show: formats it, and the ends of its intervals, for people.
    """

    value: float
    uncertainty: Studentized | Share | None
    scale: float
    subject: str = "it"
    no_interval: str = ""
    constant: bool = False
    show: Callable[[float], str] = number


class BoundCheck(Struct, frozen=True):
    """Whether an estimate is within a bound, and why.

    Attributes:
      without_interval: whether a proof was required, but the estimate has no interval.
      settled: whether its value decided instead, see `GateEstimate.constant`.
    """

    passed: bool
    reason: str
    without_interval: bool = False
    settled: bool = False


def check_bound(
    estimate: GateEstimate, bound: float, side: Side, proof: Proof, confidence: float
) -> BoundCheck:
    """Check an estimate against a bound.

    Without an interval nothing is proven, and the rule fails. The exception is `of_breach` on
    values that are all equal: their common value decides.

    Args:
      side: whether the true value must be at least or at most the bound.
    """
    sign = 1.0 if side == "at least" else -1.0
    tolerance = _ROUNDING * max(abs(bound), estimate.scale)
    value_passes = sign * (estimate.value - bound) >= -tolerance
    if proof == "none":
        return BoundCheck(value_passes, "")
    if estimate.uncertainty is None:
        settled = proof == "of_breach" and estimate.constant
        reason = explain_missing_interval(estimate.no_interval)
        return BoundCheck(settled and value_passes, reason, without_interval=True, settled=settled)
    of_compliance = proof == "of_compliance"
    bounded_below = of_compliance == (side == "at least")
    uncertainty = estimate.uncertainty
    end = uncertainty.lower(confidence) if bounded_below else uncertainty.upper(confidence)
    known = f"{'at least' if bounded_below else 'at most'} {estimate.show(end)}"
    reason = f"{level(confidence)} sure that {estimate.subject} is {known}"
    return BoundCheck(sign * (end - bound) >= -tolerance, reason)


class ProofCounts(Struct, frozen=True):
    """The number of proofs of a gate, over all conversations and in slices.

    The more proofs, the likelier is a chance error in one of them. So each needs a higher
    confidence (Bonferroni): of m proofs at 95 %, each is made at 100 % - 5 % / m. Rules about
    slices do not affect the proofs over all conversations.
    """

    whole: int
    slices: int

    def check(self, rule: Rule, estimate: GateEstimate, bound: float, side: Side) -> BoundCheck:
        """Check an estimate against a bound of a rule, with the confidence of the family."""
        proof, confidence = rule.proof or "none", rule.confidence or DEFAULT_CONFIDENCE
        proofs = self.slices if rule.slice else self.whole
        if proof == "none" or proofs < 2:
            return check_bound(estimate, bound, side, proof, confidence)
        check = check_bound(estimate, bound, side, proof, 1 - (1 - confidence) / proofs)
        if check.without_interval:
            return check
        return BoundCheck(
            check.passed, f"{check.reason} ({level(confidence)} over {proofs:,} proofs)"
        )


def count_proofs(proofs: Iterable[tuple[Rule, int]]) -> ProofCounts:
    """Count the proofs of rules, each given with its number of slices."""
    counted = [0, 0]
    for rule, slices in proofs:
        counted[bool(rule.slice)] += slices * len(rule.limits)
    return ProofCounts(*counted)
