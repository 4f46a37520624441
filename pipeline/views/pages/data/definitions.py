"""Labels and definitions of metrics in the report, from the registry (SPEC 5, 8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.by_name import metric_by_name, own_metric
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.group import MetricGroup
from goodgain.transforms.core.metrics.groups import groups_in
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.metrics.own_names import short_name
from goodgain.transforms.core.ranking.families import GAUC, GAUC_WEIGHTED

_AUC = "auc"
_BETTER = {"higher": "Higher is better.", "lower": "Lower is better.", "neither": ""}


class Definition(Struct, frozen=True):
    """A metric in the report.

    Attributes:
      own_ideal: whether the ideal list has only what the run itself found (SPEC 10).
    """

    metric: Metric
    own_ideal: bool = False

    @property
    def label(self) -> str:
        """For headings, menus and axes, like `Gain so far (CG@i)`; says if it has an own ideal."""
        return f"{self.metric.label} (own ideal)" if self.own_ideal else self.metric.label

    @property
    def anchor(self) -> str:
        """The id of its entry in the page."""
        scope = "iteration" if self.metric.by_i else "end"
        return f"definition-{scope}-{self.metric.name}"

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
      measures: those of groups at N, then users' own.
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
        return tuple(definition for definition in self.ranking if not definition.metric.mean_only)

    @property
    def by_iteration(self) -> tuple[Definition, ...]:
        """Every metric that has a value at each i."""
        return self.so_far + self.each

    @property
    def by_name(self) -> Mapping[str, Definition]:
        """The metrics at N by name."""
        return {definition.metric.name: definition for definition in self.at_end}


def glossary(
    names: Iterable[str],
    groups: Iterable[MetricGroup],
    own_ideal: Callable[[Metric], bool] = lambda metric: False,
) -> Glossary:
    """The definitions of some metrics.

    Args:
      names: names of metrics; those of no group are ranking metrics and users' own.
      groups: groups of metrics, all of which are defined; those of gains always are.
      own_ideal: whether a metric is measured by what a run itself found.

    Raises:
      UsageError: a name is not that of a metric.
    """
    groups = (GAINS, *(group for group in groups if group is not GAINS))
    further = list(_further(names, groups))
    own = [metric for metric in further if own_metric(metric.name)]
    at_n = [*(metric for group in groups for metric in group.at_n), *own]
    by_i = [metric for group in groups for metric in group.by_i]
    by_i += [metric.so_far for metric in own if metric.so_far]
    so_far = [metric for metric in by_i if "_at_i" in metric.name]
    return Glossary(
        measures=tuple(Definition(metric, own_ideal(metric)) for metric in at_n),
        ranking=tuple(
            Definition(metric, own_ideal(metric)) for metric in further if metric not in own
        ),
        so_far=tuple(map(Definition, so_far)),
        each=tuple(Definition(metric) for metric in by_i if metric not in so_far),
    )


def glossary_of(manifest: RunManifest, columns: Collection[str]) -> Glossary:
    """The definitions of a run's metrics but those of costs, which the page shows by themselves.

    Args:
      columns: those of its conversations.
    """
    groups = [group for group in groups_in(columns) if group.title != COSTS.title]
    return glossary(manifest.options.metrics, groups, manifest.has_own_ideal)


def _further(names: Iterable[str], groups: Iterable[MetricGroup]) -> Iterator[Metric]:
    """The metrics at N that are in no group; after auc also its means over conversations."""
    of_groups = {metric.name for group in groups for metric in group.metrics}
    for name in map(short_name, names):
        metric = None if name in of_groups else metric_by_name(name)
        if metric is None or metric.by_i:
            continue
        yield metric
        if name == _AUC:
            yield from (GAUC, GAUC_WEIGHTED)
