"""Labels and outcomes that Python callers pass in addition to the traces (SPEC 8, 12)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.pipeline.api.data_frames import rows_of_nested, rows_of_table
from goodgain.pipeline.run.plan.given_tables import RowsHere, rows_held
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.outcomes import OutcomesOfRow, OutcomeTable
from goodgain.transforms.core.judgments.result_labels import ResultLabel

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Labels: TypeAlias = (
    "str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pd.DataFrame | pl.DataFrame"
    " | pl.LazyFrame | pa.Table | pa.RecordBatch"
)
Outcomes: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]]"
    " | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table | pa.RecordBatch"
)


def read_given_labels(labels: Any, table: LabelTable) -> RowsHere[ResultLabel]:
    """The labels in rows that the caller holds.

    Raises:
      UsageError: they are not rows.
    """
    return rows_held(rows_of_table(labels, "labels", "gain and the place of a result"), table)


def read_given_outcomes(outcomes: Any, table: OutcomeTable) -> RowsHere[OutcomesOfRow]:
    """The outcomes in rows, or by conversation, that the caller holds.

    Raises:
      UsageError: they are neither.
    """
    if isinstance(outcomes, Mapping):
        by_name = rows_of_nested(
            outcomes,
            "outcomes of the conversation {!r} are not given by name, like "
            "{{'conversation': {{'correct': 1}}}}.",
        )
        return rows_held(({**row, "conversation_id": name} for name, row in by_name), table)
    expected = "conversation_id and a column for each outcome, or outcomes by conversation and name"
    return rows_held(rows_of_table(outcomes, "outcomes", expected), table)
