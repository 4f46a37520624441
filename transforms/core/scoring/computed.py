"""Computes the metrics of SPEC 5 that have a function, and orders values as in `registry`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from msgspec.structs import asdict, replace

from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.scoring.gains import IterationCounts, extended
from goodgain.transforms.core.scoring.registry import CONVERSATION_METRICS, ITERATION_METRICS
from goodgain.transforms.core.scoring.rows import ConversationRow, IterationRow

_Values = tuple[int | float | None, ...]

COMPUTED_METRICS = tuple(metric for metric in CONVERSATION_METRICS if metric.function)
COMPUTED_ITERATION_METRICS = tuple(metric for metric in ITERATION_METRICS if metric.function)


def computed(
    iterations: Sequence[IterationCounts], metrics: Sequence[Metric] = COMPUTED_METRICS
) -> _Values:
    """The values of the metrics that have a function; null without iterations (SPEC 5)."""
    return tuple(
        metric.function(iterations) if metric.function and iterations else None
        for metric in metrics
    )


def with_computed(
    rows: list[IterationRow], iterations: Sequence[IterationCounts]
) -> list[IterationRow]:
    """The rows of a turn's iterations, with the values computed from the counts up to i."""
    if not COMPUTED_ITERATION_METRICS:
        return rows
    return [
        replace(row, computed=computed(iterations[: row.i], COMPUTED_ITERATION_METRICS))
        for row in rows
    ]


def rows_beyond(rows: Sequence[IterationRow], max_i: int) -> list[IterationRow]:
    """Rows N + 1 to max_i if the turn had continued with empty iterations (SPEC 6, `all`).

    Args:
      rows: rows of a turn's iterations i = 1..N, with N >= 1.
    """
    last = rows[-1]
    beyond = [extended(last, i) for i in range(last.i + 1, max_i + 1)]
    return with_computed(beyond, [_counts(row) for row in (*rows, *beyond)])


def _counts(row: IterationRow) -> IterationCounts:
    return IterationCounts(
        row.iteration, row.calls, row.R_i, row.UR_i, row.GR_i, row.G_i, row.unlabelled_i
    )


def columns_of(row: ConversationRow | IterationRow) -> dict[str, Any]:
    """A row by column; ranking metrics, pool and costs stay one entry each."""
    of_iteration = isinstance(row, IterationRow)
    metrics = COMPUTED_ITERATION_METRICS if of_iteration else COMPUTED_METRICS
    columns = asdict(row)
    values = columns.pop("computed")
    columns.update((metric.name, value) for metric, value in zip(metrics, values, strict=True))
    return columns


def _in_order_of(metrics: Sequence[Metric]) -> Callable[[Any], _Values]:
    """A function that takes the values of metrics from a row's fields and its `computed`."""
    fields = [metric.name for metric in metrics if not metric.function]
    of_fields = attrgetter(*fields)
    if len(fields) == len(metrics):
        return of_fields
    names = [*fields, *(metric.name for metric in metrics if metric.function)]
    in_order = itemgetter(*(names.index(metric.name) for metric in metrics))

    def values(row: Any) -> _Values:
        ordered: _Values = in_order((*of_fields(row), *row.computed))
        return ordered

    return values


values_at_end: Callable[[ConversationRow], _Values] = _in_order_of(CONVERSATION_METRICS)
iteration_values: Callable[[IterationRow], _Values] = _in_order_of(ITERATION_METRICS)
