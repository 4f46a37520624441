"""What the agent of each arm opened and cited of what it found, for the report (SPEC 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from msgspec import Struct

from goodgain.pipeline.results.way_sums import COLUMNS, way_numbers
from goodgain.pipeline.studies.comparison.arms import Arm
from goodgain.pipeline.studies.comparison.sources import Arms

_RECORDS = ("opens", "cites")


class ArmWays(Struct, frozen=True):
    """The sums of both arms in a slice, over all of their conversations; see `way_numbers`."""

    slice: dict[str, str]
    base: dict[str, int]
    candidate: dict[str, int]


def arm_ways(arms: Arms, slices: Iterable[dict[str, str]]) -> Iterator[ArmWays]:
    """The sums in each slice; none if the runs do not tell what was opened or cited."""
    if not any(name in arms.base.at_end for name in _RECORDS):
        return
    for slice_ in slices:
        yield ArmWays(slice_, *(_sums(arm.where(slice_)) for arm in (arms.base, arms.candidate)))


def _sums(arm: Arm) -> dict[str, int]:
    known = {name: np.nan_to_num(arm.at_end[name]) for name in COLUMNS if name in arm.at_end}
    sums = Counter(way_numbers({}))
    for at in range(len(arm.ids)):
        sums.update(way_numbers({name: values[at] for name, values in known.items()}))
    return dict(sums)
