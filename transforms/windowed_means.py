"""Means over the conversations of each event-time window, in panes (SPEC 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindow, TimestampedValue
from apache_beam.utils.timestamp import Timestamp
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.transforms.coders import StructCoder, apply_to_outputs
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.options import DEFAULT_MEANS, MeansOptions
from goodgain.transforms.core.means.values import ConversationValues
from goodgain.transforms.core.records.search_call import LATEST_MILLIS
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring
from goodgain.transforms.core.streaming.closing import event_time
from goodgain.transforms.core.streaming.event_window import window_start
from goodgain.transforms.core.streaming.options import Closing
from goodgain.transforms.core.streaming.windowed_means import (
    DAY,
    MissedByMeans,
    WindowedMeanRow,
    WindowedRelation,
    WindowRules,
    WindowWarnings,
)
from goodgain.transforms.means import Slice
from goodgain.transforms.stream_end import WITH_ENGINE, StreamEnd
from goodgain.transforms.times import millis_of, timestamp_of
from goodgain.transforms.window_panes import GivePanes, WindowSums


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
      options: as in `GlobalMeans`.
      window: length of windows in ms of event time.
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
    options: MeansOptions = DEFAULT_MEANS
    window: int = DAY
    end: StreamEnd = WITH_ENGINE

    def expand(self, scores: beam.PCollection[ConversationScore]) -> MeansByWindow:
        """Apply the transform."""
        rules = WindowRules.of(self.closing, self.window)
        sums = (
            scores
            | "AtLastEvent" >> beam.Map(_at_last_event).with_output_types(ConversationScore)
            | "Slice" >> beam.ParDo(Slice(self.scoring, self.options))
            | "SumBundle"
            >> beam.ParDo(_SumBundle(rules.window)).with_output_types(tuple[str, WindowSums])
        )
        give_panes = GivePanes(self.scoring, rules, self.options.interval, self.end)
        return apply_to_outputs(sums, "GivePanes", give_panes, MeansByWindow)


def _at_last_event(score: ConversationScore) -> TimestampedValue:
    time = event_time(score)
    return TimestampedValue(score, timestamp_of(LATEST_MILLIS if time is None else time))


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


beam.coders.registry.register_coder(WindowedMeanRow, StructCoder)
beam.coders.registry.register_coder(WindowedRelation, StructCoder)
beam.coders.registry.register_coder(MissedByMeans, StructCoder)
beam.coders.registry.register_coder(WindowWarnings, StructCoder)
