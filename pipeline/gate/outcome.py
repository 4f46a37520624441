"""What becomes of a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.scoring.registry import cautions

Verdict = Literal["passed", "failed", "skipped"]


class Outcome(Struct, frozen=True):
    """A rule in one slice.

    Attributes:
      rule: what it is about, like `CG` or `share of rejected`, with its slice.
      value: what was found, as text; "" when nothing was.
      bound: what is asked for, as text.
      reason: why it failed or was skipped, or how sure it is; one sentence without a final stop.
      n: conversations (pairs) behind the value; None for shares and counts.
      metric: what the value is of, at N; "" for all else.
    """

    rule: str
    value: str
    bound: str
    verdict: Verdict
    reason: str
    n: int | None
    metric: str = ""


def passed(outcomes: Sequence[Outcome]) -> bool:
    """Whether no rule failed; a gate without any outcome has not passed."""
    return bool(outcomes) and all(outcome.verdict != "failed" for outcome in outcomes)


def cautions_of(outcomes: Sequence[Outcome]) -> list[str]:
    """A sentence for each way in which better values of the metrics asked for may mislead."""
    found = cautions(outcome.metric for outcome in outcomes)
    return [f"{', '.join(labels)}: {caution}" for caution, labels in found.items()]
