"""The trace record: one search call with its ranked, labelled results (SPEC 2).

A record may instead hold the documents that the agent opened, or that its answer cites.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from goodgain.transforms.core.records.iso_time import parse_time

GREATEST_GAIN = 4
LARGEST_INT = 2**31 - 1
LARGEST_FLOAT = 1.7976931348623157e308
EARLIEST_MILLIS = -62_135_596_800_000  # 0001-01-01T00:00:00Z
LATEST_MILLIS = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
_MILLIS = re.compile(r"(-?[0-9]{11,15})(\.0+)?")  # an ISO 8601 date has fewer digits in a row

Gain = Annotated[int, Meta(ge=0, le=GREATEST_GAIN)]
FiniteFloat = Annotated[float, Meta(ge=-LARGEST_FLOAT, le=LARGEST_FLOAT)]
# Far above any real cost, but low enough that sums and squares stay finite.
LARGEST_COST = 1e100
Cost = Annotated[float, Meta(ge=0, le=LARGEST_COST)]
RecordId = Annotated[str, Meta(pattern=r"\S")]  # a blank id does not identify
Action = Literal["search", "open", "cite"]
SEARCH: Action = "search"
OPEN: Action = "open"
CITE: Action = "cite"
USAGES = (OPEN, CITE)  # the actions of documents that the agent used
# The texts of a result. Under these names `fields` has nothing that counts.
TEXTS = ("title", "snippet", "content")
# `parsing` makes a list of one a plain string (SPEC 4.1), so that a record has only one encoding.
OneOrMany = str | Annotated[list[str], Meta(min_length=1)]


class Millis(int):
    """A point in time: milliseconds since 1970-01-01T00:00:00Z."""


class Result(Struct, frozen=True, gc=False):
    """One retrieved item and its label.

    Attributes:
      entity_type: like File, Event or EmailMessage; selects the rules for duplicates.
      id: generic id, which may change between queries.
      ids: named ids, like `file_id`; each a string, or a list of them.
      url, title, snippet, content: texts of the item; None where there is none.
      fields: further metadata, like `author`; each a string, or a list of them.
      gain: the label, 0 to 4; None if not labelled.
      score: the retriever's score.
      aspects: the aspects of the topic that a judge found in it, like sub-questions; [] if judged
        to have none, None if not judged for aspects.
      reference_id: a citation marker; never used to tell documents apart.

    Example: see `SearchCall`.
    """

    entity_type: str | None = None
    id: str | None = None
    ids: dict[str, OneOrMany] = {}
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    content: str | None = None
    fields: dict[str, OneOrMany] = {}
    gain: Gain | None = None
    score: FiniteFloat | None = None
    aspects: list[str] | None = None
    reference_id: str | None = None


class SearchCall(Struct, frozen=True, gc=False):
    """One search by an agent: the trace record.

    Attributes:
      conversation_id: the conversation; not blank.
      iteration: raw number of the reasoning step, from 1.
      turn: number of the user's request, from 1; only the last turn is evaluated.
      call: order of the call inside its iteration, from 0; None if unknown.
      record_id: identity of the record, to detect that it was delivered twice.
      timestamp: event time in milliseconds since 1970, UTC; required in a stream.
      query, tool: what was searched for, and with what.
      turn_count: number of turns of the conversation, if known.
      is_final: whether the conversation ends with this record.
      action: `search`; or `open` or `cite`, if the results are documents that the agent read, or
        that its answer cites: such a record is no search, and so makes no iteration.
      error: what the call said when it failed; a failed search was invoked all the same.
      outcomes: what became of the turn, by name, like `correct`: 1 or `rating`: 0.8.
      attributes: dimensions to slice by, like `market`.
      costs: what the call cost, by name, like `tokens`; each at least 0.
      results: the results, in rank order.

    Example:
      >>> import goodgain as gg
      >>> call = gg.SearchCall("c-1", iteration=1, results=[gg.Result(id="a", gain=3)])
      >>> gg.evaluate([call]).conversations[0]["CG"]
      3
    """

    conversation_id: Annotated[str, Meta(pattern=r"\S")]  # blank counts as empty
    iteration: Annotated[int, Meta(ge=1, le=LARGEST_INT)]
    turn: Annotated[int, Meta(ge=1, le=LARGEST_INT)] = 1
    call: Annotated[int, Meta(ge=0, le=LARGEST_INT)] | None = None
    record_id: RecordId | None = None
    timestamp: Millis | None = None
    query: str | None = None
    tool: str | None = None
    turn_count: Annotated[int, Meta(ge=0, le=LARGEST_INT)] | None = None
    is_final: bool = False
    action: Action = SEARCH
    error: str | None = None
    outcomes: dict[str, FiniteFloat] = {}
    attributes: dict[str, str] = {}
    costs: dict[str, Cost] = {}
    results: list[Result] = []


def timestamp_hook(_: type, value: Any) -> Millis:
    """Parse a timestamp; the `dec_hook` of msgspec (SPEC 2).

    It accepts epoch milliseconds as a number or as text, ISO 8601, and datetime or date objects.

    Raises:
      ValueError: it is not a time, or outside the years 1 to 9999.
    """
    if isinstance(value, str):
        value = _of_text(value)
    elif isinstance(value, datetime):
        value = millis_of_datetime(value)
    elif isinstance(value, date):
        value = millis_of_datetime(datetime(value.year, value.month, value.day))
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("Expected ISO 8601 or epoch milliseconds")
    if not EARLIEST_MILLIS <= value <= LATEST_MILLIS:
        raise ValueError("Expected a time between the years 1 and 9999")
    return Millis(value)


def _of_text(text: str) -> int | None:
    # Before `parse_time`, which allows any character between date and time: it would read
    # 1704110400000 as a time in the year 1704.
    if millis := _MILLIS.fullmatch(text.strip()):
        return int(millis[1])
    moment = parse_time(text)
    return None if moment is None else millis_of_datetime(moment)


def millis_of_datetime(moment: datetime) -> int:
    """Milliseconds since the epoch, rounded down; without an offset the time is UTC."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000 + elapsed.microseconds // 1_000
