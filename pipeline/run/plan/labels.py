"""Files of labels: finds them, checks them before a run, and describes what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from goodgain.pipeline.run.plan.local_files import local_files, open_local
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import LabelFile, counted_labels, read_labels
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.shard_reader import Open
from goodgain.transforms.core.files.tables import recognise_table
from goodgain.transforms.core.judgments.result_labels import (
    RejectedLabel,
    ResultLabel,
    label_json,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord

_CHECKED_ROWS = 1_000  # rows of each file, enough to notice that it has no labels
_NO_ROW = object()  # not None, which stands for a row without a gain


def label_files(
    files: Iterable[InputFile], open_file: Open, iteration_base: int
) -> tuple[LabelFile, ...]:
    """Files of labels, each checked so that a wrong one is noticed before the run.

    Raises:
      UsageError: one of them cannot be read or has no rows, or none of its first rows has a label.
    """
    checked = tuple(
        LabelFile(recognise_table(file.path, open_file), file.size, number)
        for number, file in enumerate(files)
    )
    for file in checked:
        rows = islice(read_labels(file, open_file, iteration_base), _CHECKED_ROWS)
        first = next(rows, _NO_ROW)
        if first is _NO_ROW:
            raise UsageError(
                f"{file.table.path} has no rows (--labels); the first line of a table names its "
                "columns."
            )
        if isinstance(first, RejectedRecord) and all(
            isinstance(row, RejectedRecord) for row in rows
        ):
            raise UsageError(
                f"{file.table.path} has no labels (--labels). {first.position}: {first.reason}"
            )
    return checked


def local_labels(
    pattern: str | None, iteration_base: int, budget: MemoryBudget
) -> Iterator[ResultLabel]:
    """The labels in local files; empty without a pattern.

    Raises:
      UsageError: the pattern matches no file, or one of the files has no labels.
      GoodGainError: they exceed the memory limit of `budget`.
    """
    if pattern is None:
        return
    for file in label_files(local_files([pattern]), open_local, iteration_base):
        for row in counted_labels(read_labels(file, open_local, iteration_base), budget):
            if isinstance(row, ResultLabel):
                yield row


def rejected_row(rejected: RejectedLabel, files: Sequence[LabelFile]) -> RejectedRecord:
    """The row of `rejected` for a label that was not used."""
    label, other = rejected.label, rejected.other
    table = files[label.file].table
    reason = rejected.reason
    if other is not None:
        other_table = files[other.file].table
        position = other_table.position(other.row)
        reason += f" {other_table.path}, {position}: both are left out."
    return RejectedRecord(
        table.path,
        table.position(label.row),
        reason,
        conversation_id=label.conversation_id,
        payload=label_json(label),
    )
