"""The number of intervals that a gate checks, and the confidence that each needs as a result."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from goodgain.pipeline.gate.bounds import (
    DEFAULT_CONFIDENCE,
    BoundCheck,
    GateEstimate,
    Side,
    check_bound,
)
from goodgain.pipeline.gate.rules import Rule


class ProofCounts(Struct, frozen=True):
    """The number of proofs of a gate, over all conversations and in slices.

    The more proofs, the likelier is a chance error in one of them. So each needs a higher
    confidence (Bonferroni): of m proofs at 95 %, each is made at 100 % - 5 % / m. Rules about
    slices do not affect the proofs over all conversations.

    Attributes:
      whole, slices: the number of proofs.
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
            check.passed, f"{check.reason} ({confidence * 100:g} % over {proofs:,} proofs)"
        )


def count_proofs(proofs: Iterable[tuple[Rule, int]]) -> ProofCounts:
    """Count the proofs.

    Args:
      proofs: rules with a proof, each with its number of slices.
    """
    counted = [0, 0]
    for rule, slices in proofs:
        bounds = (rule.at_least, rule.at_most, rule.drop_at_most, rule.rise_at_most)
        counted[bool(rule.slice)] += slices * sum(bound is not None for bound in bounds)
    return ProofCounts(*counted)
