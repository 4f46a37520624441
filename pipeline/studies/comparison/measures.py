"""What is compared: each metric at N and at each i, with its direction, family and tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import isfinite
from typing import Literal

from msgspec import Struct

from goodgain.pipeline.results.way_sums import COLUMNS as WAY_COLUMNS
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import ZERO_TO_ONE
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.metrics.by_name import metric_by_name, name_so_far
from goodgain.transforms.core.metrics.costs import COST, COSTS
from goodgain.transforms.core.metrics.headline import headline_among, metrics_declared_for
from goodgain.transforms.core.metrics.plan import MetricPlan, Population
from goodgain.transforms.core.metrics.prefix import Prefix
from goodgain.transforms.core.metrics.repeats import parse_repeats, space_condition
from goodgain.transforms.core.ranking.names import respell
from goodgain.transforms.core.records.similar_names import find_similar_name

Family = Literal["primary", "declared", "further"]
# Metrics shown for every example, whichever metric it was chosen by.
CONTEXT = metrics_declared_for("example")
_GAINED = ("G_i", "CG_at_i")  # plotted over costs in the report
_LABELLING = ("R", "unlabelled")  # for the labelled share of the results


class Measure(Struct, frozen=True):
    """One number of a conversation.

    Attributes:
      metric: a column of `conversations` (i None) or of `iterations` (SPEC 6).
      population: as in `means`; `all` or `everyone` at N.
    """

    metric: str
    i: int | None
    population: Population


class Measures(Struct, frozen=True):
    """The measures of a comparison, and how they are tested.

    Attributes:
      by_i: names of metrics of iterations, up to `max_i`.
      plan: the metrics that both arms have.
      declared: names of the metrics in the declared family, including the primary one.
      primary: name of the metric at N that answers the question, tested by itself; None if the
        family has none for which higher or lower values are better.
      tolerances: by metric, in its unit; `tolerance` applies to all others.
    """

    at_end: tuple[str, ...]
    by_i: tuple[str, ...]
    plan: MetricPlan
    declared: tuple[str, ...]
    primary: str | None
    tolerances: Mapping[str, float]
    tolerance: float = 0.0

    @property
    def max_i(self) -> int:
        """The last i to compare at."""
        return self.plan.max_i

    @property
    def costs(self) -> tuple[str, ...]:
        """Names of the costs that are compared at N."""
        return tuple(name.removeprefix(COST) for name in self.at_end if name.startswith(COST))

    def all(self) -> list[Measure]:
        """Every measure: metrics at N first, then by metric, i and population."""
        measures = [Measure(name, None, "all") for name in self.at_end]
        populations: tuple[Population, ...] = ("reached", "all")
        for name in self.by_i:
            of_name = populations if self.function_by_i(name) else populations[:1]
            for i in range(1, self.max_i + 1):
                measures += [Measure(name, i, population) for population in of_name]
        return measures

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of `conversations`: metrics at N, of examples and of ways, and counts of labels.

        Of a mean over repeats, that of its condition.
        """
        repeats = map(parse_repeats, self.at_end)
        at_end = (
            name if repeat is None else repeat.condition.metric
            for name, repeat in zip(self.at_end, repeats, strict=True)
        )
        known = {metric.name for metric in self.plan.at_n}
        of_ways = [name for name in WAY_COLUMNS if name in known]
        return tuple(dict.fromkeys((*at_end, *CONTEXT, *_LABELLING, *of_ways)))

    @property
    def iteration_columns(self) -> tuple[str, ...]:
        """The columns of `iterations` to read: metrics of iterations, and gain beside costs."""
        of_costs = [metric.name for cost in self.costs for metric in COSTS.of(cost).by_i]
        beside = (*_GAINED, *of_costs) if self.costs else ()
        return tuple(dict.fromkeys((*self.by_i, *beside)))

    def function_by_i(self, name: str) -> Callable[[Prefix], float | None] | None:
        """The function of a metric of iterations; None for that of a user.

        Outputs do not have all that a user's function may need, so it has no values beyond N here.
        """
        (metric,) = (metric for metric in self.plan.by_i if metric.name == name)
        return metric.function

    @property
    def of_family(self) -> list[Measure]:
        """The measures of the declared family."""
        return [measure for measure in self.all() if self.family(measure) != "further"]

    def family(self, measure: Measure) -> Family:
        """The family within which the measure's p value is corrected."""
        if measure.i is None and measure.metric == self.primary:
            return "primary"
        return "declared" if measure.metric in self.declared else "further"

    def tolerance_of(self, measure: Measure) -> float:
        """The smallest difference that counts, in the metric's unit; CG_at_i has that of CG."""
        by_name = self.tolerances
        same = (value for name, value in by_name.items() if name_so_far(name) == measure.metric)
        return by_name.get(measure.metric, next(same, self.tolerance))


