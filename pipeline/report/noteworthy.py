"""Finds the conversations worth looking at: the worst by each of a few metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from msgspec import Struct

Row = Mapping[str, Any]
_SHOWN = 6  # conversations per reason
_MOST_UNSORTED = 1_024  # conversations kept before the best are chosen again


class NoteworthyReason(Struct, frozen=True):
    """A reason to look at a conversation.

    Attributes:
      name: name of the metric.
      title, meaning: texts of the report.
      key: sort key; the most noteworthy conversation has the least.
      applies: whether a conversation is noteworthy for this reason.
    """

    name: str
    title: str
    meaning: str
    key: Callable[[Row], tuple[Any, ...]]
    applies: Callable[[Row], bool]


REASONS = (
    NoteworthyReason(
        "SRE",
        "Lowest search efficiency",
        "Few of the results were good and new. Ties: most results first.",
        lambda row: (row["SRE"], -row["R"], row["conversation_id"]),
        lambda row: row["SRE"] < 1,
    ),
    NoteworthyReason(
        "SRR",
        "Most repetition",
        "Many of the results repeated an earlier one. Ties: most copies first.",
        lambda row: (-row["SRR"], -row["DupR"], row["conversation_id"]),
        lambda row: row["SRR"] > 0,
    ),
    NoteworthyReason(
        "iterations_after_last_good",
        "Most wasted iterations",
        "The agent kept searching after the last good document it found.",
        lambda row: (-row["iterations_after_last_good"], -row["R"], row["conversation_id"]),
        lambda row: row["iterations_after_last_good"] > 0,
    ),
)


class Noteworthy:
    """The conversations that are most noteworthy for one reason; memory is bounded."""

    def __init__(self, reason: NoteworthyReason) -> None:
        self.reason = reason
        self._kept: list[tuple[tuple[Any, ...], Row]] = []
        self._last_key: tuple[Any, ...] | None = None

    def add(self, row: Row) -> None:
        """Consider a conversation that is in the means."""
        if not self.reason.applies(row):
            return
        key = self.reason.key(row)
        if self._last_key is not None and key >= self._last_key:
            return
        self._kept.append((key, row))
        if len(self._kept) >= _MOST_UNSORTED:
            self._trim()

    @property
    def rows(self) -> list[Row]:
        """The conversations, the most noteworthy first."""
        self._trim()
        return [row for _, row in self._kept]

    def _trim(self) -> None:
        self._kept.sort(key=itemgetter(0))
        del self._kept[_SHOWN:]
        if len(self._kept) == _SHOWN:
            self._last_key = self._kept[-1][0]
