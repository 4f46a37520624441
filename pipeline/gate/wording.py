"""Rules, bounds and values as text for people."""

from __future__ import annotations

from collections.abc import Mapping

from goodgain.pipeline.gate.bounds import DEFAULT_CONFIDENCE
from goodgain.pipeline.gate.rules import Rule

_LEAST_SHOWN = 1e-12  # smaller values are rounding errors
_PROOFS = {"of_compliance": "proven", "of_breach": "unless proven worse"}


def rule_text(rule: Rule, slice_: Mapping[str, str]) -> str:
    """What a rule is about, like `CG_at_i at i = 3 (reached), market = de`."""
    subject = rule.name or _subject(rule)
    slice_text = ", ".join(f"{name} = {value or '(none)'}" for name, value in slice_.items())
    return f"{subject}, {slice_text}" if slice_text else subject


def _subject(rule: Rule) -> str:
    if rule.share == "undefined":
        return f"share of undefined {rule.metric}"
    if rule.share is not None:
        return f"share of {rule.share.replace('_', ' ')}"
    if rule.count is not None:
        return f"count of {rule.count}"
    at = "" if rule.i is None else f" at i = {rule.i}"
    at += f" ({rule.population})" if rule.population else ""
    change = "change of " if rule.is_change else ""
    return f"{change}{rule.metric}{at}"


def metric_at_n(rule: Rule) -> str:
    """The metric whose value at N, or its change, a rule bounds; "" for other rules."""
    return (rule.metric or "") if rule.share is None and rule.i is None else ""


def bound_text(rule: Rule) -> str:
    """The bounds of a rule, like `drop <= 2 %, proven (95 %)`."""
    parts = [
        f"{sign} {bound}"
        for sign, bound in (
            (">=", rule.at_least),
            ("<=", rule.at_most),
            ("drop <=", rule.drop_at_most),
            ("rise <=", rule.rise_at_most),
        )
        if bound is not None
    ]
    text = " and ".join(parts)
    if rule.proof in _PROOFS:
        confidence = rule.confidence or DEFAULT_CONFIDENCE
        text += f", {_PROOFS[str(rule.proof)]} ({confidence * 100:g} %)"
    return text


def number(value: float) -> str:
    """A value to six significant digits; rounding errors around 0 are shown as 0."""
    return "0" if abs(value) < _LEAST_SHOWN else f"{value:.6g}"
