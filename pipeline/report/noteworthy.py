"""The page's lists of conversations worth looking at: the worst by each of a few metrics."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.options.explain_command import explain_command
from goodgain.pipeline.report.timelines import Timeline
from goodgain.pipeline.terminal.safe_text import shortened

Row = Mapping[str, Any]
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8
_SHOWN = 6  # conversations per reason


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
    """The conversations that are most noteworthy for one reason; memory is bounded.

    Attributes:
      rows: the conversations, the most noteworthy first.
    """

    def __init__(self, reason: NoteworthyReason) -> None:
        self.reason = reason
        self.rows: list[Row] = []

    def add(self, row: Row) -> None:
        """Consider a conversation that is in the means."""
        if self.reason.applies(row):
            insort(self.rows, row, key=self.reason.key)
            del self.rows[_SHOWN:]


class ListedConversation(Struct, frozen=True):
    """One conversation.

    Attributes:
      row: its row in the dataset `conversations`.
      name: its id, shortened and printable.
      attributes: the first few, in words.
      command: the `goodgain explain` command for it; None if it would be too long.
    """

    row: Row
    name: str
    attributes: str
    timeline: Timeline
    command: str | None


class ConversationList(Struct, frozen=True):
    """The conversations that are noteworthy for one reason, the most noteworthy first."""

    reason: NoteworthyReason
    conversations: tuple[ListedConversation, ...]


def lists_of(
    noteworthy: Sequence[Noteworthy],
    timelines: Mapping[str, Timeline],
    parameters: Mapping[str, Any],
) -> tuple[ConversationList, ...]:
    """The lists of the page.

    Args:
      noteworthy: the conversations of each list.
      timelines: timelines of all of these conversations, by id.
      parameters: parameters of the run.
    """
    return tuple(
        ConversationList(
            one.reason,
            tuple(
                ListedConversation(
                    row=row,
                    name=shortened(row["conversation_id"], _LONGEST_ID),
                    attributes=_attributes(row["attributes"]),
                    timeline=timelines[row["conversation_id"]],
                    command=explain_command(row["conversation_id"], parameters),
                )
                for row in one.rows
            ),
        )
        for one in noteworthy
    )


def _attributes(attributes: Mapping[str, str]) -> str:
    words = [
        f"{shortened(name, _LONGEST_ATTRIBUTE)} = {shortened(value, _LONGEST_ATTRIBUTE)}"
        for name, value in sorted(attributes.items())[:_MOST_ATTRIBUTES]
    ]
    more = len(attributes) - len(words)
    return ", ".join(words) + (f" and {more:,} more" if more else "")
