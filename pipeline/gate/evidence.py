"""The input of a gate: means and manifest of the run, and the comparison with a baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from goodgain.pipeline.comparison.sources import Arms
from goodgain.transforms.core.means.slices import SliceKey, slice_key, slice_of

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

    def slices(self, wanted: Mapping[str, str | None]) -> list[dict[str, str]]:
        """The slices that have these attributes and no others, ascending."""
        known = {name: value for name, value in wanted.items() if value is not None}
        if len(known) == len(wanted):
            return [dict(sorted(known.items()))] if slice_key(known) in self._by_slice else []
        slices = [
            tuple(sorted(one.items()))
            for one in map(slice_of, self._by_slice)
            if one.keys() == wanted.keys() and known.items() <= one.items()
        ]
        return [dict(one) for one in sorted(slices)]

    def mean(
        self, slice_: Mapping[str, str], metric: str, i: int | None, population: str
    ) -> _Row | None:
        """The row of `means`, or None; if all conversations searched, `everyone` is `all`."""
        means = self._by_slice.get(slice_key(slice_), {})
        everyone = means.get((metric, i, "all")) if population == "everyone" else None
        return means.get((metric, i, population), everyone)


class GateEvidence(Struct, frozen=True):
    """The data on which the rules are checked.

    Attributes:
      manifest: manifest of the run.
      arms: reads the arms of a change; None without a baseline.
    """

    manifest: Mapping[str, Any]
    means: GateMeans
    arms: ReadArms | None
