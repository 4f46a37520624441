"""Converts the pipeline's results to rows of datasets: dicts by column name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict

from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.computed import columns_of
from goodgain.transforms.core.scoring.rows import IterationRow, LateRow
from goodgain.transforms.core.scoring.score import ConversationScore

Row = dict[str, Any]


def iteration_rows(score: ConversationScore) -> Iterator[Row]:
    """Rows of `iterations`."""
    return map(iteration_row, score.iterations)


def iteration_row(row: IterationRow) -> Row:
    """The row of `iterations` of one iteration."""
    written = columns_of(row)
    if (pool := written.pop("pool")) is not None:
        written.update(asdict(pool))
    return with_cost_columns(written)


def with_cost_columns(row: Row) -> Row:
    """A row of iterations or conversations with a column for each cost."""
    costs = row.pop("costs")
    row.update(costs)
    return row


def duplicate_rows(score: ConversationScore) -> Iterator[Row]:
    """Rows of `duplicates`."""
    return map(asdict, score.duplicates)


class RankedRows:
    """Rows of `conversations` and `calls`, whose last columns are the requested ranking metrics.

    Attributes:
      metrics: their names, in the order of the values.
    """

    def __init__(self, metrics: tuple[str, ...]) -> None:
        self.metrics = metrics

    def conversation(self, score: ConversationScore) -> list[Row]:
        """The row of `conversations`."""
        row = with_cost_columns(columns_of(score.conversation))
        if row["judgments_met_again"] is None:
            del row["judgments_met_again"], row["qrels_best"]
        row.update(zip(self.metrics, row.pop("ranking"), strict=True))
        if (pool := row.pop("pool")) is not None:
            row.update(asdict(pool))
        return [row]

    def calls(self, score: ConversationScore) -> Iterator[Row]:
        """Rows of `calls`."""
        for call in score.calls:
            row = asdict(call)
            row.update(zip(self.metrics, row.pop("ranking"), strict=True))
            yield row


def late_rows(row: LateRow) -> list[Row]:
    """The row of `late`."""
    return [asdict(row)]


def rejected_rows(row: RejectedRecord) -> list[Row]:
    """The row of `rejected`."""
    return [asdict(row)]
