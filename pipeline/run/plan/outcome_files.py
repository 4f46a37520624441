"""Files of outcomes: finds them, checks them before a run, and joins them in this process."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    """Files of outcomes.

    Attributes:
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


def find_outcomes(pattern: str, names: Collection[str] | None, storage: Storage) -> GivenOutcomes:
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
    return GivenOutcomes(files, None if names is None else tuple(names), frozenset(seen))


def join_here(
    given: GivenOutcomes,
    payloads: Mapping[str, Sequence[bytes]],
    open_file: Open,
    budget: MemoryBudget,
) -> OutcomesHere:
    """Read all outcomes and send them to the conversations that were read.

    Raises:
      GoodGainError: there are more than `budget` allows.
    """
    read = (row for file in given.files for row in read_outcomes(file, open_file, given.names))
    rows: list[OutcomeRow] = list(counted_outcomes(read, budget))
    by_conversation: dict[str, list[OutcomesOfRow]] = {}
    for row in rows:
        if isinstance(row, OutcomesOfRow):
            by_conversation.setdefault(row.conversation_id, []).append(row)
    rejected = [row for row in rows if isinstance(row, RejectedRecord)]
    found = []
    joined = repeated = 0
    for conversation_id, of_one in by_conversation.items():
        one = join_outcomes(of_one, conversation_id in payloads)
        joined, repeated = joined + one.joined, repeated + one.repeated
        rejected += (unused_record(unused, given.files) for unused in one.unused)
        if one.values:
            found.append((conversation_id, payload((), outcomes=one.values)))
    counts = {
        "outcomes.read": len(rows),
        "outcomes.joined": joined,
        "outcomes.repeated": repeated,
        "outcomes.empty": rows.count(None),
        "outcomes.rejected": len(rejected),
    }
    return OutcomesHere(found, counts, rejected)
