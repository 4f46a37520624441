"""The page's lists of conversations worth looking at: the worst by each of a few metrics."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.options.explain_command import explain_command
from goodgain.pipeline.terminal.safe_text import shortened

Row = Mapping[str, Any]
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8
_SHOWN = 6  # conversations per metric


class Noteworthy(Struct):
    """The conversations that are most noteworthy by one metric; memory is bounded.

    Attributes:
      title, meaning: texts of the page.
      ordinary: the value of conversations that are not noteworthy; all values lie on one side.
      tie: of two conversations with the same value, that with more of this is more noteworthy.
      rows: the most noteworthy first.
    """

    metric: str
    title: str
    meaning: str
    ordinary: float
    tie: str
    rows: list[Row] = []

    def applies(self, row: Row) -> bool:
        """Whether a conversation is noteworthy."""
        return bool(row[self.metric] != self.ordinary)

    def key(self, row: Row) -> tuple[Any, ...]:
        """Sort key; the most noteworthy conversation has the least."""
        return -abs(row[self.metric] - self.ordinary), -row[self.tie], row["conversation_id"]

    def add(self, row: Row) -> None:
        """Consider a conversation that is in the means."""
        if self.applies(row):
            insort(self.rows, row, key=self.key)
            del self.rows[_SHOWN:]


def noteworthy() -> list[Noteworthy]:
    """The lists of the page, still empty."""
    return [
        Noteworthy(
            "SRE",
            "Lowest search efficiency",
            "Few of the results were good and new. Ties: most results first.",
            ordinary=1,
            tie="R",
        ),
        Noteworthy(
            "SRR",
            "Most repetition",
            "Many of the results repeated an earlier one. Ties: most copies first.",
            ordinary=0,
            tie="DupR",
        ),
        Noteworthy(
            "iterations_after_last_good",
            "Most wasted iterations",
            "The agent kept searching after the last good document it found.",
            ordinary=0,
            tie="R",
        ),
    ]


def listed(
    rows: Sequence[Row], iterations: Mapping[str, Sequence[Row]], parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Conversations as the page lists them.

    Args:
      iterations: their rows in the dataset `iterations` by id, in any order.

    Returns:
      For each its `row`, `name` and first `attributes` as text, `iterations` in order, and the
      `command` that explains it, None if that would be too long.
    """
    return [
        {
            "row": row,
            "name": shortened(row["conversation_id"], _LONGEST_ID),
            "attributes": _attributes(row["attributes"]),
            "iterations": sorted(iterations[row["conversation_id"]], key=lambda one: int(one["i"])),
            "command": explain_command(row["conversation_id"], parameters),
        }
        for row in rows
    ]


def _attributes(attributes: Mapping[str, str]) -> str:
    words = [
        f"{shortened(name, _LONGEST_ATTRIBUTE)} = {shortened(value, _LONGEST_ATTRIBUTE)}"
        for name, value in sorted(attributes.items())[:_MOST_ATTRIBUTES]
    ]
    more = len(attributes) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")
