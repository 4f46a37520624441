"""Reads those means of a run that are wanted."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.datasets import MEANS
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.pipeline.results.manifest_checks import REMEDY
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.means.slices import SliceKey, slice_key
from goodgain.transforms.core.metrics.by_name import metric_by_name


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
      UsageError: the dataset is damaged, its number of rows differs from the manifest, or it has a
        metric of another version.
    """
    known = set[str]()
    for row in read_dataset(folder, MEANS.name):
        name = row["metric"]
        if name not in known:
            _check_metric(name, folder)
            known.add(name)
        if wanted.takes(row):
            yield row


def _check_metric(name: str, folder: str) -> None:
    try:
        metric_by_name(name)
    except UsageError:
        raise UsageError(
            f"The means of {folder} have the metric {name}, which there is not. {REMEDY}"
        ) from None
