"""The means of a run, arranged by slice for the report's plots and tables (SPEC 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Generic, TypeVar

from msgspec import Struct

from goodgain.pipeline.document.safe_text import shorten
from goodgain.pipeline.results.wanted_means import ALL_MEANS, MeansWanted
from goodgain.transforms.core.means.slices import EVERYTHING, SliceKey, slice_key

Row = Mapping[str, Any]
MOST_ITERATIONS = 50
_MOST_SLICES = 60
_MOST_SLICE_ITERATIONS = 600  # bounds the size of the page
_LONGEST_VALUE = 60
_NO_VALUE = "(none)"
LEAST_N_FOR_BAND = 10  # conversations for a band, which misleads with fewer
_SIZE_METRIC = "N"  # defined for every conversation in the means
_SIZES = MeansWanted(metrics=frozenset((_SIZE_METRIC,)), at_end=True)


class SliceRows(Struct):
    """Rows of a dataset about the conversations that share some attributes.

    Attributes:
      attributes: the shared attributes; {} = all conversations.
      curves: rows by population, then metric, in the order of i.
    """

    attributes: dict[str, str]
    at_end: dict[str, Row] = {}
    curves: dict[str, dict[str, list[Row]]] = {}

    def add(self, row: Row) -> None:
        """Add a row, unless its i is beyond the last one shown."""
        if row["i"] is None:
            self.at_end[row["metric"]] = row
        elif row["i"] <= MOST_ITERATIONS:
            of_population = self.curves.setdefault(row["population"], {})
            of_population.setdefault(row["metric"], []).append(row)

    @property
    def label(self) -> str:
        """The attribute values that the conversations share, as text."""
        return (
            ", ".join(
                f"{shorten(name, _LONGEST_VALUE)} = {slice_value(value)}"
                for name, value in self.attributes.items()
            )
            or "All conversations"
        )


class SliceMeans(SliceRows):
    """The means of the conversations that share some attributes.

    Attributes:
      everyone: like `at_end`, including conversations that never searched; empty if there are none.
    """

    everyone: dict[str, Row] = {}

    @property
    def n(self) -> int:
        """The number of conversations."""
        return _size(self.at_end[_SIZE_METRIC])


_Slice = TypeVar("_Slice", bound=SliceRows)


class Slices(Struct, Generic[_Slice], frozen=True):
    """The slices that a report shows.

    Attributes:
      shown: all conversations first, then by dimension; empty if none searched.
      left_out: how many more the dataset has.
      iterations_left_out: how many values of i it has beyond the last one shown.
    """

    shown: tuple[_Slice, ...]
    left_out: int = 0
    iterations_left_out: int = 0

    @property
    def everything(self) -> _Slice | None:
        """The slice of all conversations; None if none searched."""
        return self.shown[0] if self.shown else None

    @property
    def dimensions(self) -> dict[tuple[str, ...], list[int]]:
        """Indexes in `shown` by dimension."""
        by_dimension: dict[tuple[str, ...], list[int]] = {}
        for at, slice_ in enumerate(self.shown):
            if slice_.attributes:
                by_dimension.setdefault(tuple(slice_.attributes), []).append(at)
        return by_dimension


def slice_value(value: str) -> str:
    """The value of an attribute as text for the report."""
    return shorten(value, _LONGEST_VALUE) or _NO_VALUE


def read_slices(
    read: Callable[[MeansWanted], Iterable[Row]], dimensions: Sequence[Sequence[str]]
) -> Slices[SliceMeans]:
    """Arrange the rows of `means`.

    If there are more slices than fit on a page, only the largest are kept.

    Args:
      read: returns the requested rows, those of all conversations first.
      dimensions: the requested attribute names, in the order to show them.
    """
    order = {frozenset(names): tuple(names) for names in dimensions}
    sizes = {slice_key(row["slice"]): row for row in read(_SIZES) if row["population"] == "all"}
    overall = takewhile(lambda row: not row["slice"], read(ALL_MEANS))
    last_i = max((row["i"] or 0 for row in overall), default=0)
    searched = [key for key, row in sizes.items() if _size(row)]
    # The slice of all conversations has no attributes, so it always comes first.
    searched.sort(key=lambda key: (key != EVERYTHING, -_size(sizes[key]), key))
    slices_shown = min(
        _MOST_SLICES, max(1, _MOST_SLICE_ITERATIONS // max(1, min(last_i, MOST_ITERATIONS)))
    )
    slices: dict[SliceKey, SliceMeans] = {}
    for key in searched[:slices_shown]:
        attributes = sizes[key]["slice"]
        names = order.get(frozenset(attributes), tuple(sorted(attributes)))
        slices[key] = SliceMeans({name: attributes[name] for name in names})
    for row in read(MeansWanted(slices=frozenset(slices))):
        _add(slices[slice_key(row["slice"])], row)
    for curves in (curves for slice_ in slices.values() for curves in slice_.curves.values()):
        for curve in curves.values():
            curve.sort(key=lambda row: int(row["i"]))
    return Slices(
        shown=tuple(sorted(slices.values(), key=lambda slice_: _sort_key(slice_, list(order)))),
        left_out=len(searched) - len(slices),
        iterations_left_out=max(0, last_i - MOST_ITERATIONS),
    )


def _size(row: Row) -> int:
    """The number of conversations in a slice, from its row of `_SIZE_METRIC`."""
    return int(row["n"] + row["undefined"])


def _add(means: SliceMeans, row: Row) -> None:
    if row["population"] == "everyone":
        if row["i"] is None:
            means.everyone[row["metric"]] = row
        return  # curves show only conversations that searched
    if row["population"] == "calls":
        return
    if row["i"] is None and row["population"] == "reached":
        return  # only conversations that spent the budget; the page shows all
    means.add(row)


def _sort_key(means: SliceMeans, order: list[frozenset[str]]) -> tuple[bool, int, str]:
    names = frozenset(means.attributes)
    return bool(names), order.index(names) if names in order else len(order), means.label
