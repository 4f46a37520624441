"""Means over conversations, per slice, metric and iteration, as a transform (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import msgspec
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.transforms.coders import StructCoder
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.accumulator import MeansAccumulator
from goodgain.transforms.core.means.mean_row import MeanRow
from goodgain.transforms.core.means.options import DEFAULT_MEANS, MeansOptions
from goodgain.transforms.core.means.slices import EVERYTHING, SliceKey, slice_of
from goodgain.transforms.core.means.values import ConversationValues, values_by_slice
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.settings import Scoring

_Summed = tuple[SliceKey, MeansAccumulator]
_MOST_SLICES = 1_000  # summed at a time, some 12 KB each; Beam itself also holds this many


@dataclass(eq=False, repr=False)
class SumMeans(beam.PTransform):
    """`PCollection[ConversationScore]` to `PCollection[tuple[str, MeansAccumulator]]`.

    Bundles are summed before they are merged.

    The output has one element per slice, by its key (`slice_of`); `MeansAccumulator.rows` makes its
    means. Sums are exact and independent of order: shuffled or re-partitioned input gives the same
    bits. The slice of all conversations always has sums, with n = 0 if there are no conversations,
    except in windows without any.

    Attributes:
      scoring: the settings of the scores.
      options: slices beside that of all conversations, and clusters.
    """

    scoring: Scoring
    options: MeansOptions

    def expand(
        self, scores: beam.PCollection[ConversationScore]
    ) -> beam.PCollection[tuple[SliceKey, MeansAccumulator]]:
        """Apply the transform."""
        sums = [
            scores
            | "Slice" >> beam.ParDo(Slice(self.scoring, self.options))
            | "SumBundle" >> beam.ParDo(_SumScores()).with_output_types(_Summed)
        ]
        if scores.windowing.is_default():
            everything = scores.pipeline | "Everything" >> beam.Create([EVERYTHING])
            nothing = everything | "NoConversation" >> beam.Map(_nothing).with_output_types(_Summed)
            sums.append(nothing)
        return (
            sums
            | "AtLeastEverything" >> beam.Flatten()
            | "Combine" >> beam.CombinePerKey(CombineMeans())
        )


@dataclass(eq=False, repr=False)
class GlobalMeans(beam.PTransform):
    """`PCollection[ConversationScore]` to `PCollection[MeanRow]`.

    Attributes:
      scoring: the settings of the scores.
      options: slices beside that of all conversations, clusters, and intervals.

    Example:
      >>> import apache_beam as beam
      >>> from apache_beam.runners.portability.fn_api_runner import FnApiRunner
      >>> from goodgain import GlobalMeans, ReadTraces, ScoreConversations, Scoring
      >>> def show(row):
      ...     if row.metric == "CG" and row.i is None:
      ...         print(row.slice, row.n, row.mean)
      >>> scoring = Scoring.default(["ndcg@10"])
      >>> with beam.Pipeline(runner=FnApiRunner()) as pipeline:
      ...     traces = pipeline | ReadTraces(["traces/*.jsonl"])
      ...     scored = traces.records | ScoreConversations(scoring)
      ...     _ = scored.scores | GlobalMeans(scoring) | beam.Map(show)
      {} 2 3.0
    """

    scoring: Scoring
    options: MeansOptions = DEFAULT_MEANS

    def expand(self, scores: beam.PCollection[ConversationScore]) -> beam.PCollection[MeanRow]:
        """Apply the transform."""
        sums = scores | "Sums" >> SumMeans(self.scoring, self.options)
        rows = beam.FlatMap(_rows, self.scoring, self.options.interval)
        return sums | "Rows" >> rows.with_output_types(MeanRow)


@dataclass(eq=False, repr=False)
class Slice(beam.DoFn):
    """Emits the values of a score under the key of each of its slices."""

    scoring: Scoring
    options: MeansOptions

    def process(self, score: ConversationScore) -> Iterator[tuple[SliceKey, ConversationValues]]:
        """Nothing for a conversation that is left out of the means."""
        return values_by_slice(score, self.scoring.plan, self.options)


@dataclass(eq=False, repr=False)
class _SumScores(beam.DoFn):
    """Sums the values of a bundle by slice, so that single values are not sent between stages."""

    def start_bundle(self) -> None:
        self._sums: dict[tuple[SliceKey, Any], MeansAccumulator] = {}

    def process(
        self, sliced: tuple[SliceKey, ConversationValues], window: Any = beam.DoFn.WindowParam
    ) -> Iterator[WindowedValue]:
        slice_, values = sliced
        sums = self._sums.get((slice_, window))
        if sums is None:
            if len(self._sums) >= _MOST_SLICES:
                yield from self.finish_bundle()
                self.start_bundle()
            sums = self._sums[slice_, window] = MeansAccumulator()
        sums.add(values)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        for (slice_, window), sums in self._sums.items():
            yield WindowedValue((slice_, sums), window.max_timestamp(), (window,))


def _nothing(key: SliceKey) -> _Summed:
    return key, MeansAccumulator()


class CombineMeans(beam.CombineFn):
    """Merges `MeansAccumulator`s."""

    def create_accumulator(self) -> MeansAccumulator:
        """An empty accumulator."""
        return MeansAccumulator()

    def add_input(self, accumulator: MeansAccumulator, sums: MeansAccumulator) -> MeansAccumulator:
        """Add the sums over some conversations."""
        accumulator.merge(sums)
        return accumulator

    def merge_accumulators(self, accumulators: Iterable[MeansAccumulator]) -> MeansAccumulator:
        """Merge into a new accumulator."""
        merged = self.create_accumulator()
        for accumulator in accumulators:
            merged.merge(accumulator)
        return merged

    def compact(self, accumulator: MeansAccumulator) -> MeansAccumulator:
        """Compact the accumulator before it is serialized."""
        accumulator.prepare_to_send()
        return accumulator

    def extract_output(self, accumulator: MeansAccumulator) -> MeansAccumulator:
        """The accumulator itself, since its rows need the slice, which is the key."""
        return accumulator

    def get_accumulator_coder(self) -> beam.coders.Coder:
        """MessagePack, not pickle."""
        return _AccumulatorCoder()


class _AccumulatorCoder(beam.coders.Coder):
    """MessagePack; not for keys, since equal accumulators may differ in the order of counts."""

    def encode(self, accumulator: MeansAccumulator) -> bytes:
        accumulator.prepare_to_send()
        return msgspec.msgpack.encode(accumulator)

    def decode(self, encoded: bytes) -> MeansAccumulator:
        return msgspec.msgpack.decode(encoded, type=MeansAccumulator)


def _rows(
    combined: tuple[SliceKey, MeansAccumulator], scoring: Scoring, interval: Interval
) -> list[MeanRow]:
    key, accumulator = combined
    return accumulator.rows(slice_of(key), scoring.plan, interval)


beam.coders.registry.register_coder(MeansAccumulator, _AccumulatorCoder)
beam.coders.registry.register_coder(ConversationValues, StructCoder)
beam.coders.registry.register_coder(ConversationScore, StructCoder)
beam.coders.registry.register_coder(MeanRow, StructCoder)
