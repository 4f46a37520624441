"""The datasets of a stream, and the columns that they have in addition to a run's (SPEC 6, 7)."""

from __future__ import annotations

from msgspec.structs import asdict, replace

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import Column, Dataset
from goodgain.pipeline.results.rows import conversation_row, iteration_row
from goodgain.transforms.core.metrics.plan import MetricPlan
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.data_counts import EARLIER_TURN, SCORED
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.windowed_means import (
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


def warning_rows(window: WindowWarnings) -> list[Row]:
    """The rows of `warnings`."""
    return [{**_of_pane(window), **asdict(warning)} for warning in window.warnings]


def mean_rows(mean: WindowedMeanRow) -> list[Row]:
    """The row of `means`."""
    return [{**_of_pane(mean), **asdict(mean.row)}]


def relation_rows(relation: WindowedRelation) -> list[Row]:
    """The row of `outcome_relations`."""
    return [{**_of_pane(relation), **asdict(relation.row)}]


def _of_pane(row: WindowWarnings | WindowedMeanRow | WindowedRelation) -> Row:
    return {
        "window_start": row.window_start,
        "window_end": row.window_end,
        "pane": row.pane,
        "is_last": row.is_last,
    }
