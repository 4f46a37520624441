"""Samples of a metric's values: checked, and summed without rounding noise."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp, ldexp, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.statistics import has_spread

Array = npt.NDArray[np.float64]

_LARGEST = 1e300  # larger values may overflow when summed
_NOISE_BITS = 44  # of a double's 53; sums of a few hundred terms are exact to this many


class Moments(Struct, frozen=True):
    """The moments of one sample that the t-tests need.

    Attributes:
      mean: None when n = 0.
      stddev: sample standard deviation (n - 1); None if n < 2; exactly 0.0 if the values differ
        only by rounding.
      asymmetry: skewness / sqrt(n), of the mean; 0.0 if there is no variance.
    """

    n: int
    mean: float | None
    stddev: float | None
    asymmetry: float = 0.0


def check_values(values: Sequence[float] | Array, arm: str) -> Array:
    """The values as an array.

    Args:
      arm: "base" or "candidate", for the message.

    Raises:
      UsageError: a value is not a finite number, or is too large to be summed.
    """
    array = np.asarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    if array.ndim != 1:
        raise UsageError(f"The values of {arm} have {array.ndim} dimensions, not 1: pass a list.")
    unusable = np.flatnonzero(~(np.abs(array) < _LARGEST))
    if unusable.size:
        at = int(unusable[0])
        raise UsageError(
            f"Value {at + 1} of {arm} is {array[at]}, which cannot be compared: "
            f"pass finite numbers below {_LARGEST:g}, and null if the metric is undefined."
        )
    return array


def check_pairs(
    base: Sequence[float] | Array, candidate: Sequence[float] | Array
) -> tuple[Array, Array]:
    """Both samples as arrays of the same length; pair j is (base[j], candidate[j]).

    Raises:
      UsageError: the lengths differ, or a value cannot be compared.
    """
    checked_base, checked_candidate = (
        check_values(base, "base"),
        check_values(candidate, "candidate"),
    )
    if checked_base.size != checked_candidate.size:
        raise UsageError(
            f"Pairs need as many values of base ({checked_base.size}) as of candidate "
            f"({checked_candidate.size}): pair them by key first."
        )
    return checked_base, checked_candidate


def rounding_grain(*samples: Array) -> float:
    """The distance below which two of the values may differ only by rounding.

    A power of two, 2^-44 of the largest magnitude, so that whole numbers are multiples of it;
    0.0 if all values are 0 or there are none.
    """
    largest = max((float(np.abs(sample).max()) for sample in samples if sample.size), default=0.0)
    return ldexp(1.0, frexp(largest)[1] - _NOISE_BITS) if largest else 0.0


def round_differences(base: Array, candidate: Array) -> Array:
    """Candidate - base, rounded to the grain of the values.

    0.3 - 0.2 and 0.2 - 0.1 are different doubles; tests based on signs, ranks and ties need them to
    be equal.
    """
    grain = rounding_grain(base, candidate)
    differences: Array = candidate - base
    return np.rint(differences / grain) * grain + 0.0 if grain else differences


def difference_of_means(difference: float, *samples: Array) -> float:
    """A difference of means; 0.0 if it is only a rounding error of the values.

    The mean of 0.1, 0.2 and 0.3 is not the double 0.2.
    """
    greatest = max(float(np.abs(sample).max(initial=0.0)) for sample in samples)
    return difference if has_spread(abs(difference), greatest) else 0.0


def measure_moments(values: Array, grain: float) -> Moments:
    """Mean and standard deviation, independent of the order of the values.

    Args:
      grain: values that differ by no more than this are equal; see `rounding_grain`.
    """
    n = int(values.size)
    if n == 0:
        return Moments(0, None, None)
    mean = _sum(values) / n
    if n == 1:
        return Moments(1, mean, None)
    if float(values.max() - values.min()) <= grain:
        return Moments(n, mean, 0.0)
    deviations = values - mean
    scale = float(np.abs(deviations).max())  # squares of tiny deviations would underflow
    squares, cubes = _sum((deviations / scale) ** 2), _sum((deviations / scale) ** 3)
    return Moments(n, mean, scale * sqrt(squares / (n - 1)), cubes / squares**1.5)


def _sum(values: Array) -> float:
    """Pairwise sum in ascending order, so that no bit depends on the order of conversations."""
    return float(np.sort(values).sum())
