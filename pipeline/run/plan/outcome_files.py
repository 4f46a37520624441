"""Outcomes from outside the traces: finds and checks files of them, and joins rows here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from goodgain.pipeline.run.plan.labels import find_label_files
from goodgain.pipeline.run.plan.storage import Storage
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.labels import LabelFile
from goodgain.transforms.core.files.outcomes import (
    OutcomeRow,
    OutcomesOfRow,
    counted_outcomes,
    join_outcomes,
    read_outcomes,
    unused_record,
)
from goodgain.transforms.core.files.shard import Open
from goodgain.transforms.core.files.tables import recognise_table
from goodgain.transforms.core.memory_budget import MemoryBudget
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.payload import payload

_CHECKED_ROWS = 1_000  # rows of each file, enough to notice that it has no outcomes


class GivenOutcomes(Struct, frozen=True):
    """Where outcomes come from.

    Attributes:
      files: for rows that the caller holds, one that stands for them.
      names: of the outcomes to read; None = every column.
      seen: names of outcomes in the first rows.
    """

    files: tuple[LabelFile, ...] = ()
    names: tuple[str, ...] | None = None
    seen: frozenset[str] = frozenset()


NO_OUTCOMES = GivenOutcomes()


class OutcomesHere(Struct, frozen=True):
    """Outcomes that were joined in this process.

    Attributes:
      payloads: (conversation_id, payload), to be scored together with those of the records.
      counts: by dotted name.
      rejected: rows that cannot be used.
    """

    payloads: list[tuple[str, bytes]]
    counts: dict[str, int]
    rejected: list[RejectedRecord]


def find_outcomes(pattern: str, names: tuple[str, ...] | None, storage: Storage) -> GivenOutcomes:
    """Files of outcomes, each checked so that a wrong one is noticed before the run.

    Args:
      names: of the outcomes to read; None = every column.

    Raises:
      UsageError: the pattern matches none, or one of them holds no outcomes.
    """
    found = find_label_files(pattern, "outcomes", "--outcomes", storage)
    files = tuple(
        LabelFile(recognise_table(file.path, storage.open), file.size, number)
        for number, file in enumerate(found)
    )
    seen: set[str] = set()
    for file in files:
        rows = list(islice(read_outcomes(file, storage.open, names), _CHECKED_ROWS))
        rejected = [row for row in rows if isinstance(row, RejectedRecord)]
        if len(rejected) == len(rows):
            why = f" {rejected[0].position}: {rejected[0].reason}" if rejected else ""
            raise UsageError(f"{file.table.path} has no outcomes (--outcomes).{why}")
        seen.update(name for row in rows if isinstance(row, OutcomesOfRow) for name in row.values)
    return GivenOutcomes(files, names, frozenset(seen))


class OutcomeRows(Struct, frozen=True):
    """All rows of outcomes, and the files that they come from.

    Attributes:
      files: for rows that the caller holds, one that stands for them.
      names: of the outcomes that were read; None = all.
    """

    files: tuple[LabelFile, ...]
    found: list[OutcomeRow]
    names: tuple[str, ...] | None = None

    @property
    def described(self) -> GivenOutcomes:
        """Their description."""
        seen = frozenset(name for row in self._usable() for name in row.values)
        return GivenOutcomes(self.files, self.names, seen)

    def of(self, conversation_id: str) -> dict[str, float]:
        """The outcomes of one conversation that has records."""
        rows = [row for row in self._usable() if row.conversation_id == conversation_id]
        return join_outcomes(rows, exists=True).values

    def join(self, payloads: Mapping[str, Sequence[bytes]]) -> OutcomesHere:
        """Send the outcomes to the conversations that were read."""
        by_conversation: dict[str, list[OutcomesOfRow]] = {}
        for row in self._usable():
            by_conversation.setdefault(row.conversation_id, []).append(row)
        rejected = [row for row in self.found if isinstance(row, RejectedRecord)]
        found = []
        joined = repeated = 0
        for conversation_id, rows in by_conversation.items():
            of_one = join_outcomes(rows, conversation_id in payloads)
            joined, repeated = joined + of_one.joined, repeated + of_one.repeated
            rejected += (unused_record(unused, self.files) for unused in of_one.unused)
            if of_one.values:
                found.append((conversation_id, payload((), outcomes=of_one.values)))
        counts = {
            "outcomes.read": len(self.found),
            "outcomes.joined": joined,
            "outcomes.repeated": repeated,
            "outcomes.empty": self.found.count(None),
            "outcomes.rejected": len(rejected),
        }
        return OutcomesHere(found, counts, rejected)

    def _usable(self) -> Iterator[OutcomesOfRow]:
        return (row for row in self.found if isinstance(row, OutcomesOfRow))


def read_outcome_rows(given: GivenOutcomes, open_file: Open, budget: MemoryBudget) -> OutcomeRows:
    """Read all outcomes.

    Raises:
      GoodGainError: there are more than `budget` allows.
    """
    read = (row for file in given.files for row in read_outcomes(file, open_file, given.names))
    return OutcomeRows(given.files, list(counted_outcomes(read, budget)), given.names)
