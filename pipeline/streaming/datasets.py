"""What the datasets of a stream hold beyond those of a run (SPEC 6, 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import asdict, replace

from goodgain.pipeline.outputs import datasets
from goodgain.pipeline.outputs.datasets import Column, Dataset
from goodgain.pipeline.outputs.formats import Row
from goodgain.pipeline.outputs.rows import RankedRows, iteration_row
from goodgain.transforms.core.ranking import RankingMetric
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.core.streaming.live import LiveIteration
from goodgain.transforms.core.streaming.window_warnings import WindowWarnings
from goodgain.transforms.core.streaming.windowed_means import WindowedMeanRow

_START = Column(
    "start", "whole", "How often the stream had been started when the row was written, from 1."
)


def _pane_columns(given: str) -> tuple[Column, ...]:
    """What begins the rows of a pane of a window, by what they were given with."""
    return (
        Column("window_start", "time", "The window; a conversation counts by its last event."),
        Column("window_end", "time", "Its end, excluded."),
        _START,
        Column("pane", "whole", f"How often the {given} had been given since the start, from 0."),
        Column("is_last", "flag", "Nothing more will be given of the window."),
    )


def live(pooled: bool = False, costs: Sequence[str] = ()) -> Dataset:
    """The dataset `live`.

    Args:
      pooled: whether there is a pool, which adds its shares.
      costs: names of the costs that are looked at.
    """
    return Dataset(
        "live",
        "Rows of iterations before their conversation is closed. Of rows with the same "
        "conversation_id, turn and i the one with the greatest start, then revision, counts.",
        (
            _START,
            Column("revision", "whole", "How often the row was given since the start, from 1."),
            Column("is_final", "flag", "Given when the conversation was closed."),
            Column("withdrawn", "flag", "The row is void: the conversation has no such iteration."),
            *datasets.iterations(pooled, costs).columns,
        ),
    )


LIVE = live()

MEANS = Dataset(
    datasets.MEANS.name,
    "One row for each mean over the conversations of a window, in each pane. Of rows with the same "
    "window, slice, metric, i and population the one with the greatest start, then pane, counts.",
    (
        *_pane_columns("mean"),
        *datasets.MEANS.columns,
    ),
)

WARNINGS = Dataset(
    "warnings",
    "What is odd about the data of a window. Of rows with the same window those with the greatest "
    "start, then pane, count; where these say `none`, there is nothing any more.",
    (
        *_pane_columns("means"),
        Column("code", "text", "Which warning."),
        Column("count", "whole", "How many results, records or names are concerned."),
        Column("share", "number", "Their part of all, 0..1.", nullable=True),
        Column("message", "text", "What was found and what it does to the numbers."),
        Column("remedy", "text", "What to do."),
    ),
)


def conversations(
    metrics: Sequence[RankingMetric], pooled: bool = False, costs: Sequence[str] = ()
) -> Dataset:
    """The dataset `conversations`; its rows alone tell what became of their records."""
    batch = datasets.conversations(metrics, pooled=pooled, costs=costs)
    columns = list(batch.columns)
    place = next(at for at, column in enumerate(columns) if column.name == "redelivered")
    columns.insert(place, Column("earlier_turn", "whole", "Usable records of earlier turns."))
    return replace(batch, columns=tuple(columns))


class StreamRows:
    """Rows with the columns of a stream.

    Attributes:
      start: how often the stream has been started.
      ranked: gives the rows that a run would.
    """

    def __init__(self, start: int, ranked: RankedRows) -> None:
        self.start = start
        self.ranked = ranked

    def conversation(self, score: ConversationScore) -> Iterator[Row]:
        """The row of `conversations`."""
        for row in self.ranked.conversation(score):
            yield {**row, "earlier_turn": score.counts["records.earlier_turn"]}

    def live(self, live: LiveIteration) -> list[Row]:
        """The row of `live`."""
        return [
            {
                "start": self.start,
                "revision": live.revision,
                "is_final": live.is_final,
                "withdrawn": live.withdrawn,
                **iteration_row(live.row),
            }
        ]

    def warnings(self, found: WindowWarnings) -> list[Row]:
        """The rows of `warnings`."""
        return [{**self._pane(found), **asdict(warning)} for warning in found.warnings]

    def mean(self, mean: WindowedMeanRow) -> list[Row]:
        """The row of `means`."""
        return [{**self._pane(mean), **asdict(mean.row)}]

    def _pane(self, given: WindowWarnings | WindowedMeanRow) -> Row:
        return {
            "window_start": given.window_start,
            "window_end": given.window_end,
            "start": self.start,
            "pane": given.pane,
            "is_last": given.is_last,
        }
