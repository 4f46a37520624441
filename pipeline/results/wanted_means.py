"""Reads those means of a run that are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.formats import Row
from goodgain.transforms.core.means.slices import SliceKey, slice_key


class MeansWanted(Struct, frozen=True):
    """Which rows of `means` to read.

    Attributes:
      slices: keys of slices; None = all slices.
      metrics: None = all metrics.
      at_end: only rows at N.
    """

    slices: frozenset[SliceKey] | None = None
    metrics: frozenset[str] | None = None
    at_end: bool = False

    def takes(self, row: Row) -> bool:
        """Whether to read a row."""
        return (
            (not self.at_end or row["i"] is None)
            and (self.metrics is None or row["metric"] in self.metrics)
            and (self.slices is None or slice_key(row["slice"]) in self.slices)
        )


ALL_MEANS = MeansWanted()


def read_means(folder: str, wanted: MeansWanted = ALL_MEANS) -> Iterator[Row]:
    """Rows of `means`, in order.

    Raises:
      UsageError: the dataset is damaged, or its number of rows differs from the manifest.
    """
    return filter(wanted.takes, read_dataset(folder, MEANS.name))
