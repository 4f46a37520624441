"""Labels of single results that Python callers pass in addition to the traces."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from goodgain.pipeline.api.inputs import rows_of
from goodgain.pipeline.run.plan.labels import label_files, rejected_row
from goodgain.pipeline.run.plan.local_files import local_files, open_local
from goodgain.transforms.core.files.labels import (
    LabelFile,
    LabelRow,
    counted_labels,
    labels_of_rows,
    read_labels,
)
from goodgain.transforms.core.files.tables import TableFile, TableFormat
from goodgain.transforms.core.judgments.result_labels import (
    LabelKey,
    ResultLabel,
    conversation_of,
    keys_of,
    reject_unmatched,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload, record_ids

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Labels: TypeAlias = (
    "str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pd.DataFrame | pl.DataFrame"
    " | pl.LazyFrame | pa.Table | pa.RecordBatch"
)
_SOURCE = "labels"  # the path in rejected rows of labels in memory


class LabelRows(Struct, frozen=True):
    """All labels, row by row, and the files that they come from."""

    files: tuple[LabelFile, ...]
    found: list[LabelRow]

    def labels(self) -> Iterator[ResultLabel]:
        """The valid rows."""
        return (one for one in self.found if isinstance(one, ResultLabel))


def read_result_labels(labels: Labels, iteration_base: int, budget: MemoryBudget) -> LabelRows:
    """Read labels.

    Raises:
      UsageError: a pattern matches no file, or one of the files holds no labels.
      GoodGainError: there are more than `budget` allows.
    """
    if isinstance(labels, str | os.PathLike):
        files = label_files(local_files([os.fspath(labels)]), open_local, iteration_base)
        read = (one for file in files for one in read_labels(file, open_local, iteration_base))
        return LabelRows(files, list(counted_labels(read, budget)))
    file = LabelFile(TableFile(_SOURCE, TableFormat.PARQUET), 0, 0)
    return LabelRows((file,), list(labels_of_rows(rows_of(labels), file, iteration_base)))


def join_labels(
    given: LabelRows, payloads: dict[str, list[bytes]]
) -> tuple[dict[str, int], list[RejectedRecord]]:
    """Add the labels to the payloads of their conversations.

    Returns:
      Counts of the labels, and rows for those that match nothing.
    """
    by_key: dict[LabelKey, list[ResultLabel]] = {}
    for label in given.labels():
        by_key.setdefault(label.key, []).append(label)
    asking: dict[LabelKey, set[str]] = {}
    for conversation_id, packed in payloads.items():
        for key in keys_of(conversation_id, [name for one in packed for name in record_ids(one)]):
            if key in by_key:
                asking.setdefault(key, set()).add(conversation_id)
    rejected = [one for one in given.found if isinstance(one, RejectedRecord)]
    for key, labels in by_key.items():
        conversations = asking.get(key, set())
        found = conversation_of(conversations)
        if found is not None:
            payloads[found].append(payload((), labels=labels))
        else:
            rejected += [
                rejected_row(reject_unmatched(one, conversations), given.files) for one in labels
            ]
    counts = {
        "labels.read": len(given.found),
        "labels.empty": given.found.count(None),
        "labels.rejected": len(rejected),
    }
    return counts, rejected
