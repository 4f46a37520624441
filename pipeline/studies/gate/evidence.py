"""What a gate looks at: the means of a run, and both arms where a rule is on a change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from goodgain.pipeline.results.finished_run import check_conversations, read_run
from goodgain.pipeline.results.manifest_model import RunManifest
from goodgain.pipeline.results.wanted_means import MeansWanted, read_means
from goodgain.pipeline.studies.comparison.request import ComparisonRequest
from goodgain.pipeline.studies.comparison.sources import Arms, read_arms
from goodgain.pipeline.studies.gate.gate_file import GateFile
from goodgain.transforms.core.means.slices import EVERYTHING, SliceKey, slice_key, slice_of

_IN_EVERY_SLICE = "N"  # every slice has this metric, so it lists the slices
_CACHED_ARMS = 8  # a gate file names few metrics
_Row = Mapping[str, Any]
_MeansOfSlice = dict[tuple[str, int | None, str], _Row]
# Reads baseline and run with one metric, at N or by i; raises UsageError if they do not compare.
ReadArms = Callable[[str, int | None], Arms]


class GateMeans:
    """The means that the rules need, by slice."""

    def __init__(self, rows: Iterable[_Row]) -> None:
        """Arrange rows of `means`."""
        self._by_slice: dict[SliceKey, _MeansOfSlice] = {}
        for row in rows:
            of_slice = self._by_slice.setdefault(slice_key(row["slice"]), {})
            of_slice[row["metric"], row["i"], row["population"]] = row

    def slices(self, attributes: Mapping[str, str | None]) -> list[dict[str, str]]:
        """The slices that have these attributes and no others, ascending."""
        required = {name: value for name, value in attributes.items() if value is not None}
        if len(required) == len(attributes):
            return [dict(sorted(required.items()))] if slice_key(required) in self._by_slice else []
        slices = [
            tuple(sorted(of_slice.items()))
            for of_slice in map(slice_of, self._by_slice)
            if of_slice.keys() == attributes.keys() and required.items() <= of_slice.items()
        ]
        return [dict(slice_) for slice_ in sorted(slices)]

    def mean(
        self, slice_: Mapping[str, str], metric: str, i: int | None, population: str
    ) -> _Row | None:
        """The row of `means`, or None; if all conversations searched, `everyone` is `all`."""
        means = self._by_slice.get(slice_key(slice_), {})
        if_all_searched = means.get((metric, i, "all")) if population == "everyone" else None
        return means.get((metric, i, population), if_all_searched)


class GateEvidence(Struct, frozen=True):
    """The data on which the rules are checked.

    Attributes:
      arms: reads the arms of a change; None without a baseline.
    """

    manifest: RunManifest
    means: GateMeans
    arms: ReadArms | None


def gather(rules: GateFile, folder: str, baseline: str | None, force: bool = False) -> GateEvidence:
    """Read the evidence for a run, as far as the rules need it; for baseline and force see `Gate`.

    Raises:
      UsageError: the folder is not the output of a finished run, or has lost conversations.
    """
    manifest = read_run(folder)
    # Means alone would pass a run whose conversations nobody can look at any more.
    check_conversations(folder, manifest)
    return GateEvidence(
        manifest=manifest,
        means=GateMeans(read_means(folder, _means_wanted(rules))),
        arms=None if baseline is None else _arms_of(baseline, folder, force),
    )


def _arms_of(baseline: str, folder: str, force: bool) -> ReadArms:
    @lru_cache(_CACHED_ARMS)
    def read(metric: str, i: int | None) -> Arms:
        request = ComparisonRequest(
            (baseline, folder), metrics=(metric,), max_i=i or 1, force=force
        )
        return read_arms(request)

    return read


def _means_wanted(gate: GateFile) -> MeansWanted:
    rules = [rule for rule in gate.rules if not rule.is_change and rule.metric is not None]
    return MeansWanted(
        slices=None if any(rule.slice for rule in rules) else frozenset((EVERYTHING,)),
        metrics=frozenset((_IN_EVERY_SLICE, *(str(rule.metric) for rule in rules))),
        at_end=all(rule.i is None for rule in rules),
    )
