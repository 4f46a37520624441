"""The page's lists of conversations worth looking at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from goodgain.pipeline.options.explain_command import explain_command
from goodgain.pipeline.report.noteworthy import Noteworthy, NoteworthyReason
from goodgain.pipeline.report.timelines import Timeline
from goodgain.pipeline.terminal.words import shortened

Row = Mapping[str, Any]
_LONGEST_ID = 80
_LONGEST_ATTRIBUTE = 40
_MOST_ATTRIBUTES = 8


class Listed(Struct, frozen=True):
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


class List(Struct, frozen=True):
    """The conversations that are noteworthy for one reason, the most noteworthy first."""

    reason: NoteworthyReason
    conversations: tuple[Listed, ...]


def lists_of(
    noteworthy: Sequence[Noteworthy],
    timelines: Mapping[str, Timeline],
    parameters: Mapping[str, Any],
) -> tuple[List, ...]:
    """The lists of the page.

    Args:
      noteworthy: the conversations of each list.
      timelines: timelines of all of these conversations, by id.
      parameters: parameters of the run.
    """
    return tuple(
        List(
            one.reason,
            tuple(
                Listed(
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
