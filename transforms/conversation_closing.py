"""Buffers the conversations of a stream, and scores each when it is closed (SPEC 3, 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.coders import BytesCoder
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from apache_beam.transforms.window import TimestampedValue
from apache_beam.utils.timestamp import MIN_TIMESTAMP
from msgspec.structs import replace

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.files.outcomes import (
    NO_RECORD_CAME,
    OPEN,
    OutcomesOfRow,
    join_outcomes,
    mark_unused,
)
from goodgain.transforms.core.records.side_rows import UnusedRow
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import payload, unpack
from goodgain.transforms.core.scoring.score_payloads import PayloadScorer
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import (
    NEVER,
    Conversation,
    StillOpen,
    admit,
    arrival_of,
    decide_at,
    event_time,
    split_by_call,
)
from goodgain.transforms.core.streaming.conversation_state import Change, ConversationState
from goodgain.transforms.core.streaming.excluded_records import late_rows, over_cap_rows
from goodgain.transforms.core.streaming.live import (
    LiveIteration,
    count_passed,
    find_ends_of_iterations,
    keep_latest,
    next_end,
    revise,
)
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.keyed_outcomes import is_row, row_in
from goodgain.transforms.pool import pools_of
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of

LATE, LIVE, REJECTED, STILL_OPEN = "late", "live", "rejected", "still_open"
UNUSED = "unused"


@dataclass(eq=False, repr=False)
class Early(beam.DoFn):
    """Shifts the time of payloads back by `out_of_orderness`; `CloseConversation` undoes this.

    Prism holds an element back behind a timer of its key that is set for an earlier time, even if
    the watermark is far from both. So a record that arrives in time, but after one with `is_final`,
    would become late. Other engines are not affected.
    """

    closing: Closing

    def process(
        self, keyed: tuple[str, bytes], timestamp: Any = beam.DoFn.TimestampParam
    ) -> Iterator[TimestampedValue]:
        """Shift the time of one payload."""
        early = timestamp_of(millis_of(timestamp) - self.closing.out_of_orderness)
        yield TimestampedValue(keyed, max(early, MIN_TIMESTAMP))


@dataclass(eq=False, repr=False)
class CloseConversation(beam.DoFn):
    """Buffers conversations of a stream and scores each when it is closed.

    `core.streaming.closing` decides when to close and what is late, `core.streaming.live` which
    rows to emit before that. Takes (conversation_id, payload) from `Early`. A conversation's age
    counts from the timestamp of its first payload; its last event comes from the calls. So a source
    whose timestamps are never later than arrival bounds how long a fast clock can keep a
    conversation open (`goodgain.transforms.sources.stream_packing`).

    Attributes:
      with_outcomes: whether rows of outcomes come, too (`key_row`). They open no conversation,
        and wait for one until the end of the stream.
    """

    # See `ConversationState`.
    RECENT = BagStateSpec("recent", StructCoder(Change))
    OLDER = BagStateSpec("older", BytesCoder())
    # The live rows emitted so far; only used with live rows.
    EMITTED = ReadModifyWriteStateSpec("given", StructCoder(list[LiveIteration]))
    # Rows of outcomes until the conversation is closed; only used with outcomes.
    GIVEN = BagStateSpec("outcomes", StructCoder(OutcomesOfRow))
    # The only timer, since timers of different families fire in no defined order.
    WAKE = TimerSpec("wake", TimeDomain.WATERMARK)

    scoring: Scoring
    closing: Closing
    end: StreamEnd = WITH_ENGINE
    with_outcomes: bool = False

    def setup(self) -> None:
        """Set up the worker."""
        self._scorer = PayloadScorer(self.scoring, pools_of(self.scoring))
        self._compress = Packing.of(self.scoring).keep_records

    def process(
        self,
        keyed: tuple[str, bytes],
        timestamp: Any = beam.DoFn.TimestampParam,
        recent: Any = beam.DoFn.StateParam(RECENT),
        older: Any = beam.DoFn.StateParam(OLDER),
        given: Any = beam.DoFn.StateParam(GIVEN),
        wake: Any = beam.DoFn.TimerParam(WAKE),
    ) -> Iterator[TaggedOutput]:
        """Keep a payload or a row of outcomes, or emit its records as late or over the limit."""
        conversation_id, packed = keyed
        if self.with_outcomes and is_row(packed):
            given.add(row_in(packed))
            if ConversationState(recent, older).conversation is None:
                wake.set(timestamp_of(NEVER))
            return
        frame, at = unpack([packed]), millis_of(timestamp) + self.closing.out_of_orderness
        state = ConversationState(recent, older)
        known = state.conversation
        decision, seen = admit(known, arrival_of(frame, len(packed), at), self.closing)
        if decision == "late":
            for late in late_rows(conversation_id, frame):
                yield TaggedOutput(LATE, late)
            return
        if decision == "keep":
            state.change(seen, packed)
        else:
            for part in split_by_call(frame):
                kept = payload(part.calls, part.rejected_records, part.external, self._compress)
                arrival = arrival_of(part, len(kept), at)
                decision, seen = admit(state.conversation, arrival, self.closing)
                if decision == "keep":
                    state.change(seen, kept)
                    continue
                state.change(seen)
                for row in over_cap_rows(conversation_id, part, self.closing):
                    yield TaggedOutput(REJECTED, row)
        if known is None or known.wake != seen.wake:
            wake.set(timestamp_of(seen.wake))

    @on_timer(WAKE)
    def wake_up(
        self,
        conversation_id: str = beam.DoFn.KeyParam,
        timestamp: Any = beam.DoFn.TimestampParam,
        recent: Any = beam.DoFn.StateParam(RECENT),
        older: Any = beam.DoFn.StateParam(OLDER),
        emitted: Any = beam.DoFn.StateParam(EMITTED),
        given: Any = beam.DoFn.StateParam(GIVEN),
        wake: Any = beam.DoFn.TimerParam(WAKE),
    ) -> Iterator[TimestampedValue | TaggedOutput]:
        """Do what is due: emit live rows, close, clear the state, or keep waiting."""
        now = millis_of(timestamp)
        state = ConversationState(recent, older)
        if state.conversation is None:
            if self.with_outcomes:
                for unused in mark_unused(given.read(), NO_RECORD_CAME):
                    yield TaggedOutput(UNUSED, TimestampedValue(unused, MIN_TIMESTAMP))
                given.clear()
            return
        if not self.end.is_due(now):
            if state.conversation.closed is None:
                yield TaggedOutput(STILL_OPEN, StillOpen(state.conversation.records))
                if self.with_outcomes:
                    for unused in mark_unused(given.read(), OPEN):
                        yield TaggedOutput(UNUSED, unused)
            return
        step, known = decide_at(state.conversation, now, self.closing)
        if step == "forget":
            state.clear()
            return
        if step == "close":
            score, unused_ones = self._final_score(conversation_id, state.payloads(), known, given)
            for unused in unused_ones:
                yield TaggedOutput(UNUSED, unused)
            state.clear()
            if self.closing.live:
                rows = score.iterations
                for row in revise(emitted.read() or [], rows, len(rows), is_final=True):
                    yield TaggedOutput(LIVE, row)
                emitted.clear()
            yield TimestampedValue(score, timestamp_of(event_time(score) or 0))
        elif self.closing.live and known.closed is None and known.opened is not None:
            kept = state.payloads()
            rows = self._score(conversation_id, kept, known).iterations
            ends = find_ends_of_iterations(rows, unpack(kept).calls, known.opened)
            before = emitted.read() or []
            news = revise(before, rows, count_passed(ends, now))
            if news:
                emitted.write(keep_latest(before, news))
                for row in news:
                    yield TaggedOutput(LIVE, row)
            soon = next_end(ends, now)
            known = replace(known, wake=min(known.wake, soon)) if soon is not None else known
        state.change(known)
        wake.set(timestamp_of(known.wake))

    def _final_score(
        self, conversation_id: str, payloads: list[bytes], known: Conversation, given: Any
    ) -> tuple[ConversationScore, list[UnusedRow]]:
        """The score with the outcomes from files, and those that were not used."""
        rows = list(given.read()) if self.with_outcomes else []
        if not rows:
            return self._score(conversation_id, payloads, known), []
        given.clear()
        joined = join_outcomes(rows, exists=True)
        payloads = [*payloads, payload((), outcomes=joined.values)]
        score = self._score(conversation_id, payloads, known)
        counts = {"outcomes.joined": joined.joined, "outcomes.repeated": joined.repeated}
        return replace(score, counts=score.counts | counts), joined.unused

    def _score(
        self, conversation_id: str, payloads: list[bytes], known: Conversation
    ) -> ConversationScore:
        score = self._scorer.score(conversation_id, payloads, known.rejected)
        counts = score.counts
        if known.over_cap:
            counts = {**counts, "conversations.over_cap": 1}
        return replace(score, counts=counts, closed=known.closed)
