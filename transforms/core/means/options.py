"""The options of means over conversations (SPEC 6)."""

from __future__ import annotations

from typing import Annotated

from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.option import COMMON, MEANS, Option, Options


class MeansOptions(Options, frozen=True):
    """What means are computed over, and their intervals.

    Raises:
      UsageError: a value cannot be used.

    Example:
      >>> from goodgain import MeansOptions
      >>> MeansOptions(slice=(("market",), ("arm", "market")), cluster="query").slice
      (('market',), ('arm', 'market'))
    """

    slice: Annotated[
        tuple[tuple[str, ...], ...],
        Option(
            COMMON,
            "NAMES",
            "attributes to slice the means by, like market, or arm,market for both at once",
            check=_check_slices,
            keyword="slices",
        ),
    ] = ()
    interval: Annotated[
        Interval,
        Option(MEANS, "HOW", "95 % intervals: hall corrects t for skewness, student does not"),
    ] = "hall"
    cluster: Annotated[
        str | None,
        Option(
            MEANS,
            "ATTRIBUTE",
            "attribute shared by conversations that are not independent, like the id of a "
            "query that is run several times; intervals allow for it",
        ),
    ] = None


def _check_slices(slices: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Make sure that slices differ, and the attributes of each.

    Raises:
      ValueError: a slice has no attribute, or an attribute or a slice is named twice.
    """
    seen: set[frozenset[str]] = set()
    for names in slices:
        if not names:
            raise ValueError("holds a slice without attributes")
        if len(set(names)) < len(names):
            raise ValueError(f"names an attribute twice in {','.join(names)}")
        if frozenset(names) in seen:
            raise ValueError(f"holds {','.join(names)} twice")
        seen.add(frozenset(names))
    return slices


DEFAULT_MEANS = MeansOptions()
