"""Labels of single results that Python callers pass in addition to the traces."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.pipeline.api.inputs import rows_of
from goodgain.pipeline.run.plan.labels import LabelRows
from goodgain.transforms.core.files.labels import LabelFile, labels_of_rows
from goodgain.transforms.core.files.tables import TableFile, TableFormat
from goodgain.transforms.core.records.label_map import LabelMap

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Labels: TypeAlias = (
    "str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pd.DataFrame | pl.DataFrame"
    " | pl.LazyFrame | pa.Table | pa.RecordBatch"
)
_SOURCE = "labels"  # the path in rejected rows of labels in memory


def given_labels(
    labels: Labels, iteration_base: int, label_map: LabelMap | None = None
) -> LabelRows:
    """The labels in rows that the caller holds.

    Raises:
      UsageError: they are not rows.
    """
    file = LabelFile(TableFile(_SOURCE, TableFormat.PARQUET), 0, 0, label_map)
    return LabelRows((file,), list(labels_of_rows(rows_of(labels), file, iteration_base)))
