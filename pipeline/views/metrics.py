"""The document of all metrics: what can be computed, what it means and when it is undefined."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from goodgain.pipeline.document.model import (
    Block,
    Cell,
    Document,
    Heading,
    TableColumn,
    document,
    table,
)
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.budgets import budget_examples
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.groups import GROUPS, NAMED
from goodgain.transforms.core.metrics.iteration_gains import GAINS
from goodgain.transforms.core.ranking.families import FAMILIES, GAUC, GAUC_WEIGHTED, Family

Groups: TypeAlias = list[tuple[str, list[Metric]]]

_CONVERSATION = "of a conversation, at N"
_ITERATION = "of an iteration, and up to it"
_RANKING = "of the ranked list; chosen with --metrics"
_SUFFIXES = {"none": "", "cutoff": "[@k]", "persistence": ".p"}
_COLUMNS = (
    TableColumn("metric", widest=20),
    TableColumn("unit", widest=10),
    TableColumn("better"),
    TableColumn("meaning, formula, when null"),
)


def metric_groups() -> Groups:
    """All metrics by what they describe, each group with its name."""
    ranking = [_declare_family(family) for family in FAMILIES.values()]
    return [
        (_CONVERSATION, list(CONVERSATION_METRICS)),
        (_ITERATION, list(GAINS.by_i)),
        *((group.title, [*group.at_n, *group.by_i]) for group in GROUPS if group is not GAINS),
        (_RANKING, [*ranking, GAUC, GAUC_WEIGHTED]),
        *(
            (group.title, [*group.example.metrics, *(budget_examples() if group is COSTS else ())])
            for group in NAMED
        ),
    ]


def _declare_family(family: Family) -> Metric:
    """A family as one metric: its name shows where a cutoff or a persistence goes."""
    undefined = family.undefined
    if undefined and family.undefined_at_k == "":
        undefined += ", without @k"
    own = ("unit", "meaning", "direction", "formula", "whole", "bounded", "words")
    return Metric(
        name=family.name + _SUFFIXES[family.argument],
        undefined=undefined,
        **{name: getattr(family, name) for name in own},
    )


def metrics_document(groups: Groups) -> Document:
    """A table for each group of metrics."""
    return document(*(_group(name, metrics) for name, metrics in groups))


def _group(name: str, metrics: list[Metric]) -> Iterator[Block]:
    yield Heading(f"Metrics {name}")
    yield table(_COLUMNS, [_row(metric) for metric in metrics])


def _row(metric: Metric) -> tuple[Cell, ...]:
    named = f"{metric.words}. " if metric.words else ""
    below = [f"= {metric.formula}"]
    if metric.undefined:
        below.append(f"null: {metric.undefined}")
    if metric.bounded:
        below.append("bounds: worst and best")
    return (
        Cell(metric.name, "term", "strong"),
        Cell(metric.unit),
        Cell("" if metric.direction == "neither" else metric.direction),
        Cell(f"{named}{metric.explained}", below=tuple(below)),
    )
