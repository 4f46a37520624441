"""When a conversation of a stream closes, and which records are late (SPEC 3, 7); times in ms.

`admit` and `decide_at` decide; the DoFn with a conversation's state carries out their decisions.
They read no clock: each conversation has one event-time timer, its wake-up, which fires when the
watermark reaches its time. It is set when the first payload arrives. A later payload can only move
it to an earlier time; whether the conversation has continued is checked when it fires.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.records.search_call import EARLIEST_MILLIS, LATEST_MILLIS
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.payload import Frame
from goodgain.transforms.core.streaming.options import Closing

AFTER = 1  # ms; the watermark has passed an event once it is later than the event
NEVER = LATEST_MILLIS  # later than any event; reached only at the end of the stream


class Arrival(Struct, frozen=True):
    """Times and sizes of a payload that has arrived.

    Attributes:
      at: event time of the payload itself.
      first, last: event times of its first and last record; `at` if records have no time, or if
        there are none.
      final: event time of its first record with `is_final`.
      size: in bytes.
      rejected: number of records of the conversation that could not be used.
    """

    at: int
    first: int
    last: int
    final: int | None
    records: int
    results: int
    size: int
    rejected: int


def arrival_of(frame: Frame, size: int, at: int) -> Arrival:
    """The arrival of a payload of `size` bytes with the event time `at`."""
    events = [at if call.timestamp is None else call.timestamp for call in frame.calls]
    finals = [event for event, call in zip(events, frame.calls, strict=True) if call.is_final]
    return Arrival(
        at,
        min(events, default=at),
        max(events, default=at),
        min(finals, default=None),
        len(frame.calls),
        sum(len(call.results) for call in frame.calls),
        size,
        frame.rejected_records,
    )


class Conversation(Struct, frozen=True, array_like=True):
    """The state of a conversation besides its payloads.

    Attributes:
      wake: the time of the pending wake-up.
      opened: event time of the first payload with records; None before it.
      last, final: event times of its last record, and of its first record with `is_final`.
      flagged: event time of the last payload without records, which is a flag for rejected records.
      results, size: totals over the kept payloads.
      over_cap: number of records dropped because of a limit.
      rejected: number of these, and of the records behind dropped flags.
      closed: when it was closed; None while it is open.
      records: number of records kept.
    """

    wake: int = NEVER
    opened: int | None = None
    last: int | None = None
    final: int | None = None
    flagged: int | None = None
    results: int = 0
    size: int = 0
    over_cap: int = 0
    rejected: int = 0
    closed: int | None = None
    records: int = 0

    def deadline(self, closing: Closing) -> int:
        """When it will be closed, unless more records arrive."""
        if self.opened is None or self.last is None:
            # A flag has no event time, only its element's timestamp, if that is set.
            is_timed = self.flagged is not None and self.flagged >= EARLIEST_MILLIS
            return (self.flagged or 0) + closing.gap if is_timed else NEVER
        deadline = min(self.last + closing.gap, self.opened + closing.max_open)
        return deadline if self.final is None else min(deadline, self.final + AFTER)

    def with_arrival(self, arrival: Arrival) -> Conversation:
        """The state after a payload, kept or not."""
        if not arrival.records:
            return replace(self, flagged=_greatest(self.flagged, arrival.at))
        return replace(
            self,
            opened=arrival.at if self.opened is None else self.opened,
            last=_greatest(self.last, arrival.last),
            final=min(
                (final for final in (self.final, arrival.final) if final is not None), default=None
            ),
        )


def _greatest(known: int | None, new: int) -> int:
    return new if known is None else max(known, new)


class StillOpen(Struct, frozen=True):
    """The records of a conversation that is open when its stream is stopped."""

    records: int


Fate = Literal["keep", "over_cap", "late"]


def admit(
    known: Conversation | None, arrival: Arrival, closing: Closing
) -> tuple[Fate, Conversation]:
    """Decide about a payload; returns what to do with it, and the new state.

    Set the timer if `wake` differs from the earlier state, or there was none.
    """
    if known is None:
        known = Conversation()
    elif known.closed is not None:
        return "late", known
    seen = known.with_arrival(arrival)
    wake = min(known.wake, seen.deadline(closing))
    if closing.live and arrival.records:
        wake = min(wake, arrival.first + AFTER)
    seen = replace(seen, wake=wake)
    results, size = seen.results + arrival.results, seen.size + arrival.size
    if known.over_cap or results > closing.max_open_results or size > closing.max_open_bytes:
        return "over_cap", replace(
            seen,
            over_cap=seen.over_cap + arrival.records,
            rejected=seen.rejected + arrival.records + arrival.rejected,
        )
    records = seen.records + arrival.records
    return "keep", replace(seen, results=results, size=size, records=records)


def split_by_call(frame: Frame) -> list[Frame]:
    """Split a payload into one per call, to keep as many calls as the limits allow."""
    parts = [Frame([call]) for call in frame.calls]
    if frame.rejected_records or frame.external is not None or not parts:
        parts.append(Frame([], frame.rejected_records, frame.external))
    return parts


WakeAction = Literal["wait", "close", "forget"]


def decide_at(known: Conversation, now: int, closing: Closing) -> tuple[WakeAction, Conversation]:
    """Decide what to do when the watermark reaches `now`; returns that, and the new state.

    `wait`: set the timer again. `close`: score the payloads, clear them, and set the timer for the
    end of the allowed lateness. `forget`: clear all state.
    """
    if known.closed is not None:
        end = known.closed + closing.allowed_lateness
        return ("forget", known) if now >= end else ("wait", replace(known, wake=end))
    deadline = known.deadline(closing)
    if now < deadline:
        return "wait", replace(known, wake=deadline)
    end = deadline + closing.allowed_lateness
    return "close", replace(known, closed=deadline, wake=end)


def event_time(score: ConversationScore) -> int | None:
    """The event time of a conversation: its last event, or its closing if that is earlier.

    The last event may be years ahead because of a wrong clock. None if no record has a time.
    """
    times = (score.conversation.last_timestamp, score.closed)
    return min((time for time in times if time is not None), default=None)
