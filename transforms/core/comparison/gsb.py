"""Good, same, bad: the pairs in which the candidate is better, the same or worse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt

from msgspec import Struct

from goodgain.transforms.core.comparison.samples import (
    Array,
    check_pairs,
    round_differences,
    rounding_grain,
)
from goodgain.transforms.core.metric import Direction
from goodgain.transforms.core.special_functions import normal_quantile

_HALVINGS = 60  # enough to narrow an interval of length 2 to the precision of a double


class GoodSameBad(Struct, frozen=True):
    """The three counts and their balance.

    Attributes:
      gsb: (good - bad) / (good + same + bad), -1 to 1; None without pairs.
    """

    good: int
    same: int
    bad: int
    gsb: float | None
    ci_low: float | None
    ci_high: float | None


def good_same_bad(
    base: Sequence[float] | Array,
    candidate: Sequence[float] | Array,
    tolerance: float,
    direction: Direction,
    confidence: float = 0.95,
) -> GoodSameBad:
    """Count the pairs on which the candidate wins and loses.

    The interval is Tango's score interval for a difference of paired shares (Tango 1998). The usual
    interval, from the mean of {+1, 0, -1} and its standard error, is too narrow if few pairs differ
    or all differ in one direction, and has no width if none does; Tango's keeps its coverage.

    Args:
      base, candidate: the values of pair j are at index j, in the unit of the metric.
      tolerance: at least 0; a difference that exceeds it only by rounding counts as same.

    Raises:
      UsageError: the arms differ in length, or a value is not a finite number.
    """
    before, after = check_pairs(base, candidate)
    differences = round_differences(before, after)
    if direction == "lower":
        differences = -differences
    margin = tolerance + rounding_grain(before, after)
    good, bad = int((differences > margin).sum()), int((differences < -margin).sum())
    n = int(differences.size)
    if n == 0:
        return GoodSameBad(0, 0, 0, None, None, None)
    low, high = share_difference_interval(good, bad, n, confidence)
    return GoodSameBad(good, n - good - bad, bad, (good - bad) / n, low, high)


def share_difference_interval(
    good: int, bad: int, n: int, confidence: float
) -> tuple[float, float]:
    """Tango's (1998) score interval of share of good - share of bad, within -1 to 1.

    Args:
      good, bad: number of good and bad pairs among n >= 1.
    """
    quantile = normal_quantile((1 + confidence) / 2)
    return _lower_end(good, bad, n, quantile), -_lower_end(bad, good, n, quantile)


@lru_cache(maxsize=8192)  # slices with few pairs often have the same counts
def _lower_end(good: int, bad: int, n: int, quantile: float) -> float:
    """The smallest true difference within `quantile` standard errors of the counts.

    Found by bisection between -1, which is rejected, and the estimate, where the score is 0.
    """
    rejected, accepted = -1.0, (good - bad) / n
    for _ in range(_HALVINGS):
        middle = (rejected + accepted) / 2
        surplus = good - bad - n * middle
        if surplus > quantile * _standard_error(good, bad, n, middle):
            rejected = middle
        else:
            accepted = middle
    return accepted


def _standard_error(good: int, bad: int, n: int, difference: float) -> float:
    """The standard error of good - bad if the true difference were `difference`.

    The share of bad pairs is then not their observed share, but the most likely one.
    """
    linear = (2 * n - good + bad) * difference - good - bad
    constant = -bad * difference * (1 - difference)
    share_of_bad = (sqrt(max(linear * linear - 8 * n * constant, 0.0)) - linear) / (4 * n)
    return sqrt(max(n * (2 * share_of_bad + difference * (1 - difference)), 0.0))
