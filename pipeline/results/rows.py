"""Converts the results of the pipeline to rows of datasets, and to keys to sort the rows by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from goodgain.transforms.core.means.rows import MeanRow
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.records.rejected import RejectedRecord
from goodgain.transforms.core.scoring.computed import columns_of
from goodgain.transforms.core.scoring.rows import IterationRow, LateRow
from goodgain.transforms.core.scoring.score import ConversationScore

Row = dict[str, Any]
_DIGITS = 20


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


def struct_row(row: LateRow | RejectedRecord) -> list[Row]:
    """The row of `late` or `rejected`, whose columns are the fields of the struct."""
    return [asdict(row)]


# Conversations and late records are sorted by the conversation.
score_key = attrgetter("conversation.conversation_id")
late_key = attrgetter("conversation_id")


def mean_key(row: MeanRow) -> str:
    """All conversations first, then slice by slice; in each, metrics at N before those at i."""
    return f"{slice_sort_key(row.slice)} {row.i or 0:06d} {row.metric} {row.population}"


def slice_sort_key(slice_: Mapping[str, str]) -> str:
    """All conversations first, then by attributes."""
    return f"{len(slice_)} {slice_key(slice_)}"


def rejected_key(row: RejectedRecord) -> str:
    """Rejected records by file and place."""
    # Numbers are padded, so that line 2 comes before line 10.
    position = re.sub("[0-9]+", lambda number: number[0].zfill(_DIGITS), row.position)
    return f"{row.source} {position}"
