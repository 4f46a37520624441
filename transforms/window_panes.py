"""Keeps sums of windows in state, and emits their panes (SPEC 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.coders import VarIntCoder
from apache_beam.pvalue import TaggedOutput
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.transforms.userstate import (
    BagStateSpec,
    ReadModifyWriteStateSpec,
    TimerSpec,
    on_timer,
)
from msgspec import Struct

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.slices import EVERYTHING, slice_of
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.windowed_means import (
    MissedByMeans,
    SliceWindows,
    WindowedMeanRow,
    WindowedRelation,
    WindowRules,
    due_panes,
    window_warnings,
    with_added,
)
from goodgain.transforms.means import CombineMeans
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of

MISSED = "missed"
WARNINGS = "warnings"
RELATIONS = "relations"
_MOST_PARTS = 64  # sums in state, before they are merged


class WindowSums(Struct, frozen=True, array_like=True):
    """Sums over some conversations of a slice and a window.

    Attributes:
      packed: an encoded `MeansAccumulator`, decoded when its window emits a pane.
    """

    window_start: int
    conversations: int
    packed: msgspec.Raw

    @classmethod
    def of(cls, start: int, conversations: int, sums: MeansAccumulator) -> WindowSums:
        """The sums over `conversations` conversations of the window that starts at `start`."""
        sums.prepare_to_send()
        return cls(start, conversations, msgspec.Raw(msgspec.msgpack.encode(sums)))

    def sums(self) -> MeansAccumulator:
        """The sums, decoded."""
        return _accumulator_decoder.decode(self.packed)


_accumulator_decoder = msgspec.msgpack.Decoder(MeansAccumulator)


@dataclass(eq=False, repr=False)
class GivePanes(beam.DoFn):
    """Keeps the sums of a slice in state, by window, and emits their panes."""

    # A bag, since appending needs no read; compacted when it has grown.
    SUMS = BagStateSpec("sums", StructCoder(WindowSums))
    WINDOWS = ReadModifyWriteStateSpec("windows", StructCoder(SliceWindows, sort_keys=False))
    PARTS = ReadModifyWriteStateSpec("parts", VarIntCoder())
    # One timer family, since timers of different families fire in no defined order; its timers are
    # named as the wake-ups of `with_added`.
    WAKE = TimerSpec("wake", TimeDomain.WATERMARK)

    scoring: Scoring
    rules: WindowRules
    interval: Interval = "hall"
    end: StreamEnd = WITH_ENGINE

    def process(
        self,
        keyed: tuple[str, WindowSums],
        sums: Any = beam.DoFn.StateParam(SUMS),
        windows: Any = beam.DoFn.StateParam(WINDOWS),
        parts: Any = beam.DoFn.StateParam(PARTS),
        wake: Any = beam.DoFn.TimerParam(WAKE),
    ) -> Iterator[TaggedOutput]:
        """Keep the sums, or count them as missed."""
        slice_, arrived = keyed
        start = arrived.window_start
        added = with_added(windows.read() or SliceWindows(), start, self.rules)
        if added is None:
            missed = MissedByMeans(
                start, start + self.rules.window, slice_of(slice_), arrived.conversations
            )
            yield TaggedOutput(MISSED, missed)
            return
        state, wake_ups = added
        sums.add(arrived)
        waiting = (parts.read() or 0) + 1
        if waiting > _MOST_PARTS + len(state.open):
            by_window = _by_window(sums.read())
            waiting = _keep({start: [self._add_up(by_window[start])] for start in by_window}, sums)
        parts.write(waiting)
        windows.write(state)
        for name, at in wake_ups.items():
            wake.set(timestamp_of(at), dynamic_timer_tag=name)

    @on_timer(WAKE)
    def wake_up(
        self,
        slice_: str = beam.DoFn.KeyParam,
        timestamp: Any = beam.DoFn.TimestampParam,
        sums: Any = beam.DoFn.StateParam(SUMS),
        windows: Any = beam.DoFn.StateParam(WINDOWS),
        parts: Any = beam.DoFn.StateParam(PARTS),
    ) -> Iterator[WindowedMeanRow | TaggedOutput]:
        """Emit the panes that are due."""
        now = millis_of(timestamp)
        if not self.end.is_due(now):
            return
        panes, state = due_panes(windows.read() or SliceWindows(), now, self.rules)
        if not panes:
            return
        by_window = _by_window(sums.read())
        for pane in panes:
            added_up = self._add_up(by_window.pop(pane.window_start))
            if not pane.is_last:
                by_window[pane.window_start] = [added_up]
            means = added_up.sums()
            rows = means.rows(slice_of(slice_), self.scoring.plan, self.interval)
            for row in rows:
                yield WindowedMeanRow(*pane.columns(self.rules), row)
            if self.scoring.outcomes:
                related = means.relations(slice_of(slice_), self.scoring.plan)
                for relation in related:
                    in_pane = WindowedRelation(*pane.columns(self.rules), relation)
                    yield TaggedOutput(RELATIONS, in_pane)
            if slice_ == EVERYTHING:
                warnings = window_warnings(
                    pane, self.rules, means.counts(), self.scoring, rows, means.contradicted_ids
                )
                if warnings is not None:
                    yield TaggedOutput(WARNINGS, warnings)
        parts.write(_keep(by_window, sums))
        windows.write(state)

    def _add_up(self, parts: Sequence[WindowSums]) -> WindowSums:
        """Merge the parts of one window."""
        if len(parts) == 1:
            return parts[0]
        sums = CombineMeans().merge_accumulators(part.sums() for part in parts)
        return WindowSums.of(parts[0].window_start, sum(part.conversations for part in parts), sums)


def _by_window(parts: Iterable[WindowSums]) -> dict[int, list[WindowSums]]:
    by_window: dict[int, list[WindowSums]] = {}
    for part in parts:
        by_window.setdefault(part.window_start, []).append(part)
    return by_window


def _keep(by_window: Mapping[int, Sequence[WindowSums]], sums: Any) -> int:
    """Replace the state by these parts, and return their number."""
    parts = [part for of_window in by_window.values() for part in of_window]
    sums.clear()
    for part in parts:
        sums.add(part)
    return len(parts)


beam.coders.registry.register_coder(WindowSums, StructCoder)
