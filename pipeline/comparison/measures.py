"""What is compared: each metric at N and at each i, with its direction, family and tolerance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from math import isfinite
from typing import Literal

from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.rows import Population
from goodgain.transforms.core.metric import Direction, Metric
from goodgain.transforms.core.ranking import parse_ranking_metrics, respelled
from goodgain.transforms.core.scoring.costs import budget_of, cost_metric
from goodgain.transforms.core.scoring.registry import (
    CONVERSATION_METRICS,
    ITERATION_METRICS,
    POOL_ITERATION_METRICS,
    POOL_METRICS,
)

Family = Literal["primary", "declared", "further"]
# What is found, how soon, how much of it repeats and how much of the work was in vain.
HEADLINE = (
    "CG", "DCG", "RAG", "DRAG", "SRE", "SRR",
    "iterations_for_all_good_results", "iterations_after_last_good",
)  # fmt: skip
# What a decision rests on unless other metrics are named. An agent that finds less has found all of
# it sooner, so that metric decides nothing.
DECISIVE = tuple(name for name in HEADLINE if name != "iterations_for_all_good_results")
_DECISIVE_OF_POOL = ("pool_recall",)  # beside these, where both runs share a pool
# What a reader wants to know of any conversation, whatever it is compared by.
CONTEXT = ("N", "R", "CG", "SRE", "SRR")
_LABELLING = ("R", "unlabelled")  # which share of what was found has a label
AT_I = "_at_i"
_AT_END: Mapping[str, Metric] = {
    metric.name: metric for metric in CONVERSATION_METRICS + POOL_METRICS
}
_BY_I: Mapping[str, Metric] = {
    metric.name: metric for metric in ITERATION_METRICS + POOL_ITERATION_METRICS
}
# `calls` names a column of both datasets; the comparison by i leaves the iteration's own out.
_ITERATION_NAMES = tuple(name for name in _BY_I if name not in _AT_END)
# Columns that only runs with a pool have.
_OF_POOL = frozenset(metric.name for metric in (*POOL_METRICS, *POOL_ITERATION_METRICS))


class Measure(Struct, frozen=True):
    """One number of a conversation.

    Attributes:
      metric: a column of `conversations` (i None) or of `iterations` (SPEC 6).
      i: the iteration; None = at N.
      population: as in `means`; at N `all`, or `everyone`.
    """

    metric: str
    i: int | None
    population: Population


class Measures(Struct, frozen=True):
    """Everything that a comparison looks at.

    Attributes:
      at_end: names of metrics at N.
      by_i: names of metrics of iterations, up to `max_i`.
      declared: names of the metrics that form the declared family, the primary one among them.
      primary: name of the metric at N that answers the question, tested by itself; None when no
        declared metric at N has a better and a worse.
      tolerances: by metric, in its unit; a metric that is not there has `tolerance`.
    """

    at_end: tuple[str, ...]
    by_i: tuple[str, ...]
    max_i: int
    declared: tuple[str, ...]
    primary: str | None
    tolerances: Mapping[str, float]
    tolerance: float = 0.0

    def all(self) -> list[Measure]:
        """Every measure: metrics at N first, then by metric, i and population."""
        measures = [Measure(name, None, "all") for name in self.at_end]
        populations: tuple[Population, ...] = ("reached", "all")
        for name in self.by_i:
            for i in range(1, self.max_i + 1):
                measures += [Measure(name, i, population) for population in populations]
        return measures

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of `conversations` to read: metrics at N, and what tells about them."""
        return tuple(dict.fromkeys((*self.at_end, *CONTEXT, *_LABELLING)))

    def family(self, measure: Measure) -> Family:
        """The family within which the measure's p value is corrected."""
        if measure.i is None and measure.metric == self.primary:
            return "primary"
        return "declared" if measure.metric in self.declared else "further"

    def tolerance_of(self, measure: Measure) -> float:
        """The least difference that counts, in the unit of the metric; CG's holds for CG_at_i."""
        name = measure.metric
        by_name = self.tolerances
        return by_name.get(name, by_name.get(name.removesuffix(AT_I), self.tolerance))


@cache
def declaration(metric: str) -> Metric:
    """What is declared of a metric at N or of iterations.

    Raises:
      UsageError: there is no such metric.
    """
    declared = _AT_END.get(metric) or _BY_I.get(metric) or cost_metric(metric)
    return declared or parse_ranking_metrics([metric])[0].declaration


