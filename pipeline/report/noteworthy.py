"""The page's lists of conversations worth looking at: the worst by each of a few metrics."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.options.explain_command import explain_command
from goodgain.pipeline.terminal.safe_text import shortened

Row = Mapping[str, Any]
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8
_SHOWN = 6  # conversations per reason


class NoteworthyReason(Struct, frozen=True):
    """A reason to look at a conversation.

    Attributes:
      key: sort key; the most noteworthy conversation has the least.
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
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Consider a conversation that is in the means."""
        if self.reason.applies(row):
            insort(self.rows, row, key=self.reason.key)
            del self.rows[_SHOWN:]


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
