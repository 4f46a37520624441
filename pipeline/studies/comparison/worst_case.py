"""The difference of two arms if every null of a metric were its worst value (SPEC 10)."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from goodgain.pipeline.studies.comparison.matching import Sample
from goodgain.transforms.core.comparison.samples import difference_of_means
from goodgain.transforms.core.metric import ZERO_TO_ONE
from goodgain.transforms.core.metrics.by_name import metric_by_name


class WorstCase(Struct, frozen=True):
    """The means if each null were the metric's worst value (SPEC 10)."""

    base_mean: float
    candidate_mean: float

    @property
    def difference(self) -> float:
        """The difference of the means; 0 if they differ only by rounding."""
        means = np.array([self.base_mean, self.candidate_mean])
        return difference_of_means(self.candidate_mean - self.base_mean, means)


def worst_value(metric: str, max_i: int) -> float | None:
    """The worst value of a metric; None if it has none, or neither higher nor lower is better."""
    declared = metric_by_name(metric)
    if declared.direction == "higher":
        return 0.0
    if declared.direction == "lower" and declared.unit in ZERO_TO_ONE:
        return 1.0
    if declared.direction == "lower" and declared.unit == "iterations":
        return float(max_i + 1)
    return None


def assume_worst_case(metric: str, values: Sample, max_i: int) -> WorstCase | None:
    """The means with nulls as the worst value; None if none is null, or there is no worst value.

    An outcome and a user's own metric may be below 0, and have no worst value if they are.
    """
    worst = worst_value(metric, max_i)
    base, candidate = values.with_nulls
    nothing_is_null = len(base) == len(values.base) and len(candidate) == len(values.candidate)
    if worst is None or nothing_is_null or not len(base) or not len(candidate):
        return None
    if metric_by_name(metric).signed and any((arm < 0).any() for arm in (base, candidate)):
        return None
    return WorstCase(*(float(np.nan_to_num(arm, nan=worst).mean()) for arm in (base, candidate)))
