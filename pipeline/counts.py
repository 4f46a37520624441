"""Counts over the elements of PCollections, by dotted name (SPEC 3, 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import apache_beam as beam
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.pipeline.terminal import progress
from goodgain.transforms.core.scoring.score import ConversationScore
from goodgain.transforms.times import at_end_of_global_window

Counts = dict[str, int]


class CountElements(beam.PTransform):
    """Any PCollection to `PCollection[dict[str, int]]`: the sums of each bundle.

    Beam's own counters are not used, since engines may count twice when they retry a bundle.

    Attributes:
      counts_of: returns the counts of one element.
    """

    def __init__(self, counts_of: Callable[[Any], Mapping[str, int]]) -> None:
        super().__init__()
        self.counts_of = counts_of

    def expand(self, elements: beam.PCollection[Any]) -> beam.PCollection[Counts]:
        """Apply the transform."""
        return elements | "CountBundle" >> beam.ParDo(_CountBundle(self.counts_of))


class SumCounts(beam.PTransform):
    """`PCollection[dict[str, int]]` to one dict of the sums."""

    def expand(self, counts: beam.PCollection[Counts]) -> beam.PCollection[Counts]:
        """Apply the transform."""
        return counts | "Sum" >> beam.CombineGlobally(_sum)


class _CountBundle(beam.DoFn):
    def __init__(self, counts_of: Callable[[Any], Mapping[str, int]]) -> None:
        self._counts_of = counts_of

    def start_bundle(self) -> None:
        self._sums: Counts = {}

    def process(self, element: Any) -> None:
        sums = self._sums
        counts = self._counts_of(element)
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
        progress.advance(counts)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._sums:
            yield at_end_of_global_window(self._sums)


def _sum(several: Iterable[Counts]) -> Counts:
    total: Counter[str] = Counter()
    for counts in several:
        total.update(counts)
    return dict(total)


def counts_of_step(counts: Counts) -> Counts:
    """Counts from an earlier step, unchanged."""
    return counts


def counts_of_score(score: ConversationScore) -> Counts:
    """The outcomes of a conversation's records and results."""
    return score.counts
