"""Whether an agent does it again: conditions, and how many repeats of a query pass (SPEC 12).

Over clusters, like the repeated runs of a query. With n conversations of a cluster that have the
metric, of which c pass the condition:

    pass@k = 1 - C(n - c, k) / C(n, k): at least one of k repeats passes (Chen et al. 2021)
    pass^k = C(c, k) / C(n, k): all of k repeats pass (Yao et al. 2024)
    flip_rate: some of the n >= 2 repeats pass, and some do not
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from math import comb, isfinite
from operator import ge, gt, le, lt
from typing import Any, NamedTuple

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import SHARE, ZERO_TO_ONE, Direction, Metric
from goodgain.transforms.core.remedy import Remedy

AT, ALL, FLIP = "pass@", "pass^", "flip_rate"
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {">=": ge, "<=": le, ">": gt, "<": lt}
_CONDITION = re.compile(r"(?P<metric>[^<>=\s]+)(?P<sign>>=|<=|>|<)(?P<bound>[^<>=\s]+)")
_NAME = re.compile(r"(?P<kind>pass[@^]|flip_rate)(?P<k>[1-9][0-9]{0,5})?\[(?P<condition>[^\]]+)\]")
_OF_CONDITION = {
    AT: ("at least one of {k} repeats passes", "1 - C(n - c, {k}) / C(n, {k})"),
    ALL: ("all of {k} repeats pass", "C(c, {k}) / C(n, {k})"),
    FLIP: ("some repeats pass and some do not", "1 if 0 < c < n, else 0"),
}


class PassCondition(Struct, frozen=True):
    """A condition on a metric at N, like `CG >= 5`.

    Attributes:
      metric: name of the metric.
      sign: `>=`, `>`, `<=` or `<`.
      bound: what the value is compared with.
    """

    metric: str
    sign: str
    bound: float

    def __str__(self) -> str:
        """As `parse_condition` reads it."""
        return f"{self.metric} {self.sign} {self.bound:.12g}"

    @property
    def compare(self) -> Callable[[Any, Any], Any]:
        """Compares a value, or an array of them, with the bound."""
        return _COMPARED[self.sign]

    def passes(self, value: float | None) -> float | None:
        """1 if a value meets it, else 0; None without a value."""
        return None if value is None else float(self.compare(value, self.bound))


def parse_condition(text: str) -> PassCondition:
    """Parse a condition, like `CG >= 5`; its metric need not exist.

    Raises:
      UsageError: it is not a condition.
    """
    match = _CONDITION.fullmatch("".join(text.split()))
    try:
        bound = float(match["bound"]) if match else float("nan")
    except ValueError:
        bound = float("nan")
    if match is None or not isfinite(bound):
        raise UsageError(
            f"{text!r} is not a condition: write a metric at N and a bound, like 'CG >= 5' or "
            "'outcome.correct >= 1'."
        )
    return PassCondition(match["metric"], match["sign"], bound)


def check_conditions(conditions: Iterable[PassCondition], metrics: Sequence[Metric]) -> None:
    """Make sure that conditions are on metrics at N, and can be met or not.

    Raises:
      UsageError: one of them is not, or bounds a share beyond 0 to 1.
    """
    units = {metric.name: metric.unit for metric in metrics}
    names = list(units)
    for condition in conditions:
        if condition.metric not in names:
            near = get_close_matches(condition.metric, names, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise UsageError(
                f"The condition '{condition}' ("
                + Remedy("pass")
                + f") is on {condition.metric}, which is no metric at N of this run{hint}."
            )
        if units[condition.metric] in ZERO_TO_ONE and not 0 <= condition.bound <= 1:
            raise UsageError(
                f"The condition '{condition}' ("
                + Remedy("pass")
                + ") is on a share, whose values are from 0 to 1: 20 % is written 0.2."
            )


class Repeats(NamedTuple):
    """What a name like `pass^3[CG >= 5]` asks for; k is None for `flip_rate`."""

    kind: str
    k: int | None
    condition: PassCondition

    @property
    def name(self) -> str:
        """The name of its mean."""
        return f"{self.kind}{self.k or ''}[{self.condition}]"

    def value(self, n: int, passed: int) -> float | None:
        """The value of a cluster of n conversations; None if they are too few."""
        if self.k is None:
            return float(0 < passed < n) if n >= 2 else None
        if n < self.k:
            return None
        if self.kind == AT:
            return float(1 - Fraction(comb(n - passed, self.k), comb(n, self.k)))
        return float(Fraction(comb(passed, self.k), comb(n, self.k)))

    def metric(self, needs_labels: bool) -> Metric:
        """Its declaration, as a mean over clusters."""
        words, formula = (text.format(k=self.k) for text in _OF_CONDITION[self.kind])
        direction: Direction = "lower" if self.kind == FLIP else "higher"
        least = 2 if self.k is None else self.k
        return Metric(
            self.name, SHARE, f"How often {words}: {self.condition}.", direction,
            f"fewer than {least} conversations of the cluster have {self.condition.metric}",
            f"mean over clusters of {formula}; c of n conversations pass",
            needs_labels=needs_labels, mean_only=True,
        )  # fmt: skip


def parse_repeats(name: str) -> Repeats | None:
    """What the name of a mean over clusters asks for; None for other names."""
    match = _NAME.fullmatch(name)
    if match is None or (match["kind"] == FLIP) != (match["k"] is None):
        return None
    try:
        condition = parse_condition(match["condition"])
    except UsageError:
        return None
    return Repeats(match["kind"], int(match["k"]) if match["k"] else None, condition)


def space_condition(name: str) -> str:
    """The name of a mean over clusters with spaces in its condition; others as they are."""
    repeats = parse_repeats(name)
    return name if repeats is None else repeats.name


def repeats_of(condition: PassCondition, ks: Iterable[int]) -> list[Repeats]:
    """The means of a condition: both kinds at each k, and how often repeats differ."""
    at_k = [Repeats(kind, k, condition) for k in dict.fromkeys(ks) for kind in (AT, ALL)]
    return [*at_k, Repeats(FLIP, None, condition)]