def direction(metric: str) -> Direction:
    """Whether higher or lower values of a metric are better.

    Raises:
      UsageError: there is no such metric.
    """
    return declaration(metric).direction


def counts_everyone(measure: Measure) -> bool:
    """Whether conversations that did not search can be counted in a measure.

    What is better when lower has no value for them, and they reached no iteration.
    """
    return measure.population != "reached" and direction(measure.metric) != "lower"


def choose(
    asked: Sequence[str],
    family: Sequence[str],
    ranking: Sequence[str],
    max_i: int,
    tolerances: Iterable[str] = (),
    pooled: bool = False,
    primary: str | None = None,
) -> Measures:
    """The measures that names stand for.

    A metric at N brings the metric of iterations of the same meaning with it: CG brings CG_at_i.
    The declared family is what `family` names; else what is asked for; else
    `DECISIVE`, and with a pool its recall.

    Args:
      asked: metric names as in `goodgain metrics`; none = every metric.
      ranking: names of the ranking metrics that both arms have.
      tolerances: `VALUE`, or `NAME=VALUE` for one metric.
      pooled: whether both arms were scored with a pool.
      primary: the metric that answers the question; None = the first of the family at N of which
        higher or lower values are better.

    Raises:
      UsageError: a name that neither arm has, a primary metric that is none at N or has no better
        and worse, or a tolerance that is no number of at least 0.
    """
    asked, family = list(map(respelled, asked)), list(map(respelled, family))
    primary = respelled(primary) if primary else None
    named = [*asked, *family, *([primary] if primary else ())]
    _check_names(named, ranking, pooled)
    wanted = list(dict.fromkeys(named)) if asked else [*_AT_END, *ranking, *_BY_I]
    if not pooled:
        wanted = [name for name in wanted if name not in _OF_POOL]
    at_end = tuple(name for name in wanted if name in _AT_END or name in ranking)
    followed = {name + AT_I for name in at_end}
    by_i = tuple(name for name in _ITERATION_NAMES if name in wanted or name in followed)
    default, by_name = _tolerances(tolerances, ranking, pooled)
    by_default = (*DECISIVE, *(_DECISIVE_OF_POOL if pooled else ()))
    declared: Sequence[str] = family or asked or by_default
    if primary:
        declared = [primary, *declared]
    deciding = [name for name in declared if name in at_end and direction(name) != "neither"]
    if primary and primary not in deciding:
        raise UsageError(
            f"{primary} cannot be the primary metric: name one at N of which higher or lower "
            "values are better."
        )
    return Measures(
        at_end=at_end,
        by_i=by_i,
        max_i=max_i,
        declared=tuple(dict.fromkeys(declared)),
        primary=deciding[0] if deciding else None,
        tolerances=by_name,
        tolerance=default,
    )


def _check_names(names: Iterable[str], ranking: Sequence[str], pooled: bool) -> None:
    known = [*_AT_END, *_ITERATION_NAMES, *ranking]
    if not pooled:
        known = [name for name in known if name not in _OF_POOL]
    mistakes = []
    for name in dict.fromkeys(names):
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            if budget_of(name) is not None:
                hint = " (gains within a budget are means of a run and no values of conversations)"
            mistakes.append(f"'{name}'{hint}")
    if mistakes:
        raise UsageError(
            f"The outputs hold no metric {', '.join(mistakes)}; `goodgain metrics` lists those at "
            f"N and by i, and the ranking metrics of both runs are {', '.join(ranking) or 'none'}."
        )


def _tolerances(
    written: Iterable[str], ranking: Sequence[str], pooled: bool
) -> tuple[float, dict[str, float]]:
    default, by_name = 0.0, {}
    for one in written:
        name, equals, value = one.rpartition("=")
        if equals:
            _check_names([name], ranking, pooled)
            by_name[name] = _tolerance(value, one)
        else:
            default = _tolerance(value, one)
    return default, by_name


def _tolerance(value: str, written: str) -> float:
    try:
        tolerance = float(value)
    except ValueError:
        tolerance = float("nan")
    if not (isfinite(tolerance) and tolerance >= 0):
        raise UsageError(
            f"Tolerance {written} cannot be used: write a number of at least 0 like 0.01, or one "
            "for a metric like CG=1."
        )
    return tolerance
