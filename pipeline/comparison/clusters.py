"""The clusters of a comparison's values, like repeated runs of a query (SPEC 6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from goodgain.pipeline.comparison.arms import Arm
from goodgain.pipeline.comparison.matching import Grouped, Matched, Sample
from goodgain.pipeline.comparison.measures import Measure
from goodgain.transforms.core.comparison.clustered import Codes
from goodgain.transforms.core.errors import UsageError


class PairCodes(Struct, frozen=True):
    """The clusters of pairs.

    Attributes:
      by_key: the cluster number of each pair, in the order of `Matched.keys`.
    """

    by_key: Codes

    def of(self, values: Sample, _: Measure) -> Codes:
        """The cluster numbers of the pairs that have values."""
        return self.by_key[values.shared]


class SampleCodes(Struct, frozen=True):
    """The clusters of two samples.

    Attributes:
      base, candidate: the arms.
      of_base, of_candidate: the cluster number of each conversation; a cluster in both arms has the
        same number in both.
    """

    base: Arm
    candidate: Arm
    of_base: Codes
    of_candidate: Codes

    def of(self, _: Sample, measure: Measure) -> tuple[Codes, Codes]:
        """The cluster numbers of the values of both arms."""
        return (
            _defined(self.base, self.of_base, measure),
            _defined(self.candidate, self.of_candidate, measure),
        )


def cluster_codes(matched: Matched, attribute: str) -> PairCodes | SampleCodes:
    """The clusters of matched arms; a conversation without the attribute is its own cluster.

    A pair belongs to the cluster of its base conversation or, without one, of its candidate.
    """
    base, candidate = matched.base, matched.candidate
    if not matched.paired:
        of_base = len(base.arm.ids)
        both = (*base.arm.attributes, *candidate.arm.attributes)
        codes = numbered(own.get(attribute, "") for own in both)
        return SampleCodes(base.arm, candidate.arm, codes[:of_base], codes[of_base:])
    mine, theirs = _by_group(base, attribute), _by_group(candidate, attribute)
    places = zip(matched.base_places.tolist(), matched.candidate_places.tolist(), strict=True)
    return PairCodes(numbered(mine[one] or theirs[other] for one, other in places))


def check_attribute(attribute: str, base: Arm, candidate: Arm) -> None:
    """Make sure that conversations have the attribute.

    Raises:
      UsageError: none has it.
    """
    if not any(own.get(attribute) for arm in (base, candidate) for own in arm.attributes):
        raise UsageError(
            f"No conversation in the means has the attribute {attribute} of --cluster; is it "
            "misspelt?"
        )


def common_cluster(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> str | None:
    """The cluster attribute of both runs; None if they differ.

    Args:
      base, candidate: manifests of runs.
    """
    one, other = (manifest["parameters"].get("cluster") for manifest in (base, candidate))
    return str(one) if one is not None and one == other else None


def _by_group(grouped: Grouped, attribute: str) -> list[str]:
    """For each key, the attribute's value in its first conversation."""
    own = grouped.arm.attributes
    return [own[place].get(attribute, "") for place in grouped.first_rows().tolist()]


def numbered(values: Iterable[str]) -> Codes:
    """A cluster number for each value; a blank value is a cluster of its own."""
    numbers: dict[str, int] = {}
    alone = 0
    codes = []
    for value in values:
        if value:
            codes.append(numbers.setdefault(value, len(numbers)))
        else:
            alone += 1
            codes.append(-alone)
    return np.array(codes, dtype=np.int64)


def _defined(arm: Arm, codes: Codes, measure: Measure) -> Codes:
    values, present = arm.values(measure)
    return codes[present & ~np.isnan(values)]
