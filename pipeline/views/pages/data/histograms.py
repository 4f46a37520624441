"""Histograms of every metric in every slice, counted in one pass over the conversations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from goodgain.pipeline.views.pages.data.slices import SliceMeans
from goodgain.transforms.core.metric import Metric

Row = Mapping[str, Any]
_BINS = 20  # a target; rounding the width makes it half to twice as many
_MOST_SINGLE_VALUES = 30
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_ROWS_AT_ONCE = 4_096
_TOLERANCE = 1e-9  # share of a bin, so that 0.15 belongs to the bin that begins at 3 * 0.05


class Bins(Struct, frozen=True):
    """Bins of equal width; each includes its lower end, the last one both ends.

    Attributes:
      single: whether each bin is for one whole number, at its middle.
    """

    start: float
    width: float
    count: int
    single: bool = False

    def of(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The bin of each value, from 0."""
        bin_numbers = np.floor((values - self.start) / self.width + _TOLERANCE)
        return np.clip(bin_numbers, 0, self.count - 1).astype(np.int64)


def bins_for(metric: Metric, lowest: float, highest: float) -> Bins:
    """Bins with round limits for values of a metric from `lowest` to `highest`."""
    if metric.whole and highest - lowest < _MOST_SINGLE_VALUES:
        return Bins(lowest - 0.5, 1.0, int(highest - lowest) + 1, single=True)
    width = _round_width((highest - lowest) / _BINS, metric.whole)
    start = floor(lowest / width) * width
    return Bins(start, width, max(1, ceil((highest - start) / width)))


def _round_width(width: float, whole: bool) -> float:
    if width <= 0:
        return 1.0
    power = 10.0 ** floor(log10(width))
    rounded = next(step * power for step in _STEPS if step * power >= width * (1 - _TOLERANCE))
    return float(ceil(rounded)) if whole else rounded


class Histograms:
    """Counts of conversations in the means, by slice, metric and bin.

    Attributes:
      bins: by metric; without metrics that are undefined in every conversation.
    """

    def __init__(self, metrics: Sequence[Metric], slices: Sequence[SliceMeans]) -> None:
        """Choose the bins by the minimum and maximum over all conversations, from the means."""
        extremes = slices[0].at_end if slices else {}
        self.bins: dict[str, Bins] = {}
        for metric in metrics:
            row = extremes.get(metric.name)
            if row is not None and row["min"] is not None:
                self.bins[metric.name] = bins_for(metric, row["min"], row["max"])
        self._counts = {
            name: np.zeros((len(slices), bins.count), np.int64) for name, bins in self.bins.items()
        }
        self._slices: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
        for at, slice_ in enumerate(slices):
            values = tuple(slice_.attributes.values())
            self._slices.setdefault(tuple(slice_.attributes), {})[values] = at
        self._waiting: list[Row] = []

    def add(self, row: Row) -> None:
        """Count a conversation that is in the means."""
        self._waiting.append(row)
        if len(self._waiting) == _ROWS_AT_ONCE:
            self._count()

    def of_slice(self, at: int) -> dict[str, list[int]]:
        """The counts of the slice at this index, by metric, then bin."""
        self._count()
        return {name: counts[at].tolist() for name, counts in self._counts.items()}

    def _count(self) -> None:
        rows, self._waiting = self._waiting, []
        if not rows:
            return
        members = self._members(rows)
        for name, bins in self.bins.items():
            values = np.array([row.get(name) for row in rows], dtype=np.float64)
            defined = ~np.isnan(values)
            bin_numbers = np.zeros(len(rows), np.int64)
            bin_numbers[defined] = bins.of(values[defined])
            counts = self._counts[name]
            for slice_of_row in members:
                within = defined & (slice_of_row >= 0)
                flat = slice_of_row[within] * bins.count + bin_numbers[within]
                counts += np.bincount(flat, minlength=counts.size).reshape(counts.shape)

    def _members(self, rows: Sequence[Row]) -> list[NDArray[np.int64]]:
        """For each dimension, the slice of each row; -1 if it is not shown."""
        return [
            np.array(
                [
                    slices.get(tuple(row["attributes"].get(name, "") for name in names), -1)
                    for row in rows
                ],
                dtype=np.int64,
            )
            for names, slices in self._slices.items()
        ]
