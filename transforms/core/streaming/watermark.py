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

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from msgspec import Struct

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


class WatermarkState(Struct, frozen=True):
    """The state of the watermark; all times in milliseconds of event time.

    Attributes:
      watermark: nothing older is expected; None if there is none yet.
      newest: newest event time by the rules of this module.
      greatest: greatest event time that was not ahead of this machine's clock.
      recent: event times of the last records, at most 15, oldest arrival first.
      silent: number of periods of `idle_ms` since the last record.
    """

    watermark: int | None = None
    newest: int | None = None
    greatest: int | None = None
    recent: tuple[int, ...] = ()
    silent: int = 0


def after_records(
    state: WatermarkState, times: Sequence[int], now_ms: int, rule: WatermarkRule
) -> tuple[WatermarkState, int]:
    """The state after more records, and how many of these were too far ahead to move the watermark.

    Args:
      times: event times of the new records, in order of arrival.
      now_ms: this machine's clock, in milliseconds since the epoch.
    """
    latest = now_ms + rule.ahead_ms
    trusted = [time for time in times if time <= latest]
    recent = (*state.recent, *trusted[-WITNESSES:])[-WITNESSES:]
    # A record that was too far ahead on arrival may now be in reach of later ones.
    ordered = sorted([*state.recent, *trusted])
    newest = _moved_on(state.newest, ordered, rule.ahead_ms)
    middle = _median(trusted if len(trusted) >= WITNESSES else recent)
    if middle is not None and (newest is None or middle > newest):
        newest = _moved_on(middle, ordered, rule.ahead_ms)
    moved = WatermarkState(
        watermark=_later(state.watermark, newest, -rule.out_of_orderness_ms),
        newest=newest,
        greatest=_greatest(state.greatest, ordered[-1:]),
        recent=recent,
    )
    limit = latest if newest is None else min(latest, newest + rule.ahead_ms)
    return moved, sum(time > limit for time in times)


def after_silence(state: WatermarkState, rule: WatermarkRule) -> WatermarkState:
    """The state after one more period of silence; without records there is no watermark."""
    if state.silent:
        watermark = _later(state.watermark, state.watermark, rule.idle_ms)
    else:
        ends = [time for time in (state.newest, state.greatest) if time is not None]
        watermark = _later(state.watermark, max(ends, default=None), rule.quiet_ms)
    return WatermarkState(watermark, watermark, state.greatest, state.recent, state.silent + 1)


def _moved_on(newest: int | None, ordered: Sequence[int], step: int) -> int | None:
    """The last time reachable from `newest` through `ordered` by steps of at most `step`."""
    if newest is None:
        return None
    for time in ordered[bisect_right(ordered, newest) :]:
        if time - newest > step:
            break
        newest = time
    return newest


def _median(times: Sequence[int]) -> int | None:
    """The lower median, which more than half of the times reach; None for too few times."""
    if len(times) < WITNESSES:
        return None
    return sorted(times)[(len(times) - 1) // 2]


def _later(watermark: int | None, newest: int | None, distance: int) -> int | None:
    return watermark if newest is None else _greatest(watermark, [newest + distance])


def _greatest(known: int | None, times: Iterable[int]) -> int | None:
    return max([*([] if known is None else [known]), *times], default=None)
