"""The columns of a table of means; a page has some more than a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goodgain.pipeline.document.columns import CellColumn, numbers, table_of
from goodgain.pipeline.document.model import (
    Cell,
    TableBlock,
    TableColumn,
    count,
    mean,
    mean_interval,
    term,
    value,
)
from goodgain.pipeline.results.manifest import has_own_ideal
from goodgain.transforms.core.metrics.by_name import metric_by_name

Row = Mapping[str, Any]
_BOUNDS = ("worst", "best")


def _value(part: str) -> Any:
    return lambda row: value(row["metric"], row.get(part))


MEANS: tuple[CellColumn[Row], ...] = (
    CellColumn(
        TableColumn("unit", wide=True), lambda row: Cell(metric_by_name(row["metric"]).unit)
    ),
    numbers("mean", "mean", mean),
    numbers("95 % interval", "interval", mean_interval),
    numbers("median", "p50", _value("p50")),
    numbers("unlabelled at worst", "worst", _value("worst"), wide=True),
    numbers("at best", "best", _value("best"), wide=True),
    numbers("n", "n", lambda row: count(row["n"])),
    numbers("undefined", "undefined", lambda row: count(row["undefined"]), wide=True),
)


def means_table(
    rows: Iterable[Row], manifest: Mapping[str, Any], caption: str = "", live: bool = True
) -> TableBlock:
    """Means at N with intervals, from rows of `means`.

    Args:
      caption: for pages.
      live: whether a page shows those of the slice that the reader chose.
    """
    rows = list(rows)

    def name(row: Row) -> Cell:
        own = has_own_ideal(metric_by_name(row["metric"]), manifest)
        return term(row["metric"], "own ideal" if own else "")

    bounded = any(row.get(part) is not None for row in rows for part in _BOUNDS)
    further = [one for one in MEANS if bounded or one.column.part not in _BOUNDS]
    columns = [CellColumn(TableColumn("metric", widest=36), name), *further]
    return table_of(columns if live else [one.fixed for one in columns], rows, caption)
