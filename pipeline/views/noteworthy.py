"""The conversations of a run that are worth looking at, each by one metric and once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from goodgain.pipeline.document.model import Sentence
from goodgain.pipeline.document.numbers import value_text
from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.settings.explain_command import explain_command
from goodgain.pipeline.views.means import lacks_labels

_Row = Mapping[str, Any]
LONGEST_QUERY = 120  # characters
_KEPT = 3  # conversations per list, two of which other lists may show


class Noteworthy(Struct):
    """The conversations that are most noteworthy by one metric; memory is bounded.

    Attributes:
      title, meaning: texts of the page.
      reason: why a conversation is worth looking at, with a place for its value.
      ordinary: the value of conversations that are not noteworthy; all values lie on one side.
      tie: of two conversations with the same value, that with more of this is more noteworthy.
      rows: the most noteworthy first.
    """

    metric: str
    title: str
    meaning: str
    reason: str
    ordinary: float
    tie: str
    rows: list[_Row] = []

    def applies(self, row: _Row) -> bool:
        """Whether a conversation is noteworthy."""
        return bool(row[self.metric] != self.ordinary)

    def key(self, row: _Row) -> tuple[Any, ...]:
        """Sort key; the most noteworthy conversation has the least."""
        return -abs(row[self.metric] - self.ordinary), -row[self.tie], row["conversation_id"]

    def add(self, row: _Row) -> None:
        """Consider a conversation that is in the means."""
        if self.applies(row):
            insort(self.rows, row, key=self.key)
            del self.rows[_KEPT:]


def noteworthy() -> list[Noteworthy]:
    """The lists, still empty."""
    return [
        Noteworthy(
            "SRE",
            "Lowest search efficiency",
            "Few of the results were good and new. Ties: most results first.",
            "only {} of its results were good and new",
            ordinary=1,
            tie="R",
        ),
        Noteworthy(
            "SRR",
            "Most repetition",
            "Many of the results repeated an earlier one. Ties: most copies first.",
            "{} of its results repeated earlier ones",
            ordinary=0,
            tie="DupR",
        ),
        Noteworthy(
            "iterations_after_last_good",
            "Most wasted iterations",
            "The agent kept searching after the last good document it found.",
            "iterations that it searched after its last good document: {}",
            ordinary=0,
            tie="R",
        ),
    ]


def each_once(lists: Iterable[Noteworthy]) -> list[Noteworthy]:
    """The lists, each with its most noteworthy conversation that no list before it shows."""
    shown: list[Noteworthy] = []
    taken = set[str]()
    for list_ in lists:
        left = [row for row in list_.rows if row["conversation_id"] not in taken][:1]
        taken.update(row["conversation_id"] for row in left)
        shown.append(replace(list_, rows=left))
    return shown


def highlights_part(
    lists: Iterable[Noteworthy],
    means: Mapping[str, _Row],
    queries: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> Iterator[Sentence]:
    """The most noteworthy conversation of each list, and how to look at it.

    Args:
      means: at the end, over all conversations, by metric; what they lack is not told.
      queries: the first query by conversation, as far as it is known.
    """
    found = [
        (list_, list_.rows[0])
        for list_ in lists
        if list_.rows and list_.metric in means and not lacks_labels(means[list_.metric])
    ]
    if found:
        yield Sentence("Worth looking at:", apart=True)
    for list_, row in found:
        reason = list_.reason.format(value_text(list_.metric, row[list_.metric]))
        query = queries.get(row["conversation_id"])
        asked = "" if query is None else f', first query "{shorten(query, LONGEST_QUERY)}"'
        yield Sentence(reason + asked, indent=1)
        command = explain_command(row["conversation_id"], parameters)
        if command is not None:
            yield Sentence(command, "strong", indent=2, whole=True)
