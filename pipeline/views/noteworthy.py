"""The conversations of a run that are worth looking at, each by one metric and once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

_Row = Mapping[str, Any]
LONGEST_QUERY = 120  # characters
_KEPT = 3  # conversations per list, two of which other lists may show
_of_last_page: dict[str, Sequence[Noteworthy]] = {}  # by when its run started


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


def remember_noteworthy(manifest: Mapping[str, Any], lists: Sequence[Noteworthy]) -> None:
    """Keep the lists on a run's page for its document, so that its rows are read once."""
    _of_last_page.clear()
    _of_last_page[manifest["started"]] = lists


def noteworthy_on_page(manifest: Mapping[str, Any]) -> Sequence[Noteworthy]:
    """The lists on the page of a run; none if this process built another page since, or no page."""
    return _of_last_page.get(manifest["started"], ())
