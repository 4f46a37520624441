"""The watermark of a source, estimated from the event times of its records (SPEC 7).

The watermark promises that no older record will come, and closes conversations. A single wrong
clock must not move it far, hence these rules:

* Records more than `ahead_ms` ahead of this machine's clock never move it.
* One record advances the newest event time by at most `ahead_ms`.
* It crosses a wider gap only with a majority of records: when the median of those since the last
  move (or of the last 15, if these are fewer) is beyond the gap. Its first value also needs a
  majority.
* The watermark stays `out_of_orderness_ms` behind the newest event time, and never goes back.
* After `idle_ms` without a record, the watermark advances to `quiet_ms` after the greatest event
  time, even beyond a gap, but not ahead of this machine's clock. During the silence it then
  advances with the clock, in steps of `idle_ms`.

A record that is too far ahead to move the watermark is counted as such, but scored like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from goodgain.transforms.core.errors import UsageError

WITNESSES = 15


class WatermarkRule(Struct, frozen=True):
    """How the watermark follows event times; all in milliseconds.

    Attributes:
      out_of_orderness_ms: how much older than the newest record a later record may be.
      ahead_ms: largest advance that one record may cause, in case its clock is wrong; at most the
        gap after which conversations close, so that one record cannot close all of them.
      idle_ms: time without a record after which the stream counts as silent.
      quiet_ms: how far beyond the greatest event time the watermark then advances: the gap after
        which conversations close, so that all of them do.

    Raises:
      UsageError: a duration is negative, or `ahead_ms` or `idle_ms` is 0.

    Example: see `WatchFolder`.
    """

    out_of_orderness_ms: int = 300_000
    ahead_ms: int = 1_800_000
    idle_ms: int = 1_800_000
    quiet_ms: int = 1_800_000

    def __post_init__(self) -> None:
        """Check the durations."""
        smallest = {"out_of_orderness_ms": 0, "ahead_ms": 1, "idle_ms": 1, "quiet_ms": 0}
        for name, least in smallest.items():
            value = getattr(self, name)
            if value < least:
                raise UsageError(f"{name} must be at least {least}, got {value}.")


class TimeSpan(Struct, frozen=True, array_like=True):
    """Some event times of which no two neighbours are more than `ahead_ms` apart.

    Attributes:
      first, last: the earliest and the latest of them, in ms.
      records: number of records with these times since the last move of the watermark.
    """

    first: int
    last: int
    records: int


class WatermarkState(Struct, frozen=True, array_like=True):
    """The state of the watermark; all times in milliseconds of event time.

    Attributes:
      watermark: nothing older is expected; None if there is none yet.
      newest: newest event time by the rules of this module.
      greatest: greatest event time that was not ahead of this machine's clock.
      recent: event times of the last records, at most 15, oldest arrival first.
      silent: number of periods of `idle_ms` since the last record.
      waiting: times of the records since the last move of the watermark, and of recent ones before
        it, in order.
      beyond_clock: number of these records with times ahead of this machine's clock.
    """

    watermark: int | None = None
    newest: int | None = None
    greatest: int | None = None
    recent: tuple[int, ...] = ()
    silent: int = 0
    waiting: tuple[TimeSpan, ...] = ()
    beyond_clock: int = 0


def note_times(
    state: WatermarkState, times: Sequence[int], now_ms: int, rule: WatermarkRule
) -> WatermarkState:
    """The state with the times of more records, which `advance` then takes into account.

    Args:
      times: event times of the new records, in order of arrival.
      now_ms: this machine's clock, in milliseconds since the epoch.
    """
    latest = now_ms + rule.ahead_ms
    trusted = [time for time in times if time <= latest]
    return replace(
        state,
        recent=(*state.recent, *trusted[-WITNESSES:])[-WITNESSES:],
        waiting=_join([*state.waiting, *_spans(trusted, rule.ahead_ms, 1)], rule.ahead_ms),
        beyond_clock=state.beyond_clock + len(times) - len(trusted),
    )


def advance(state: WatermarkState, rule: WatermarkRule) -> tuple[WatermarkState, int]:
    """Move the watermark over the noted records.

    Returns:
      The new state, and how many of these records were too far ahead to move the watermark.
    """
    spans = state.waiting
    newest = _reach(state.newest, spans, rule.ahead_ms)
    middle = _median(spans, state.recent)
    if middle is not None and (newest is None or middle > newest):
        newest = _reach(middle, spans, rule.ahead_ms)
    too_far = 0
    if newest is not None:
        too_far = sum(span.records for span in spans if span.first > newest + rule.ahead_ms)
    moved = WatermarkState(
        watermark=_later_watermark(state.watermark, newest, -rule.out_of_orderness_ms),
        newest=newest,
        greatest=_greatest(state.greatest, [span.last for span in spans[-1:]]),
        recent=state.recent,
        # A record that was too far ahead may come in reach of later ones.
        waiting=tuple(_spans(state.recent, rule.ahead_ms, 0)),
    )
    return moved, state.beyond_clock + too_far


def advance_in_silence(state: WatermarkState, rule: WatermarkRule) -> WatermarkState:
    """The state after one more period of silence; without records there is no watermark."""
    if state.silent:
        watermark = _later_watermark(state.watermark, state.watermark, rule.idle_ms)
    else:
        ends = [time for time in (state.newest, state.greatest) if time is not None]
        watermark = _later_watermark(state.watermark, max(ends, default=None), rule.quiet_ms)
    return replace(state, watermark=watermark, newest=watermark, silent=state.silent + 1)


def _spans(times: Iterable[int], step: int, records: int) -> Iterator[TimeSpan]:
    """Times as spans, in order, each time of `records` records."""
    ordered = sorted(times)
    start = 0
    for end in range(1, len(ordered) + 1):
        if end == len(ordered) or ordered[end] - ordered[end - 1] > step:
            yield TimeSpan(ordered[start], ordered[end - 1], records * (end - start))
            start = end


def _join(spans: Iterable[TimeSpan], step: int) -> tuple[TimeSpan, ...]:
    """The same times in as few spans as possible, in order."""
    joined: list[TimeSpan] = []
    for span in sorted(spans, key=attrgetter("first")):
        if joined and span.first - joined[-1].last <= step:
            before = joined[-1]
            last = max(before.last, span.last)
            joined[-1] = TimeSpan(before.first, last, before.records + span.records)
        else:
            joined.append(span)
    return tuple(joined)


def _reach(newest: int | None, spans: Iterable[TimeSpan], step: int) -> int | None:
    """The last time reachable from `newest` through the spans by steps of at most `step`."""
    if newest is None:
        return None
    for span in spans:
        if span.first - newest > step:
            break
        newest = max(newest, span.last)
    return newest


def _median(spans: Sequence[TimeSpan], recent: Sequence[int]) -> int | None:
    """The lower median of the spans' records, or of the recent times if these are more.

    Of the records' median only the span is known; the last time of that, which can be reached from
    it, stands for it. None if there are too few of either.
    """
    records = sum(span.records for span in spans)
    if records < WITNESSES:
        return sorted(recent)[(WITNESSES - 1) // 2] if len(recent) == WITNESSES else None
    before = 0
    for span in spans:
        before += span.records
        if before > (records - 1) // 2:
            return span.last
    return None


def _later_watermark(watermark: int | None, newest: int | None, distance: int) -> int | None:
    return watermark if newest is None else _greatest(watermark, [newest + distance])


def _greatest(known: int | None, times: Iterable[int]) -> int | None:
    return max([*([] if known is None else [known]), *times], default=None)
