"""Outcomes of conversations that Python callers pass in addition to the traces (SPEC 12)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from goodgain.pipeline.api.inputs import rows_of
from goodgain.pipeline.run.plan.outcome_files import OutcomeRows
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import LabelFile
from goodgain.transforms.core.files.outcomes import outcomes_of_rows
from goodgain.transforms.core.files.tables import TableFile, TableFormat

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Outcomes: TypeAlias = (
    "str | os.PathLike[str] | Mapping[str, Mapping[str, Any]] | Iterable[Mapping[str, Any]]"
    " | pd.DataFrame | pl.DataFrame | pl.LazyFrame | pa.Table | pa.RecordBatch"
)
_SOURCE = "outcomes"  # the path in rejected rows of outcomes in memory


def given_outcomes(outcomes: Any, names: tuple[str, ...] | None) -> OutcomeRows:
    """The outcomes in rows, or by conversation, that the caller holds.

    Args:
      names: of the outcomes to read; None = every one.

    Raises:
      UsageError: they are neither.
    """
    file = LabelFile(TableFile(_SOURCE, TableFormat.PARQUET), 0, 0)
    return OutcomeRows((file,), list(outcomes_of_rows(_rows(outcomes), file, names)), names)


def _rows(outcomes: Any) -> Iterator[Any]:
    if isinstance(outcomes, Mapping):
        for conversation_id, values in outcomes.items():
            if not isinstance(values, Mapping):
                raise UsageError(
                    f"outcomes of the conversation {conversation_id!r} are not given by name, "
                    "like {'conversation': {'correct': 1}}."
                )
            yield {**values, "conversation_id": conversation_id}
        return
    rows = rows_of(outcomes)
    if not isinstance(rows, Iterable):
        raise UsageError(
            "outcomes must be a path, a table or rows with conversation_id and a column for each "
            "outcome, or outcomes by conversation and name."
        )
    yield from rows
