"""The outcome of a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from goodgain.pipeline.gate.rules import Rule
from goodgain.pipeline.gate.wording import bound_text, metric_at_n, rule_text
from goodgain.transforms.core.scoring.registry import cautions

Verdict = Literal["passed", "failed", "skipped"]


class Outcome(Struct, frozen=True):
    """The outcome of a rule in one slice.

    Attributes:
      rule: its subject, like `CG` or `share of rejected`, with its slice.
      value: the actual value, as text; "" without one.
      bound: the bound, as text.
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
        return self.subject or self.rule, self.shown or self.value, self.limit or self.bound


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
        metric=metric_at_n(rule),
        population=population or of_rule,
        subject=rule_text(rule, slice_, in_words=True),
        shown=shown or value,
        limit=bound_text(rule, in_words=True),
    )


def passed(outcomes: Sequence[Outcome]) -> bool:
    """Whether no rule failed; False if there are no outcomes."""
    return bool(outcomes) and all(outcome.verdict != "failed" for outcome in outcomes)


def cautions_of(outcomes: Sequence[Outcome]) -> list[str]:
    """The cautions about the rules' metrics: how better values may mislead; each once."""
    by_caution = cautions(outcome.metric for outcome in outcomes)
    return [f"{', '.join(labels)}: {caution}" for caution, labels in by_caution.items()]
