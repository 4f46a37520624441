"""Counts over the elements of PCollections, by dotted name (SPEC 3, 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
from apache_beam.transforms.combiners import TopCombineFn
from apache_beam.utils.windowed_value import WindowedValue

from goodgain.pipeline.inputs import progress
from goodgain.transforms.core.scoring.conversation_score import ConversationScore
from goodgain.transforms.core.scoring.id_checks import ContradictedId
from goodgain.transforms.times import stamp_at_end_of_global_window

Counts = dict[str, int]


def count_elements(counts_of: Callable[[Any], Mapping[str, int]]) -> beam.PTransform:
    """Any PCollection to `PCollection[dict[str, int]]`: the sums of each bundle.

    Beam's own counters are not used, since engines may count twice when they retry a bundle.

    Args:
      counts_of: returns the counts of one element; `dict` for elements that are counts.
    """
    return beam.ParDo(_CountBundle(counts_of))


@dataclass(eq=False, repr=False)
class _CountBundle(beam.DoFn):
    counts_of: Callable[[Any], Mapping[str, int]]

    def start_bundle(self) -> None:
        self._sums: Counts = {}

    def process(self, element: Any) -> None:
        sums = self._sums
        counts = self.counts_of(element)
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
        progress.advance(counts)

    def finish_bundle(self) -> Iterator[WindowedValue]:
        if self._sums:
            yield stamp_at_end_of_global_window(self._sums)


def counts_of_score(score: ConversationScore) -> Counts:
    """The counts of a conversation."""
    return score.counts


def find_contradicted_ids(score: ConversationScore) -> list[ContradictedId]:
    """A conversation's duplicates by ids that URL and title contradict."""
    return score.contradicted_ids


def sum_to_side_input(several: Iterable[beam.PCollection[Counts]]) -> beam.pvalue.AsSingleton:
    """The sums of several collections of counts as a side input; {} if all are empty."""
    sums = (
        tuple(several)
        | "Counts" >> beam.Flatten()
        | "Sum" >> beam.CombineGlobally(sum_counts).without_defaults()
    )
    return beam.pvalue.AsSingleton(sums, {})


def keep_smallest(most: int) -> beam.PTransform:
    """A PCollection to its smallest elements, one list of them in order; nothing if it is empty.

    Beam's `Top` makes two steps more, which cost a short run more than its elements, to return an
    empty list then.
    """
    return beam.CombineGlobally(TopCombineFn(most, reverse=True)).without_defaults()


def sum_counts(several: Iterable[Counts]) -> Counts:
    """The sums of several counts, by name."""
    total: Counter[str] = Counter()
    for counts in several:
        total.update(counts)
    return dict(total)
