"""The rows of datasets, made of the results of an evaluation, and the keys that they are sorted by.

What a run, a stream and `goodgain.evaluate` have in common is declared here once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.datasets import Dataset
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.relations import OutcomeRelation
from goodgain.transforms.core.means.slices import slice_key
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.score_rows import ConversationRow, IterationRow, LateRow
from goodgain.transforms.core.scoring.settings import Scoring

Row = dict[str, Any]
_DIGITS = 20


class TablesOf(Struct, frozen=True):
    """How to make Arrow's tables of many elements.

    Attributes:
      element_type: what to decode of each.
      make: makes the tables; a module-level function, like `DatasetRows.rows_of`.
    """

    element_type: type[Struct]
    make: Callable[[Iterable[Any]], Iterable[Any]]


class DatasetRows(Struct, frozen=True):
    """A dataset, and how to make its rows from an element.

    Attributes:
      rows_of: makes the rows of one element; a module-level function, so that it can be pickled.
      tables: how the rows of many elements are made at once, for formats that take tables.
    """

    dataset: Dataset
    rows_of: Callable[[Any], Iterable[Row]]
    tables: TablesOf | None = None


class SortedRows(Struct, frozen=True):
    """The rows of one or more datasets that are made of the same elements, in order.

    Attributes:
      key_of: the key of an element, by which it is sorted and partitioned.
    """

    datasets: tuple[DatasetRows, ...]
    element_type: type[Struct]
    key_of: Callable[[Any], str]


def rows_of_scores(scoring: Scoring, conversations: DatasetRows) -> SortedRows:
    """The rows of scored conversations, in as many datasets as the options of scoring ask for."""
    written = [DatasetRows(datasets.iterations(scoring.plan), iteration_rows)]
    if scoring.per_call:
        written.append(DatasetRows(datasets.calls(scoring.plan), call_rows))
    if scoring.write_duplicates:
        written.append(DatasetRows(datasets.DUPLICATES, duplicate_rows))
    return SortedRows((*written, conversations), ConversationScore, score_key)


def rows_of_structs(
    dataset: Dataset, element_type: type[Struct], key_of: Callable[[Any], str]
) -> SortedRows:
    """The rows of structs whose fields are the columns."""
    return SortedRows((DatasetRows(dataset, struct_row),), element_type, key_of)


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


def struct_row(row: Struct) -> list[Row]:
    """The row of a dataset whose columns are the fields of the struct."""
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


REJECTED = rows_of_structs(datasets.REJECTED, RejectedRecord, key_of_rejected)
# By table beside the traces.
REJECTED_ROWS = {
    table: rows_of_structs(dataset, RejectedRecord, key_of_rejected)
    for table, dataset in datasets.REJECTED_ROWS.items()
}
LATE = rows_of_structs(datasets.LATE, LateRow, late_key)
MEANS = rows_of_structs(datasets.MEANS, MeanRow, mean_key)
OUTCOME_RELATIONS = rows_of_structs(datasets.OUTCOME_RELATIONS, OutcomeRelation, relation_key)
