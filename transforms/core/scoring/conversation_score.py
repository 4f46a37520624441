"""The score of one conversation: its values in the order of the plan, and what it counts."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.metrics.group import Terms, Values
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.duplicate_table import DuplicateTable
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.core.scoring.score_rows import (
    CallRow,
    ConversationRow,
    DuplicateRow,
    IterationRow,
)


class BestValues(Struct, frozen=True, array_like=True):
    """The values of a conversation if every unlabelled document had the best label.

    They are null where a metric has no bounds (SPEC 8) or is undefined. The worst case is the
    values themselves, since an unlabelled result has gain 0.
    """

    at_n: Values
    by_i: list[Values]
    calls: list[Values]


class AtBudget(Struct, frozen=True, array_like=True):
    """The values of a conversation within a budget, and whether it spent that much."""

    values: Values
    reached: bool


class ConversationScore(Struct, frozen=True, array_like=True):
    """The score of one conversation: its values, and its contribution to counts.

    Attributes:
      conversation: its row of the dataset `conversations`, a `ConversationRow`.
      numbers: the raw numbers of its iterations i = 1..N.
      columns: names of the metrics of an iteration, with spaces between.
      by_i: their values for i = 1, 2, ...; beyond N those of empty iterations, up to `max_i`.
      idle: without search, its values at N in the population `everyone`.
      budgets: gains at the requested budgets.
      ratios: what it adds to each ratio of sums; None if it does not count.
      calls: a row for each search call, if requested.
      duplicate_table: its duplicates, if requested; see `duplicates`.
      best: the best case; None if not requested or without search.
      counts: its contribution to the manifest's counts, by dotted name, like `records.scored`.
      closed: when a stream closed it, in ms of event time; None in batch.
      rejected_labels: labels for its results that could not be used.
      contradicted_ids: examples of duplicates by ids that URL and title contradict.

    Example: see `ScoreConversations`.
    """

    conversation: ConversationRow
    numbers: list[int]
    columns: str
    by_i: list[Values]
    idle: Values
    budgets: list[AtBudget]
    ratios: list[Terms | None]
    counts: dict[str, int]
    calls: list[CallRow] = []
    duplicate_table: DuplicateTable | None = None
    best: BestValues | None = None
    closed: int | None = None
    rejected_labels: list[UnusedRow] = []
    contradicted_ids: list[ContradictedId] = []

    @property
    def iterations(self) -> list[IterationRow]:
        """Its rows of `iterations`, in order."""
        row = self.conversation
        return [
            IterationRow(
                conversation_id=row.conversation_id,
                turn=row.turn or 0,
                attributes=row.attributes,
                i=i,
                iteration=number,
                columns=self.columns,
                values=values,
            )
            for i, (number, values) in enumerate(zip(self.numbers, self.by_i, strict=False), 1)
        ]

    @property
    def duplicates(self) -> list[DuplicateRow]:
        """Its rows of `duplicates`, in order; none if they were not requested."""
        if self.duplicate_table is None:
            return []
        row = self.conversation
        rows = self.duplicate_table.rows(row.conversation_id, row.turn or 0, self.numbers)
        return list(rows)