def choose(
    requested: Sequence[str],
    family: Sequence[str],
    plan: MetricPlan,
    tolerances: Iterable[str] = (),
    primary: str | None = None,
) -> Measures:
    """The measures for some metric names.

    A metric at N also selects the metric of iterations with the same meaning: CG selects CG_at_i,
    cost.tokens selects cost_at_i.tokens. The declared family is what `family` names; else the
    metrics in `requested`; else those that are declared to decide.

    Args:
      requested: metric names as in `goodgain metrics`; empty = every metric.
      plan: the metrics that both arms have, up to the last i to compare at.
      tolerances: `VALUE`, or `NAME=VALUE` for one metric.
      primary: the metric that answers the question; None = the first of the family at N for which
        higher or lower values are better.

    Raises:
      UsageError: a metric that neither arm has, a primary metric that is not at N or for which
        neither higher nor lower values are better, or a tolerance that is not a number of at least
        0.
    """
    at_ends = tuple(metric.name for metric in plan.at_n)
    # Both have `calls`; that of iterations is not compared.
    by_iteration = tuple(metric.name for metric in plan.by_i if metric.name not in at_ends)
    ranking = [metric.name for metric in plan.ranking]
    known = (*at_ends, *by_iteration)
    requested, family = (
        [space_condition(respell(name)) for name in names] for names in (requested, family)
    )
    primary = space_condition(respell(primary)) if primary else None
    named = [*requested, *family, *([primary] if primary else ())]
    _check_names(named, known, ranking)
    wanted = list(dict.fromkeys(named)) if requested else known
    at_end = tuple(name for name in wanted if name in at_ends)
    followed = set(map(name_so_far, at_end))
    by_i = tuple(name for name in by_iteration if name in wanted or name in followed)
    default, by_name = _tolerances(tolerances, known, ranking)
    declared: Sequence[str] = family or requested or headline_among("decision", at_ends)
    if primary:
        declared = [primary, *declared]
    deciding = [
        name for name in declared if name in at_end and metric_by_name(name).direction != "neither"
    ]
    if primary and primary not in deciding:
        raise UsageError(
            f"{primary} cannot be the primary metric: name one at N for which higher or lower "
            "values are better."
        )
    return Measures(
        at_end=at_end,
        by_i=by_i,
        plan=plan,
        declared=tuple(dict.fromkeys(declared)),
        primary=deciding[0] if deciding else None,
        tolerances=by_name,
        tolerance=default,
    )


def _check_names(names: Iterable[str], known: Sequence[str], ranking: Sequence[str]) -> None:
    mistakes = []
    for name in dict.fromkeys(names):
        if name not in known:
            near = [find_similar_name(name, known), *get_close_matches(name, known, n=1)]
            meant = next(filter(None, near), None)
            hint = f" (did you mean '{meant}'?)" if meant else ""
            if budget_of(name) is not None:
                hint = " (gains within a budget are means of a run, not values of conversations)"
            mistakes.append(f"'{name}'{hint}")
    if mistakes:
        raise UsageError(
            f"The outputs have no metric {', '.join(mistakes)}; `goodgain metrics` lists those at "
            f"N and by i, and the ranking metrics of both runs are {', '.join(ranking) or 'none'}."
        )


def _tolerances(
    written: Iterable[str], known: Sequence[str], ranking: Sequence[str]
) -> tuple[float, dict[str, float]]:
    default, by_name = 0.0, {}
    for tolerance in written:
        name, equals, value = tolerance.rpartition("=")
        if equals:
            _check_names([name], known, ranking)
            by_name[name] = _tolerance(value, tolerance)
            if by_name[name] > 1 and metric_by_name(name).unit in ZERO_TO_ONE:
                raise UsageError(
                    f"Tolerance {tolerance} cannot be used: {name} is a share, whose values differ "
                    "by at most 1; 5 points are written 0.05."
                )
        else:
            default = _tolerance(value, tolerance)
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
