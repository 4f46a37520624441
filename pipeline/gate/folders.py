"""Gathering what a gate judges by from the output folders of runs."""

from __future__ import annotations

from functools import lru_cache

from pipeline.comparison.arms import Arm
from pipeline.comparison.comparability import check_run
from pipeline.comparison.request import Request
from pipeline.comparison.sources import read_arms
from pipeline.gate.evidence import Evidence
from pipeline.outputs.datasets import MEANS
from pipeline.outputs.folder import read_dataset, read_manifest

_KEPT = 8  # pairs of arms; a gate file names few metrics


class FolderBaseline:
    """A baseline whose arms are read from two output folders, once for each metric."""

    def __init__(self, baseline: str, folder: str, force: bool) -> None:
        self._folders = (baseline, folder)
        self._force = force
        self._read = lru_cache(_KEPT)(self._read_arms)

    def arms(self, metric: str, i: int | None) -> tuple[Arm, Arm]:
        """See `Baseline`."""
        return self._read(metric, i)

    def _read_arms(self, metric: str, i: int | None) -> tuple[Arm, Arm]:
        found = read_arms(
            Request(self._folders, metrics=(metric,), max_i=i or 1, force=self._force)
        )
        return found.base, found.candidate


def gather(folder: str, baseline: str | None, force: bool = False) -> Evidence:
    """The evidence for judging the output of a run.

    Args:
      baseline: output of another run, or None.
      force: compare with the baseline although what metrics depend on differs.

    Raises:
      UsageError: a folder is not the output of a finished run.
    """
    manifest = read_manifest(folder)
    check_run(manifest, folder)
    if baseline is not None:
        check_run(read_manifest(baseline), baseline)
    return Evidence(
        manifest=manifest,
        means=list(read_dataset(folder, MEANS.name)),
        baseline=None if baseline is None else FolderBaseline(baseline, folder, force),
    )
