"""The conversations of a run that are worth looking at, each by one metric and once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
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
_SHOWN = 3  # conversations of all lists together; a list keeps as many, in case others have none


class Noteworthy(Struct):
    """The conversations that are most noteworthy by one metric; memory is bounded.

    Attributes:
      title, meaning: texts of the page.
      reason: why a conversation is worth looking at, with a place for its value.
      lacking: a count; where it is 0, `reason_lacking` is told instead.
      reason_lacking: as `reason`.
      otherwise: what conversations did that are not noteworthy.
      ordinary: the value of conversations that are not noteworthy; all values lie on one side.
      tie: of two conversations with the same value, that with more of this is more noteworthy.
      rows: the most noteworthy first.
    """

    metric: str
    title: str
    meaning: str
    reason: str
    lacking: str
    reason_lacking: str
    otherwise: str
    ordinary: float
    tie: str
    rows: list[_Row] = []

    def applies(self, row: _Row) -> bool:
        """Whether a conversation is noteworthy."""
        return bool(row[self.metric] != self.ordinary)

    def key(self, row: _Row) -> tuple[Any, ...]:
        """Sort key; the most noteworthy conversation has the least."""
        return -abs(row[self.metric] - self.ordinary), -row[self.tie], row["conversation_id"]

    def reason_of(self, row: _Row) -> str:
        """Why a noteworthy conversation is worth looking at."""
        reason = self.reason if row[self.lacking] else self.reason_lacking
        return reason.format(value_text(self.metric, row[self.metric]))

    def add(self, row: _Row) -> None:
        """Consider a conversation that is in the means."""
        if self.applies(row):
            insort(self.rows, row, key=self.key)
            del self.rows[_SHOWN:]


def noteworthy() -> list[Noteworthy]:
    """The lists, still empty."""
    return [
        Noteworthy(
            "SRE",
            "Fewest good, new results",
            "Few of the results were good and new, or nothing was found. Ties: most results first.",
            "only {} of its results were good and new",
            lacking="R",
            reason_lacking="it found nothing: no search returned a result",
            otherwise="found only good, new results",
            ordinary=1,
            tie="R",
        ),
        Noteworthy(
            "SRR",
            "Most repetition",
            "Many of the results repeated an earlier one. Ties: most copies first.",
            "{} of its results repeated earlier ones",
            lacking="R",
            reason_lacking="it found nothing",
            otherwise="found only new results",
            ordinary=0,
            tie="DupR",
        ),
        Noteworthy(
            "iterations_after_last_good",
            "Most wasted iterations",
            "The agent kept searching after the last good document it found, or found none.",
            "iterations that it searched after its last good document: {}",
            lacking="GR",
            reason_lacking="iterations that it searched without finding a good document: {}",
            otherwise="found a good document in the last iteration",
            ordinary=0,
            tie="R",
        ),
    ]


def keep_known_lists(lists: Iterable[Noteworthy], means: Mapping[str, _Row]) -> list[Noteworthy]:
    """The lists by metrics whose means are known.

    Args:
      means: at the end, over all conversations, by metric.
    """
    return [
        list_ for list_ in lists if list_.metric in means and not lacks_labels(means[list_.metric])
    ]


def deal_out(lists: Sequence[Noteworthy]) -> list[Noteworthy]:
    """The lists with three conversations together, if there are as many, each in one list.

    The lists take turns: each time the most noteworthy conversation that none has taken yet.
    """
    taken = set[str]()
    rows: list[list[_Row]] = [[] for _ in lists]
    for _, at in product(range(_SHOWN), range(len(lists))):
        left = (row for row in lists[at].rows if row["conversation_id"] not in taken)
        if len(taken) < _SHOWN and (row := next(left, None)):
            taken.add(row["conversation_id"])
            rows[at].append(row)
    return [replace(list_, rows=chosen) for list_, chosen in zip(lists, rows, strict=True)]


def highlights_part(
    lists: Sequence[Noteworthy],
    conversations: int,
    queries: Mapping[str, str],
    parameters: Mapping[str, Any],
) -> Iterator[Sentence]:
    """The conversations that are worth looking at, and how to do it; or why there are few.

    Args:
      lists: by metrics whose means are known, each conversation once.
      conversations: how many are in the means.
      queries: the first query by conversation, as far as it is known.
    """
    if not lists or not conversations:
        return
    found = [(list_, row) for list_ in lists for row in list_.rows]
    yield Sentence(_opening(len(found), conversations, lists[0].otherwise), apart=True)
    for list_, row in found:
        query = queries.get(row["conversation_id"])
        asked = "" if query is None else f', first query "{shorten(query, LONGEST_QUERY)}"'
        yield Sentence(list_.reason_of(row) + asked, indent=1)
        command = explain_command(row["conversation_id"], parameters)
        if command is not None:
            yield Sentence(command, "strong", indent=2, whole=True)


def _opening(found: int, conversations: int, otherwise: str) -> str:
    if not found:
        return f"Worth looking at: no conversation, since all {otherwise}."
    if found < min(_SHOWN, conversations):
        return f"Worth looking at (the others {otherwise}):"
    return "Worth looking at:"
