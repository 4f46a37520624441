"""Outcomes as metrics: what became of the last turn, like whether its answer was right."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from math import isfinite

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import GREATEST_VALUE, OUTCOME_UNIT, SHARE, Metric
from goodgain.transforms.core.metrics.group import MetricGroup, NamedGroup, fits_column
from goodgain.transforms.core.metrics.prefix import Prefix

OUTCOME = "outcome."
_TITLE = "of outcomes, for each NAME that records have; with a bound, 1 or 0"
_WRITTEN = re.compile(r"(?P<name>[^>:]+)(>=(?P<least>[^:]+))?(?P<lower>:lower)?")


class TurnOutcome(Struct, frozen=True):
    """An outcome of conversations.

    Attributes:
      name: as in the records, like `correct`.
      least: makes 1 of values of at least this, and 0 of others; None = the values themselves.
      lower: whether lower values are better.
    """

    name: str
    least: float | None = None
    lower: bool = False

    def __str__(self) -> str:
        """As `parse_outcome` reads it."""
        least = "" if self.least is None else f">={self.least:.12g}"
        return f"{self.name}{least}{':lower' if self.lower else ''}"

    @property
    def metric(self) -> Metric:
        """Its declaration, with a function of a prefix."""
        return self.group.at_n[0]

    @property
    def group(self) -> MetricGroup:
        """The metrics that a run with this outcome has."""
        return _group_of(self)


@lru_cache
def _group_of(outcome: TurnOutcome) -> MetricGroup:
    name, least = outcome.name, outcome.least
    formula = f"the last {name} in the records of the last turn"
    metric = Metric(
        OUTCOME + name, OUTCOME_UNIT, "The outcome of the last turn.",
        "lower" if outcome.lower else "higher",
        "no record of the last turn has it, or it is beyond 2^500", formula,
        signed=True, binary=None, function=_value(name, least), words=f"Outcome {name}",
        counted=True, idle=True, headline=("table", "card", "comparison", "decision"),
    )  # fmt: skip
    if least is not None:
        metric = replace(
            metric, unit=SHARE, signed=False, binary=True,
            words=f"Outcome {name} of {least:.12g} or more",
            meaning=f"Whether the outcome of the last turn is at least {least:.12g}.",
            formula=f"1 if {formula} is at least {least:.12g}, else 0",
        )  # fmt: skip
    return MetricGroup(_TITLE, (metric,), name=name)


def _value(name: str, least: float | None) -> Callable[[Prefix], float | None]:
    def value(prefix: Prefix) -> float | None:
        outcome = prefix.turn.outcomes.get(name)
        if outcome is None or abs(outcome) >= GREATEST_VALUE:
            return None
        return outcome if least is None else float(outcome >= least)

    return value


def parse_outcome(text: str) -> TurnOutcome:
    """Parse an outcome as it is asked for: `NAME`, `NAME>=0.7`, `NAME:lower`.

    Raises:
      UsageError: it is none of these.
    """
    match = _WRITTEN.fullmatch("".join(text.split()))
    least = None
    if match and match["least"]:
        try:
            least = float(match["least"])
        except ValueError:
            match = None
    if not match or not fits_column(match["name"]) or not isfinite(least or 0):
        raise UsageError(
            f"{text!r} is not an outcome: write its name (letters, digits and _), like correct, "
            "rating>=0.7, or errors:lower."
        )
    return TurnOutcome(match["name"], least, bool(match["lower"]))


def choose_outcomes(texts: Iterable[str] | None, seen: Collection[str]) -> tuple[TurnOutcome, ...]:
    """The outcomes that are asked for, or else those of the first records.

    Args:
      seen: names in the records; those that cannot be names of columns are left out.

    Raises:
      UsageError: one is not an outcome, or is given twice.
    """
    if texts is None:
        return tuple(TurnOutcome(name) for name in sorted(seen) if fits_column(name))
    outcomes = tuple(map(parse_outcome, texts))
    names = [outcome.name for outcome in outcomes]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"Outcomes given more than once: {', '.join(repeated)}; give each once.")
    return outcomes


_known: dict[str, TurnOutcome] = {}  # by name, of the latest runs


def remember_outcomes(outcomes: Iterable[TurnOutcome]) -> None:
    """Make known which values of a run's outcomes are better, and which make 0 and 1."""
    _known.update({outcome.name: outcome for outcome in outcomes})


OUTCOMES = NamedGroup(_TITLE, lambda name: _known.get(name, TurnOutcome(name)).group)


def outcomes_of(texts: Iterable[str]) -> tuple[TurnOutcome, ...]:
    """The outcomes of a finished run, from the texts in its manifest."""
    return tuple(map(parse_outcome, texts))
