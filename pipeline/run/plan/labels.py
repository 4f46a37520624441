"""Files of labels: finds them, checks them before a run, and describes what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Protocol

from msgspec import Struct

from goodgain.pipeline.run.plan.storage import Storage
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import (
    LabelFile,
    LabelRow,
    counted_labels,
    read_labels,
)
from goodgain.transforms.core.files.shard import InputFile, Open
from goodgain.transforms.core.files.tables import recognise_table
from goodgain.transforms.core.judgments.judgment import LabelRequest
from goodgain.transforms.core.judgments.result_labels import (
    LabelKey,
    RejectedLabel,
    ResultLabel,
    keys_of,
    label_json,
    place_labels,
)
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload, record_ids

_CHECKED_ROWS = 1_000  # rows of each file, enough to notice that it has no labels
_NO_ROW = object()  # not None, which stands for a row without a gain


Payloads = Mapping[str, Sequence[bytes]]  # by conversation


class JoinedLabels(Struct, frozen=True):
    """Labels that were sent to their conversations.

    Attributes:
      payloads: (conversation_id, payload), to be scored together with those of the records.
      counts: how much was joined and how much was not, by dotted name.
      rejected: rows for labels that cannot be used.
    """

    payloads: list[tuple[str, bytes]]
    counts: dict[str, int]
    rejected: list[RejectedRecord] = []


class LabelSource(Protocol):
    """Labels from outside the traces, in this process: of judgments, or of single results."""

    def join(self, payloads: Payloads, requests: Iterable[LabelRequest]) -> JoinedLabels:
        """Send labels to the conversations that were read.

        Args:
          requests: what the records ask of judgments.
        """


class LabelRows(Struct, frozen=True):
    """All labels, row by row, and the files that they come from."""

    files: tuple[LabelFile, ...]
    found: list[LabelRow]

    def labels(self) -> Iterator[ResultLabel]:
        """The valid rows."""
        return (one for one in self.found if isinstance(one, ResultLabel))

    def join(self, payloads: Payloads, _: Iterable[LabelRequest]) -> JoinedLabels:
        """See `LabelSource`; labels of other conversations are rejected."""
        by_key: dict[LabelKey, list[ResultLabel]] = {}
        for label in self.labels():
            by_key.setdefault(label.key, []).append(label)
        asking: dict[LabelKey, set[str]] = {}
        for conversation_id, packed in payloads.items():
            record_ids_of = [name for one in packed for name in record_ids(one)]
            for key in keys_of(conversation_id, record_ids_of):
                if key in by_key:
                    asking.setdefault(key, set()).add(conversation_id)
        joined: list[tuple[str, bytes]] = []
        rejected = [one for one in self.found if isinstance(one, RejectedRecord)]
        for key, labels in by_key.items():
            found, unplaced = place_labels(labels, asking.get(key, set()))
            if found is not None:
                joined.append((found, payload((), labels=labels)))
            rejected += self.rows(unplaced)
        counts = {
            "labels.read": len(self.found),
            "labels.empty": self.found.count(None),
            "labels.rejected": len(rejected),
        }
        return JoinedLabels(joined, counts, rejected)

    def rows(self, rejected: Iterable[RejectedLabel]) -> list[RejectedRecord]:
        """The rows of labels that match nothing."""
        return [rejected_row(one, self.files) for one in rejected]


def read_label_rows(
    files: tuple[LabelFile, ...], open_file: Open, iteration_base: int, budget: MemoryBudget
) -> LabelRows:
    """Read labels.

    Raises:
      GoodGainError: there are more than `budget` allows.
    """
    read = (one for file in files for one in read_labels(file, open_file, iteration_base))
    return LabelRows(files, list(counted_labels(read, budget)))


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


def find_labels(
    pattern: str, storage: Storage, iteration_base: int, label_map: LabelMap | None = None
) -> tuple[LabelFile, ...]:
    """Files of labels of single results, each checked.

    Raises:
      UsageError: the pattern matches none, or one of them holds no labels.
    """
    files = find_label_files(pattern, "labels", "--labels", storage)
    return label_files(files, storage.open, iteration_base, label_map)


def label_files(
    files: Iterable[InputFile],
    open_file: Open,
    iteration_base: int,
    label_map: LabelMap | None = None,
) -> tuple[LabelFile, ...]:
    """Files of labels, each checked so that a wrong one is noticed before the run.

    Raises:
      UsageError: one of them cannot be read or has no rows, or none of its first rows has a label.
    """
    checked = tuple(
        LabelFile(recognise_table(file.path, open_file), file.size, number, label_map)
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
