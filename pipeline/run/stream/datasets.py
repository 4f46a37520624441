"""The datasets of a stream, and what they have in addition to a run's (SPEC 6, 7).

The rows of a pane are sorted by keys of their own.
"""

from __future__ import annotations

from msgspec.structs import asdict, replace

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.datasets import Column, Dataset
from goodgain.pipeline.results.rows import (
    DatasetRows,
    Row,
    SortedRows,
    conversation_row,
    iteration_row,
    mean_key,
    relation_key,
    rows_of_scores,
)
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.data_counts import EARLIER_TURN, SCORED
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.windowed_means import (
    PaneRow,
    WindowedMeanRow,
    WindowedRelation,
    WindowWarnings,
)

WARNINGS = datasets.load_shipped_dataset("stream/warnings")
# The first columns of rows that belong to a pane of a window.
_PANE = WARNINGS.columns[:4]

MEANS = Dataset(
    datasets.MEANS.name,
    "One row for each mean over the conversations of a window, in each pane. Among rows with the "
    "same window, slice, metric, i and population, use the one with the greatest pane.",
    (*_PANE, *datasets.MEANS.columns),
)

OUTCOME_RELATIONS = Dataset(
    datasets.OUTCOME_RELATIONS.name,
    "One row for each outcome that is 0 or 1, and metric at N, of the conversations of a window, "
    "in each pane. Among rows with the same window, slice, outcome, metric and population, use the "
    "one with the greatest pane.",
    (*_PANE, *datasets.OUTCOME_RELATIONS.columns),
)


def live(plan: MetricPlan) -> Dataset:
    """The dataset `live` of a stream with this plan."""
    return Dataset(
        "live",
        "Rows of iterations before their conversation is closed. Among rows with the same "
        "conversation_id, turn and i, use the one with the greatest revision.",
        (
            Column("revision", "whole", "Version of the row, from 1."),
            Column(
                "is_final", "flag", "Whether the row was written when the conversation was closed."
            ),
            Column(
                "withdrawn",
                "flag",
                "Whether the row is void: the conversation no longer has this iteration.",
            ),
            *datasets.iterations(plan).columns,
        ),
    )


def conversations(plan: MetricPlan) -> Dataset:
    """The dataset `conversations`, which also counts records, so that none is lost unseen."""
    batch = datasets.conversations(plan)
    columns = list(batch.columns)
    index = next(i for i, column in enumerate(columns) if column.name == "redelivered")
    columns[index:index] = [
        Column(
            "scored",
            "whole",
            "Usable records of the turn: its search calls, and the records of what was opened or "
            "cited.",
        ),
        Column("earlier_turn", "whole", "Usable records of earlier turns."),
    ]
    return replace(batch, columns=tuple(columns))


def conversation_rows(score: ConversationScore) -> list[Row]:
    """The row of `conversations`."""
    row = conversation_row(score.conversation)
    counted = {"scored": score.counts[SCORED], "earlier_turn": score.counts[EARLIER_TURN]}
    return [row | counted]


def rows_of_stream(scoring: Scoring) -> SortedRows:
    """The rows of the conversations of a stream."""
    conversations_of_stream = DatasetRows(conversations(scoring.plan), conversation_rows)
    return rows_of_scores(scoring, conversations_of_stream)


def live_rows(live: LiveIteration) -> list[Row]:
    """The row of `live`."""
    return [
        {
            "revision": live.revision,
            "is_final": live.is_final,
            "withdrawn": live.withdrawn,
            **iteration_row(live.row),
        }
    ]


def _key_of_live(live: LiveIteration) -> str:
    return f"{live.row.conversation_id} {live.row.turn:06d} {live.row.i:06d} {live.revision:06d}"


def rows_of_live(plan: MetricPlan) -> SortedRows:
    """The rows of iterations of open conversations."""
    return SortedRows((DatasetRows(live(plan), live_rows),), LiveIteration, _key_of_live)


def start_of_window(row: PaneRow) -> int:
    """The window that a row is about, which was over when its pane was emitted."""
    return row.window_start


def warning_rows(window: WindowWarnings) -> list[Row]:
    """The rows of `warnings`."""
    return [{**_of_pane(window), **asdict(warning)} for warning in window.warnings]


def windowed_rows(windowed: WindowedMeanRow | WindowedRelation) -> list[Row]:
    """The row of `means` or `outcome_relations`."""
    return [{**_of_pane(windowed), **asdict(windowed.row)}]


def _of_pane(row: PaneRow) -> Row:
    return {field: getattr(row, field) for field in PaneRow.__struct_fields__}


def _key_of_pane(row: PaneRow) -> str:
    return f"{row.window_start:020d} {row.pane:06d}"


def _key_of_mean(mean: WindowedMeanRow) -> str:
    return f"{_key_of_pane(mean)} {mean_key(mean.row)}"


def _key_of_relation(relation: WindowedRelation) -> str:
    return f"{_key_of_pane(relation)} {relation_key(relation.row)}"


ROWS_OF_MEANS = SortedRows((DatasetRows(MEANS, windowed_rows),), WindowedMeanRow, _key_of_mean)
ROWS_OF_RELATIONS = SortedRows(
    (DatasetRows(OUTCOME_RELATIONS, windowed_rows),), WindowedRelation, _key_of_relation
)
ROWS_OF_WARNINGS = SortedRows((DatasetRows(WARNINGS, warning_rows),), WindowWarnings, _key_of_pane)
