"""Labels and definitions of metrics in the report, from the registry (SPEC 5, 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from msgspec import Struct

from goodgain.pipeline.results.manifest import judged_outside
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.by_name import is_own_metric, metric_by_name
from goodgain.transforms.core.metrics.costs import COST_AT_I, COST_I, cost_metric
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS, ITERATION_METRICS
from goodgain.transforms.core.metrics.own import is_own, short_name
from goodgain.transforms.core.metrics.pool import POOL_ITERATION_METRICS, POOL_METRICS
from goodgain.transforms.core.ranking import GAUC, GAUC_WEIGHTED, parse_ranking_metrics

Scope = Literal["end", "iteration"]
_AUC = "auc"
_BETTER = {"higher": "Higher is better.", "lower": "Lower is better.", "neither": ""}


class Definition(Struct, frozen=True):
    """A metric in the report.

    Attributes:
      scope: `end` for values at N, `iteration` for values at each i.
      own_ideal: whether the ideal list has only what the run itself found (SPEC 10).
    """

    metric: Metric
    scope: Scope
    own_ideal: bool = False

    @property
    def label(self) -> str:
        """For headings, menus and axes, like `Gain so far (CG@i)`; says if it has an own ideal."""
        return f"{self.metric.label} (own ideal)" if self.own_ideal else self.metric.label

    @property
    def anchor(self) -> str:
        """The id of its entry in the page."""
        return f"definition-{self.scope}-{self.metric.name}"

    @property
    def better(self) -> str:
        """Which direction is better, as a sentence; "" when neither is."""
        return _BETTER[self.metric.direction]

    @property
    def title(self) -> str:
        """The label for axes and plots, with the unit unless the label contains it."""
        if self.metric.in_percent or self.metric.unit in self.metric.words.lower():
            return self.label
        return f"{self.label}, {self.metric.unit}"

    @property
    def menu(self) -> dict[str, Any]:
        """The metric as the page's script needs it."""
        return {
            "name": self.metric.name,
            "label": self.label,
            "unit": self.metric.unit,
            "title": self.title,
            "meaning": self.metric.explained,
            "anchor": self.anchor,
            "whole": self.metric.whole,
            "share": self.metric.in_percent,
            "direction": self.metric.direction,
        }


class Glossary(Struct, frozen=True):
    """All metrics of a run.

    Attributes:
      measures: those of SPEC 5 at N, and with a pool those of SPEC 9.
      ranking: those of SPEC 8 that were requested.
      so_far, each: those up to iteration i, and those of iteration i alone.
    """

    measures: tuple[Definition, ...]
    ranking: tuple[Definition, ...]
    so_far: tuple[Definition, ...]
    each: tuple[Definition, ...]

    @property
    def at_end(self) -> tuple[Definition, ...]:
        """Every metric that has a value at N."""
        return self.measures + self.ranking

    @property
    def ranking_of_conversations(self) -> tuple[Definition, ...]:
        """The ranking metrics with a value per conversation: all but gauc, a mean over them."""
        means_only = (GAUC.name, GAUC_WEIGHTED.name)
        return tuple(one for one in self.ranking if one.metric.name not in means_only)

    @property
    def by_iteration(self) -> tuple[Definition, ...]:
        """Every metric that has a value at each i."""
        return self.so_far + self.each

    @property
    def by_name(self) -> Mapping[str, Definition]:
        """The metrics at N by name."""
        return {definition.metric.name: definition for definition in self.at_end}


def glossary(
    ranking_metrics: Iterable[str], pooled: bool = False, own_ideal: bool = False
) -> Glossary:
    """The definitions of a run.

    Args:
      ranking_metrics: names of the requested ranking metrics and of costs, in order.
      pooled: whether the run has pool metrics, too.
      own_ideal: whether the run was scored without external judgments.

    Raises:
      UsageError: a name is not a ranking metric.
    """
    at_end = CONVERSATION_METRICS + (POOL_METRICS if pooled else ())
    at_i = ITERATION_METRICS + (POOL_ITERATION_METRICS if pooled else ())
    further = list(_ranking(ranking_metrics))
    of_costs = [metric for metric in further if metric.name.startswith((COST_I, COST_AT_I))]
    of_own = [metric.so_far for metric in further if metric.so_far and is_own(metric.formula)]
    by_iteration = [Definition(metric, "iteration") for metric in (*at_i, *of_costs, *of_own)]
    so_far = [one for one in by_iteration if "_at_i" in one.metric.name]
    return Glossary(
        measures=tuple(Definition(metric, "end") for metric in at_end),
        ranking=tuple(
            Definition(metric, "end", own_ideal and metric.own_ideal)
            for metric in further
            if metric not in of_costs
        ),
        so_far=tuple(so_far),
        each=tuple(one for one in by_iteration if one not in so_far),
    )


def glossary_of(manifest: Mapping[str, Any], costs: Iterable[str] = ()) -> Glossary:
    """The definitions for a run's manifest and for these cost metrics."""
    return glossary(
        [*manifest["parameters"]["metrics"], *costs],
        pooled="pool" in manifest,
        own_ideal=not judged_outside(manifest),
    )


def _ranking(names: Iterable[str]) -> Iterable[Metric]:
    """The declarations of ranking metrics, then those of users and of costs."""
    short = list(map(short_name, names))
    own = [name for name in short if is_own_metric(name) and metric_by_name(name).so_far]
    costs = {name: cost_metric(name) for name in short if not is_own_metric(name)}
    for metric in parse_ranking_metrics([name for name, cost in costs.items() if cost is None]):
        yield metric.declaration
        if metric.name == _AUC:
            yield from (GAUC, GAUC_WEIGHTED)
    yield from map(metric_by_name, own)
    yield from filter(None, costs.values())
