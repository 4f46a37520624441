"""The BCa bootstrap interval of a difference of means (Efron 1987, section 4)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

import numpy as np
from msgspec import Struct
from scipy.special import ndtr, ndtri

from goodgain.transforms.core.comparison.difference_test import Design
from goodgain.transforms.core.comparison.samples import (
    Array,
    checked,
    checked_pairs,
    rounded_differences,
    rounding_grain,
)
from goodgain.transforms.core.errors import UsageError

_LEAST_RESAMPLES = 100
_FEW = 50  # values of an arm; with fewer, simulations show clearly too narrow intervals
_DRAWN_AT_ONCE = 1 << 20  # numbers; keeps the memory of a batch of resamples near 16 MB
_REPETITIONS_FOR_COUNTS = 32  # from this number on, drawing counts of the distinct values is faster


class BootstrapInterval(Struct, frozen=True):
    """A bootstrap interval of candidate mean - base mean, in the unit of the metric.

    Attributes:
      note: why there is no interval, or a caveat.
    """

    ci_low: float | None
    ci_high: float | None
    note: str | None


def bootstrap_interval(
    base: Sequence[float] | Array,
    candidate: Sequence[float] | Array,
    design: Design,
    generator: np.random.Generator,
    resamples: int,
    confidence: float = 0.95,
) -> BootstrapInterval:
    """The BCa interval, from resampled pairs or, when unpaired, from each arm resampled separately.

    The result depends only on the values and the state of the generator: values are sorted before
    they are drawn, and differences within rounding count as 0. The acceleration is the jackknife's,
    which for means is the skewness in closed form; an explicit jackknife would need n^2 steps.

    Args:
      generator: seeded by the caller, like `np.random.default_rng(seed)`; it is advanced.
      resamples: at least 100.

    Raises:
      UsageError: a value is not a finite number, the arms of a paired design differ in length, or
        there are too few resamples.
    """
    if resamples < _LEAST_RESAMPLES:
        raise UsageError(f"`resamples` is {resamples}: give at least {_LEAST_RESAMPLES}.")
    samples, signs = _samples(base, candidate, design)
    if reason := _degenerate(samples):
        return BootstrapInterval(None, None, reason)
    drawn = np.zeros(resamples)
    for sign, sample in zip(signs, samples, strict=True):
        drawn += sign * _resampled_means(sample, generator, resamples)
    difference = float(sum(sign * each.mean() for sign, each in zip(signs, samples, strict=True)))
    bias = _bias_correction(drawn, difference, rounding_grain(*samples))
    ends = _adjusted_ends(bias, _acceleration(samples, signs), confidence)
    if ends is None:
        lopsided = "the resamples are so lopsided that BCa has no interval"
        return BootstrapInterval(None, None, lopsided)
    few = f"with fewer than {_FEW} values a bootstrap interval tends to be too narrow"
    note = few if min(sample.size for sample in samples) < _FEW else None
    low, high = np.quantile(drawn, ends).tolist()
    return BootstrapInterval(low, high, note)


def _samples(
    base: Sequence[float] | Array, candidate: Sequence[float] | Array, design: Design
) -> tuple[list[Array], list[float]]:
    """The sorted samples to draw from, and the sign of each mean in the difference."""
    if design == "paired":
        before, after = checked_pairs(base, candidate)
        return [np.sort(rounded_differences(before, after))], [1.0]
    before, after = checked(base, "base"), checked(candidate, "candidate")
    return [np.sort(before), np.sort(after)], [-1.0, 1.0]


def _degenerate(samples: list[Array]) -> str | None:
    if any(sample.size < 2 for sample in samples):
        return "fewer than two values cannot be resampled"
    grain = rounding_grain(*samples)
    if all(float(sample[-1] - sample[0]) <= grain for sample in samples):
        return "the values do not vary, so neither do the resamples"
    return None


def _resampled_means(values: Array, generator: np.random.Generator, resamples: int) -> Array:
    distinct, counts = np.unique(values, return_counts=True)
    repetitive = values.size >= _REPETITIONS_FOR_COUNTS * distinct.size
    means = np.empty(resamples)
    rows = max(1, _DRAWN_AT_ONCE // (distinct.size if repetitive else values.size))
    for start in range(0, resamples, rows):
        stop = min(start + rows, resamples)
        if repetitive:
            drawn = generator.multinomial(values.size, counts / values.size, size=stop - start)
            means[start:stop] = drawn @ distinct / values.size
        else:
            places = generator.integers(0, values.size, (stop - start, values.size))
            means[start:stop] = values[places].mean(axis=1)
    return means


def _bias_correction(drawn: Array, difference: float, grain: float) -> float:
    """z0: the distance from the estimate to the median of the resamples, in normal quantiles."""
    below = np.count_nonzero(drawn < difference - grain)
    equal = np.count_nonzero(np.abs(drawn - difference) <= grain)
    return float(ndtri((below + equal / 2) / drawn.size))


def _acceleration(samples: list[Array], signs: list[float]) -> float:
    """How fast the standard error changes with the mean; 0 for symmetric samples."""
    deviations = [values - values.mean() for values in samples]
    scale = max(float(np.abs(each).max()) for each in deviations)
    cubes = squares = 0.0
    for sign, each in zip(signs, deviations, strict=True):
        cubes += sign * float(((each / scale) ** 3).sum()) / each.size**3
        squares += float(((each / scale) ** 2).sum()) / each.size**2
    return float(cubes / squares**1.5) / 6


def _adjusted_ends(
    bias: float, acceleration: float, confidence: float
) -> tuple[float, float] | None:
    """The quantiles of the resamples that bound the interval; None if the formula has none."""
    reach = float(ndtri((1 + confidence) / 2))
    shifted = (bias - reach, bias + reach)
    slopes = [1 - acceleration * each for each in shifted]
    if not isfinite(bias) or min(slopes) <= 0:
        return None
    low, high = (
        float(ndtr(bias + each / slope)) for each, slope in zip(shifted, slopes, strict=True)
    )
    return low, high
