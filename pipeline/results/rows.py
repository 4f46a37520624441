"""Converts the results of the pipeline to rows of datasets, and to keys to sort the rows by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from msgspec.structs import asdict

from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.score_rows import ConversationRow, IterationRow, LateRow

Row = dict[str, Any]
_DIGITS = 20


def iteration_rows(score: ConversationScore) -> Iterator[Row]:
    """Rows of `iterations`."""
    return map(iteration_row, score.iterations)


def iteration_row(row: IterationRow) -> Row:
    """The row of `iterations` of one iteration."""
    place = row.conversation_id, row.turn, row.attributes, row.i, row.iteration
    return dict(zip(_iteration_columns(row.columns), (*place, *row.values), strict=True))


@lru_cache
def _iteration_columns(metrics: str) -> tuple[str, ...]:
    return ("conversation_id", "turn", "attributes", "i", "iteration", *metrics.split(" "))


def conversation_row(row: ConversationRow) -> Row:
    """The row of `conversations` of one conversation."""
    return {
        "conversation_id": row.conversation_id,
        "turn": row.turn,
        "attributes": row.attributes,
        **row.metrics,
        "rejected_records": row.rejected_records,
        "first_timestamp": row.first_timestamp,
        "last_timestamp": row.last_timestamp,
        **row.topic,
    }


def conversation_rows(score: ConversationScore) -> list[Row]:
    """The row of `conversations`."""
    return [conversation_row(score.conversation)]


def call_rows(score: ConversationScore) -> Iterator[Row]:
    """Rows of `calls`."""
    for call in score.calls:
        row = asdict(call)
        del row["columns"], row["values"]
        yield row | call.metrics


def duplicate_rows(score: ConversationScore) -> Iterator[Row]:
    """Rows of `duplicates`."""
    return map(asdict, score.duplicates)


def struct_row(row: LateRow | RejectedRecord) -> list[Row]:
    """The row of `late` or `rejected`, whose columns are the fields of the struct."""
    return [asdict(row)]


# Conversations and late records are sorted by the conversation.
score_key = attrgetter("conversation.conversation_id")
late_key = attrgetter("conversation_id")


def mean_key(row: MeanRow) -> str:
    """All conversations first, then slice by slice; in each, metrics at N before those at i."""
    return f"{slice_sort_key(row.slice)} {row.i or 0:06d} {row.metric} {row.population}"


def relation_key(row: OutcomeRelation) -> str:
    """All conversations first, then slice by slice; in each by outcome, metric and population."""
    return f"{slice_sort_key(row.slice)} {row.outcome} {row.metric} {row.population}"


def slice_sort_key(slice_: Mapping[str, str]) -> str:
    """All conversations first, then by attributes."""
    return f"{len(slice_)} {slice_key(slice_)}"


def key_of_rejected(row: RejectedRecord) -> str:
    """Rejected records by file and place."""
    # Numbers are padded, so that line 2 comes before line 10.
    position = re.sub("[0-9]+", lambda number: number[0].zfill(_DIGITS), row.position)
    return f"{row.source} {position}"
