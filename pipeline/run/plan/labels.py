"""Files of labels: finds them, checks them before a run, and describes what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct

from goodgain.pipeline.run.plan.storage import Storage
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import (
    LabelFile,
    LabelRow,
    counted_labels,
    read_labels,
)
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.files.shard_reader import Open
from goodgain.transforms.core.files.tables import recognise_table
from goodgain.transforms.core.judgments.result_labels import (
    LabelKey,
    RejectedLabel,
    ResultLabel,
    conversation_of,
    keys_of,
    label_json,
    reject_unmatched,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload, record_ids

_CHECKED_ROWS = 1_000  # rows of each file, enough to notice that it has no labels
_NO_ROW = object()  # not None, which stands for a row without a gain


class LabelRows(Struct, frozen=True):
    """All labels, row by row, and the files that they come from."""

    files: tuple[LabelFile, ...]
    found: list[LabelRow]

    def labels(self) -> Iterator[ResultLabel]:
        """The valid rows."""
        return (one for one in self.found if isinstance(one, ResultLabel))


def read_label_rows(
    files: tuple[LabelFile, ...], open_file: Open, iteration_base: int, budget: MemoryBudget
) -> LabelRows:
    """Read labels.

    Raises:
      GoodGainError: there are more than `budget` allows.
    """
    read = (one for file in files for one in read_labels(file, open_file, iteration_base))
    return LabelRows(files, list(counted_labels(read, budget)))


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


def find_label_files(
    pattern: str, what: str, option: str, storage: Storage
) -> tuple[InputFile, ...]:
    """The files of judgments or labels that a path or pattern matches.

    Args:
      what: "judgments" or "labels", for messages.

    Raises:
      UsageError: it matches none, or files cannot be listed.
    """
    try:
        return tuple(storage.find([pattern]))
    except UsageError as error:
        text = str(error).replace("Input", f"The file of {what}", 1)
        raise UsageError(f"{text.rstrip('.')} ({option}).") from None


def find_labels(pattern: str, storage: Storage, iteration_base: int) -> tuple[LabelFile, ...]:
    """Files of labels of single results, each checked.

    Raises:
      UsageError: the pattern matches none, or one of them holds no labels.
    """
    files = find_label_files(pattern, "labels", "--labels", storage)
    return label_files(files, storage.open, iteration_base)


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
