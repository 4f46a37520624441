"""Means over the conversations of each event-time window, in panes (SPEC 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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
from apache_beam.transforms.window import GlobalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue
from msgspec import Struct

from goodgain.transforms.coders import StructCoder, apply_typed
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.slices import EVERYTHING, slice_of
from goodgain.transforms.core.means.values import ConversationValues
from goodgain.transforms.core.records.search_call import LATEST_MILLIS
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import Closing, event_time
from goodgain.transforms.core.streaming.event_window import window_start
from goodgain.transforms.core.streaming.windowed_means import (
    DAY,
    MissedByMeans,
    SliceWindows,
    WindowedMeanRow,
    WindowedRelation,
    WindowRules,
    WindowWarnings,
    due_panes,
    relations_of,
    rows_of,
    window_warnings,
    with_added,
)
from goodgain.transforms.means import CombineMeans, SumMeans, check_options
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of

MISSED = "missed"
WARNINGS = "warnings"
RELATIONS = "relations"
_MOST_PARTS = 64  # sums in state, before they are merged


class MeansByWindow(NamedTuple):
    """The outputs of `WindowedMeans`.

    Attributes:
      rows: the panes of the means.
      missed: number of conversations that came after the last pane of their window.
      warnings: data warnings of each window, by pane.
      relations: how metrics go with outcomes in each window, by pane.
    """

    rows: beam.PCollection[WindowedMeanRow]
    missed: beam.PCollection[MissedByMeans]
    warnings: beam.PCollection[WindowWarnings]
    relations: beam.PCollection[WindowedRelation]


@dataclass(eq=False, repr=False)
class WindowedMeans(beam.PTransform):
    """`PCollection[ConversationScore]` of a stream to `MeansByWindow`.

    A score counts in the window of its last event, the element's timestamp. The means of a window
    are emitted when all conversations whose records were in time are closed, and again for each
    that is closed later, within the allowed lateness. Within a pane they are exact and do not
    depend on order, like those of `GlobalMeans`.

    Beam's triggers would emit the on-time pane `gap` too early, and would silently drop scores
    beyond the allowed lateness.

    Attributes:
      scoring: the settings of the scores.
      closing: the rules by which conversations were closed.
      slices: attribute names to slice the means by, in addition to all conversations.
      window: length of windows in ms of event time.
      interval, cluster: as in `GlobalMeans`.
      end: when the stream stops, and which timers still fire then.

    Example:
      >>> import apache_beam as beam
      >>> from goodgain import (
      ...     Closing, FolderSource, Packing, ScoreStreamedPayloads, Scoring, StreamEnd,
      ...     WatchFolder, WindowedMeans,
      ... )
      >>> scoring, closing, end = Scoring.default(["ndcg@10"]), Closing(), StreamEnd()
      >>> source = FolderSource("incoming")
      >>> traces = beam.Pipeline() | WatchFolder(source, Packing.of(scoring), end=end)
      >>> scored = traces.payloads | ScoreStreamedPayloads(scoring, closing, end)
      >>> means = scored.scores | WindowedMeans(scoring, closing, window=3_600_000, end=end)
      >>> means._fields
      ('rows', 'missed', 'warnings', 'relations')
    """

    scoring: Scoring
    closing: Closing
    slices: Sequence[Sequence[str]] = ()
    window: int = DAY
    interval: Interval = "hall"
    cluster: str | None = None
    end: StreamEnd = WITH_ENGINE

    def __post_init__(self) -> None:
        """Check what the types of arguments by position do not show."""
        check_options(self.slices, self.interval)

    def expand(self, scores: beam.PCollection[ConversationScore]) -> MeansByWindow:
        """Apply the transform."""
        means = SumMeans(self.scoring, self.slices, self.cluster)
        rules = WindowRules.of(self.closing, self.window)
        sums = (
            scores
            | "AtLastEvent" >> beam.Map(_at_last_event).with_output_types(ConversationScore)
            | "Slice" >> beam.ParDo(means.slice_by())
            | "SumBundle"
            >> beam.ParDo(_SumBundle(rules.window)).with_output_types(tuple[str, WindowSums])
        )
        give_panes = GivePanes(self.scoring, rules, self.interval, self.end)
        types = {
            "rows": WindowedMeanRow,
            MISSED: MissedByMeans,
            WARNINGS: WindowWarnings,
            RELATIONS: WindowedRelation,
        }
        return MeansByWindow(*apply_typed(sums, "GivePanes", give_panes, **types))


def _at_last_event(score: ConversationScore) -> TimestampedValue:
    time = event_time(score)
    return TimestampedValue(score, timestamp_of(LATEST_MILLIS if time is None else time))


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
class _SumBundle(beam.DoFn):
    """Pre-aggregates each bundle, so that the slice of all conversations is not a bottleneck."""

    window: int

    def start_bundle(self) -> None:
        self._sums: dict[tuple[str, int], MeansAccumulator] = {}
        self._conversations: Counter[tuple[str, int]] = Counter()
        self._earliest: dict[tuple[str, int], int] = {}

    def process(
        self, sliced: tuple[str, ConversationValues], timestamp: Any = beam.DoFn.TimestampParam
    ) -> None:
        slice_, values = sliced
        key = (slice_, window_start(millis_of(timestamp), self.window))
        sums = self._sums.get(key)
        if sums is None:
            sums = self._sums[key] = MeansAccumulator()
        sums.add(values)
        self._conversations[key] += 1
        self._earliest[key] = min(self._earliest.get(key, timestamp.micros), timestamp.micros)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for key, sums in self._sums.items():
            slice_, start = key
            yield WindowedValue(
                (slice_, WindowSums.of(start, self._conversations[key], sums)),
                Timestamp(micros=self._earliest[key]),
                (GlobalWindow(),),
            )


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
            yield from rows_of(pane, self.rules, rows)
            if self.scoring.outcomes:
                related = means.relations(slice_of(slice_), self.scoring.plan)
                for relation in relations_of(pane, self.rules, related):
                    yield TaggedOutput(RELATIONS, relation)
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
beam.coders.registry.register_coder(WindowedMeanRow, StructCoder)
beam.coders.registry.register_coder(WindowedRelation, StructCoder)
beam.coders.registry.register_coder(MissedByMeans, StructCoder)
beam.coders.registry.register_coder(WindowWarnings, StructCoder)
