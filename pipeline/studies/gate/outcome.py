"""The outcome of a rule, and the words for its subject, its value and its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from goodgain.pipeline.document.numbers import NONE, level
from goodgain.pipeline.studies.gate.bounds import DEFAULT_CONFIDENCE
from goodgain.pipeline.studies.gate.rule_values import Amount
from goodgain.pipeline.studies.gate.rules import Rule
from goodgain.transforms.core.means.cluster_variance import are_few_effective
from goodgain.transforms.core.means.slices import describe_slice
from goodgain.transforms.core.metrics.by_name import describe_cautions, metric_by_name
from goodgain.transforms.core.remedy import Phrased

Verdict = Literal["passed", "failed", "skipped"]
SHOWN_DIGITS = 5  # so that a value that just misses its bound does not look equal to it
_PROOFS = {"of_compliance": "proven", "of_breach": "unless proven worse"}


class Outcome(Phrased, frozen=True):
    """The outcome of a rule in one slice.

    Attributes:
      rule: its subject, like `CG` or `share of rejected`, with its slice.
      reason: why it failed or was skipped, or how it was proven; one sentence without a full stop.
      n: number of conversations (pairs) behind the value; None for shares and counts.
      metric: the metric if its value at N was checked; else "".
      population: the conversations that the value is over; "" for shares and counts of the run.
      subject, shown, limit: rule, value and bound as people see them, with words for metrics and
        shares in percent.
    """

    rule: str
    value: str
    bound: str
    verdict: Verdict
    reason: str
    n: int | None
    metric: str = ""
    population: str = ""
    subject: str = ""
    shown: str = ""
    limit: str = ""

    @property
    def cells(self) -> tuple[str, str, str]:
        """Rule, value and bound for people."""
        value = self.shown or self.value or NONE
        return self.subject or self.rule, value, self.limit or self.bound


def outcome_of(
    rule: Rule,
    slice_: Mapping[str, str],
    value: str,
    n: int | None,
    *,
    failure: str = "",
    note: str = "",
    shown: str = "",
    population: str = "",
) -> Outcome:
    """The outcome of a rule in one slice: failed if a failure is given, else passed.

    Args:
      population: that of the value, if it is not the rule's.
    """
    of_rule = "" if rule.metric is None else rule.population or "all"
    return Outcome(
        rule=rule_text(rule, slice_),
        value=value,
        bound=bound_text(rule),
        verdict="failed" if failure else "passed",
        reason=failure or note,
        n=n,
        metric=(rule.metric or "") if rule.share is None and rule.i is None else "",
        population=population or of_rule,
        subject=rule_text(rule, slice_, in_words=True),
        shown=shown or value,
        limit=bound_text(rule, in_words=True),
    )


def has_passed(outcomes: Sequence[Outcome]) -> bool:
    """Whether no rule failed; False if there are no outcomes."""
    return bool(outcomes) and all(outcome.verdict != "failed" for outcome in outcomes)


def cautions_of(outcomes: Sequence[Outcome]) -> list[str]:
    """How better values of the rules' metrics may mislead, and what `everyone` means; each once."""
    found = describe_cautions(outcome.metric for outcome in outcomes)
    if any(outcome.population == "everyone" for outcome in outcomes):
        found.append("everyone: with the conversations that did not search, which count with 0.")
    return found


def rule_text(rule: Rule, slice_: Mapping[str, str], in_words: bool = False) -> str:
    """What a rule is about, like `CG_at_i at i = 3 (reached), market = de`.

    Args:
      in_words: whether metrics are named by their labels, like `Gain so far (CG@i)`.
    """
    subject = rule.name or _subject(rule, in_words)
    return f"{subject}, {describe_slice(slice_)}" if slice_ else subject


def _subject(rule: Rule, in_words: bool) -> str:
    metric = metric_by_name(rule.metric).label if in_words and rule.metric else rule.metric
    if rule.share == "undefined":
        return f"share of undefined {metric}"
    if rule.share is not None:
        return f"share of {rule.share.replace('_', ' ')}"
    if rule.count is not None:
        return f"count of {rule.count}"
    at = "" if rule.i is None else f" at i = {rule.i}"
    at += f" ({rule.population})" if rule.population else ""
    change = "change of " if rule.is_change else ""
    return f"{change}{metric}{at}"


def bound_text(rule: Rule, in_words: bool = False) -> str:
    """The bounds of a rule, like `drop <= 2 %, proven (95 %)`.

    Args:
      in_words: whether bounds are in the unit in which people see the metric, see `amount_text`.
    """
    signs = {"at least": ">=", "at most": "<="}
    if rule.is_change:
        signs = {"at least": "drop <=", "at most": "rise <="}
    text = " and ".join(
        f"{signs[side]} {amount_text(rule, bound) if in_words else bound}"
        for side, bound in rule.limits
    )
    if rule.proof in _PROOFS:
        confidence = rule.confidence or DEFAULT_CONFIDENCE
        text += f", {_PROOFS[str(rule.proof)]} ({level(confidence)})"
    return text


def explain_too_few(found: str, least: int) -> str:
    """Why a rule fails when there are fewer conversations or pairs than its `least_n`.

    Args:
      found: how many there are, with its verb, like `3 pairs are`.
    """
    return (
        f"{found} below least_n = {least:,}: score more conversations, or give the rule a smaller "
        "least_n"
    )


def cluster_note(rule: Rule, clusters: int | None, effective: float | None) -> str:
    """That a proof rests on clusters too uneven for its interval; "" if it does not."""
    if rule.proof not in _PROOFS or effective is None or not are_few_effective(clusters, effective):
        return ""
    return f"{effective:.1f} effective clusters: interval too narrow"


def amount_text(rule: Rule, amount: Amount) -> str:
    """A bound in the unit of the value that it bounds: of a share in percent, of its change in pp.

    A percentage that bounds the change of a share is of the baseline's value, which it says.
    """
    if rule.share is None and (rule.metric is None or not metric_by_name(rule.metric).in_percent):
        return str(amount)
    if not rule.is_change:
        return level(amount.value)
    if amount.percent:
        return f"{level(amount.value)} of the baseline"
    return level(amount.value, unit="pp")
