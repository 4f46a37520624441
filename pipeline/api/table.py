"""A dataset in memory: rows with named columns, for people and for data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from goodgain.pipeline.document.html import fragment_of
from goodgain.pipeline.document.model import Document, Sentence, TableColumn, document, table
from goodgain.pipeline.document.numbers import NONE, number
from goodgain.pipeline.document.terminal import text_of
from goodgain.pipeline.results.datasets import MEANS, Dataset
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metrics.costs import COSTS
from goodgain.transforms.core.metrics.gains import CONVERSATION_METRICS
from goodgain.transforms.core.metrics.headline import headline
from goodgain.transforms.core.records.epoch import moment_of_millis
from goodgain.transforms.core.wording import format_count

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Row = dict[str, Any]
_MOST_SHOWN_ROWS = 10
_WIDEST_LINE = 117  # and 3 for a column that stands for those left out
_WIDEST_CELL = 32
_MORE = "…"
_MEANS_COLUMNS = ("slice", "metric", "i", "population", "n", "mean", "ci_low", "ci_high")
_OF_CONVERSATIONS = [metric.name for metric in CONVERSATION_METRICS]


class Table:
    """The rows of one dataset.

    It has a length, iterates over rows as dicts, and can be indexed like a list. Times are
    datetimes in UTC; undefined values are None.

    Attributes:
      columns: the names of the columns, in order.
      dataset: the dataset, with a description of each column.

    Example:
      >>> import goodgain as gg
      >>> run = gg.evaluate([{"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}])
      >>> table: gg.Table = run.iterations
      >>> table[0]["G_i"], table.columns[0]
      (3, 'conversation_id')
    """

    def __init__(self, dataset: Dataset, rows: Sequence[Row]) -> None:
        """Wrap rows.

        Args:
          dataset: see the class.
          rows: the rows, as stored in files.
        """
        self.dataset = dataset
        self._rows = rows
        self._times = [column.name for column in dataset.columns if column.kind == "time"]

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return [column.name for column in self.dataset.columns]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return map(self._show, self._rows)

    def __getitem__(self, place: int) -> Row:
        """The row at an index from 0; negative indexes count from the end."""
        return self._show(self._rows[place])

    def where(self, **values: Any) -> Table:
        """The rows whose columns have these values.

        Raises:
          KeyError: there is no such column, or no such metric.

        Example:
          >>> import goodgain as gg
          >>> call = {"conversation_id": "c", "iteration": 1, "results": [{"gain": 3}]}
          >>> run = gg.evaluate([call])
          >>> run.means.where(metric="CG", i=None)[0]["mean"]
          3.0
        """
        unknown = [name for name in values if name not in self.columns]
        if unknown:
            raise KeyError(f"{self.dataset.name} has no column {unknown[0]!r}")
        metric = values.get("metric")
        if metric is not None and all(row["metric"] != metric for row in self._rows):
            raise KeyError(f"{self.dataset.name} has no metric {metric!r}")
        kept = [
            row
            for row, shown in zip(self._rows, self, strict=True)
            if all(shown[name] == value for name, value in values.items())
        ]
        return Table(self.dataset, kept)

    def stored(self) -> Sequence[Row]:
        """The rows as stored in files: times in milliseconds since 1970."""
        return self._rows

    def to_dicts(self) -> list[Row]:
        """The rows as a list of dicts."""
        return list(self)

    def to_arrow(self) -> pa.Table:
        """A pyarrow.Table with the column types of the dataset's Parquet files."""
        from goodgain.pipeline.results.parquet_rows import arrow_table

        return arrow_table(self.dataset, self._rows)

    def to_pandas(self) -> pd.DataFrame:
        """A pandas.DataFrame; nullable integers are Int64, and maps are object columns.

        Raises:
          UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ModuleNotFoundError:
            raise _missing_package_error("pandas") from None

        frame = pd.DataFrame(list(self), columns=self.columns)
        for column in self.dataset.columns:
            if column.kind == "whole":
                frame[column.name] = frame[column.name].astype(
                    "Int64" if column.nullable else "int64"
                )
            elif column.kind == "number":
                frame[column.name] = frame[column.name].astype("float64")
            elif column.kind == "time":
                frame[column.name] = pd.to_datetime(frame[column.name], utc=True)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """A polars.DataFrame; maps are lists of structs of key and value.

        Raises:
          UsageError: polars is not installed.
        """
        try:
            import polars as pl
        except ModuleNotFoundError:
            raise _missing_package_error("polars") from None

        return pl.DataFrame(pl.from_arrow(self.to_arrow()))

    def __repr__(self) -> str:
        return text_of(self._document())

    def _repr_html_(self) -> str:
        return fragment_of(self._document())

    def _document(self) -> Document:
        names, lines, size = self._excerpt()
        return document(table([TableColumn(name) for name in names], lines), Sentence(size))

    def _excerpt(self) -> tuple[list[str], list[list[str]], str]:
        """The parts to display: column names, lines of cells, and the size of the table.

        Columns and rows that are left out are shown as "…".
        """
        order: tuple[str, ...] = ()
        shown_rows = list(self._rows[:_MOST_SHOWN_ROWS])
        if self.dataset is MEANS:
            shown_rows = nsmallest(_MOST_SHOWN_ROWS, self._rows, _mean_rank)
            order = _MEANS_COLUMNS
        rows = list(map(self._show, shown_rows))
        names = [*order, *(name for name in self.columns if name not in order)]
        columns = {name: [_cell(row[name]) for row in rows] for name in names}
        ends = accumulate(2 + max(map(len, [name, *shown])) for name, shown in columns.items())
        fitting = [name for name, end in zip(columns, ends, strict=True) if end <= _WIDEST_LINE]
        shown = [columns[name] for name in fitting]
        if len(fitting) < len(names):
            fitting, shown = [*fitting, _MORE], [*shown, [_MORE] * len(rows)]
        cells = [list(line) for line in zip(*shown, strict=True)]
        if len(rows) < len(self):
            cells.append([_MORE] * len(fitting))
        size = f"{self.dataset.name}: {format_count(len(self), 'row')}, {len(self.columns)} columns"
        return fitting, cells, f"[{size}]"

    def _show(self, row: Row) -> Row:
        shown = {name: row[name] for name in self.columns}
        for name in self._times:
            if shown[name] is not None:
                shown[name] = moment_of_millis(shown[name])
        return shown


def _missing_package_error(package: str) -> UsageError:
    return UsageError(f"{package} is not installed; install it with `pip install {package}`.")


def _mean_rank(row: Row) -> tuple[Any, ...]:
    """Sorts rows of means for display: headline metrics at N first, then those asked for."""
    name = row["metric"]
    if name in headline("card"):
        place = headline("card").index(name)
    else:
        not_asked_for = name in _OF_CONVERSATIONS or COSTS.metric(name) is not None
        place = len(headline("card")) + not_asked_for
    return bool(row["slice"]), row["i"] is not None, row["population"] != "all", place


def _cell(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        text = ", ".join(f"{key}={item}" for key, item in value.items()) or "all"
    else:
        text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"
