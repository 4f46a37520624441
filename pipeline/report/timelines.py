"""The results of each iteration of a conversation, as small bars (SPEC 5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from msgspec import Struct

Row = Mapping[str, Any]
MOST_ITERATIONS = 40
_COLUMNS = ("i", "iteration", "calls", "R_i", "UR_i", "GR_i", "G_i")


class Bar(Struct, frozen=True):
    """One iteration.

    Attributes:
      i, iteration: dense index and raw number.
      good, other, copies: number of results that are new and good, new and not good, or seen
        before.
      gain: total gain of the new good results.
    """

    i: int
    iteration: int
    calls: int
    good: int
    other: int
    copies: int
    gain: int

    @property
    def results(self) -> int:
        """All results of the iteration."""
        return self.good + self.other + self.copies


class Timeline(Struct):
    """The iterations of a conversation.

    Attributes:
      bars: the first iterations, in order.
      left_out: how many more there are.
    """

    bars: list[Bar]
    left_out: int = 0

    @property
    def tallest(self) -> int:
        """The number of results in the largest iteration, at least 1."""
        return max(1, *(bar.results for bar in self.bars), 1)


def read_timelines(rows: Iterable[Row], conversation_ids: Collection[str]) -> dict[str, Timeline]:
    """The timelines of some conversations by id; those of conversations without rows have no bars.

    Args:
      rows: rows of the dataset `iterations`, in any order.
    """
    by_conversation: dict[str, list[Bar]] = {identity: [] for identity in conversation_ids}
    for row in rows:
        bars = by_conversation.get(row["conversation_id"])
        if bars is not None:
            bars.append(_bar(row))
    return {identity: _timeline(bars) for identity, bars in by_conversation.items()}


def _bar(row: Row) -> Bar:
    i, iteration, calls, results, unique, good, gain = (row[name] for name in _COLUMNS)
    return Bar(i, iteration, calls, good, unique - good, results - unique, gain)


def _timeline(bars: list[Bar]) -> Timeline:
    bars.sort(key=lambda bar: bar.i)
    return Timeline(bars[:MOST_ITERATIONS], max(0, len(bars) - MOST_ITERATIONS))
