"""The outcome of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.scoring.registry import cautions

Verdict = Literal["passed", "failed", "skipped"]


class Outcome(Struct, frozen=True):
    """The outcome of a rule in one slice.

    Attributes:
      rule: its subject, like `CG` or `share of rejected`, with its slice.
      value: the value found, as text; "" without one.
      bound: the bound, as text.
      reason: why it failed or was skipped, or the proof; one sentence without a full stop.
      n: conversations (pairs) behind the value; None for shares and counts.
      metric: the metric whose value at N was checked; "" for any other subject.
    """

    rule: str
    value: str
    bound: str
    verdict: Verdict
    reason: str
    n: int | None
    metric: str = ""


def passed(outcomes: Sequence[Outcome]) -> bool:
    """Whether no rule failed; without any outcome, False."""
    return bool(outcomes) and all(outcome.verdict != "failed" for outcome in outcomes)


def cautions_of(outcomes: Sequence[Outcome]) -> list[str]:
    """One sentence for each way in which better values of the rules' metrics may mislead."""
    found = cautions(outcome.metric for outcome in outcomes)
    return [f"{', '.join(labels)}: {caution}" for caution, labels in found.items()]
