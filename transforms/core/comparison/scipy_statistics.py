"""Statistics of scipy's that a user can ask for beside our own test.

scipy.stats takes a second to import, so that only these functions do it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from goodgain.transforms.core.comparison.differences import Design
from goodgain.transforms.core.comparison.samples import (
    Array,
    check_pairs,
    check_values,
    round_differences,
    rounding_grain,
)
from goodgain.transforms.core.errors import UsageError

_MOST_FOR_EXACT = 50  # differing pairs; counts up to 2^50 assignments are exact in doubles
_LEAST_RESAMPLES = 100
_FEW = 50  # values of an arm; with fewer, simulations show clearly too narrow intervals
_MOST_FOR_BCA = (
    10_000  # values of an arm; BCa takes n^2 steps for corrections that vanish as n grows
)
_DRAWN_AT_ONCE = 1 << 20  # numbers; keeps the memory of a batch of resamples near 16 MB


class WilcoxonTest(Struct, frozen=True):
    """The two-sided signed-rank test; null if no pair differs.

    Attributes:
      rank_biserial: (ranks upwards - ranks downwards) / all ranks, -1 to 1: the effect size.
    """

    p_value: float | None
    rank_biserial: float | None


class BootstrapInterval(Struct, frozen=True):
    """A bootstrap interval of candidate mean - base mean, in the unit of the metric.

    Attributes:
      note: why there is no interval, or a caveat.
    """

    ci_low: float | None
    ci_high: float | None
    note: str | None


def wilcoxon(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> WilcoxonTest:
    """Whether differences are distributed symmetrically around 0, by `scipy.stats.wilcoxon`.

    Pairs without a difference are left out, as by Wilcoxon. Up to 50 others p is exact, even with
    ties, which are the rule in metrics that count few results; scipy needs seconds for those.

    Args:
      base, candidate: the values of pair j are at index j; values, and magnitudes of differences,
        that differ only by rounding are equal.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    from scipy import stats

    differences = round_differences(*check_pairs(base, candidate))
    differing = differences[differences != 0]
    if not differing.size:
        return WilcoxonTest(None, None)
    doubled = 2 * stats.rankdata(np.abs(differing))  # whole numbers, though ties share a mean rank
    upwards, total = float(doubled[differing > 0].sum()), float(doubled.sum())
    if differing.size <= _MOST_FOR_EXACT:
        p_value = _exact_p(doubled.astype(int).tolist(), round(min(upwards, total - upwards)))
    else:
        p_value = float(stats.wilcoxon(differing, method="approx").pvalue)
    return WilcoxonTest(p_value, (2 * upwards - total) / total)


def _exact_p(ranks: list[int], lesser: int) -> float:
    """Twice the share of assignments of signs with a sum at most this small."""
    ways = np.zeros(sum(ranks) + 1)  # number of assignments by sum of the positive ranks
    ways[0] = 1
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    return min(1.0, 2 * float(ways[: lesser + 1].sum() / ways.sum()))


def sign_test(base: Sequence[float] | Array, candidate: Sequence[float] | Array) -> float | None:
    """Whether the candidate is above the base as often as below it, by `scipy.stats.binomtest`.

    Args:
      base, candidate: the values of pair j are at index j; values that differ only by rounding are
        equal.

    Returns:
      The two-sided exact p value; None if no pair differs.

    Raises:
      UsageError: the lengths differ, or a value is not a finite number.
    """
    from scipy import stats

    differences = round_differences(*check_pairs(base, candidate))
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    if not higher + lower:
        return None
    return float(stats.binomtest(higher, higher + lower).pvalue)


def bootstrap_interval(
    base: Sequence[float] | Array,
    candidate: Sequence[float] | Array,
    design: Design,
    generator: np.random.Generator,
    resamples: int,
    confidence: float = 0.95,
) -> BootstrapInterval:
    """The interval of `scipy.stats.bootstrap`, from resampled pairs or, when unpaired, both arms.

    It is the BCa interval, of more than 10,000 values that of percentiles.

    The result depends only on the values and the state of the generator: values are sorted before
    they are drawn, and differences within rounding count as 0.

    Args:
      generator: seeded by the caller, like `np.random.default_rng(seed)`; it is advanced.
      resamples: at least 100.

    Raises:
      UsageError: a value is not a finite number, the arms of a paired design differ in length, or
        there are too few resamples.
    """
    from scipy import stats

    if resamples < _LEAST_RESAMPLES:
        raise UsageError(f"`resamples` is {resamples}: give at least {_LEAST_RESAMPLES}.")
    if design == "paired":
        before, after = check_pairs(base, candidate)
        samples = [np.sort(round_differences(before, after))]
    else:
        samples = [
            np.sort(check_values(base, "base")),
            np.sort(check_values(candidate, "candidate")),
        ]
    if reason := _reason_of_degeneracy(samples):
        return BootstrapInterval(None, None, reason)
    greatest = max(sample.size for sample in samples)
    interval = stats.bootstrap(
        samples,
        _mean if design == "paired" else _difference,
        n_resamples=resamples,
        batch=max(1, _DRAWN_AT_ONCE // greatest),
        confidence_level=confidence,
        method="BCa" if greatest <= _MOST_FOR_BCA else "percentile",
        rng=generator,
    ).confidence_interval
    if not (np.isfinite(interval.low) and np.isfinite(interval.high)):
        lopsided = "the resamples are so lopsided that BCa has no interval"
        return BootstrapInterval(None, None, lopsided)
    few = f"with fewer than {_FEW} values a bootstrap interval tends to be too narrow"
    note = few if min(sample.size for sample in samples) < _FEW else None
    return BootstrapInterval(float(interval.low), float(interval.high), note)


def _mean(differences: Array, axis: int = -1) -> npt.NDArray[np.float64]:
    mean: npt.NDArray[np.float64] = differences.mean(axis=axis)
    return mean


def _difference(base: Array, candidate: Array, axis: int = -1) -> npt.NDArray[np.float64]:
    return _mean(candidate, axis) - _mean(base, axis)


def _reason_of_degeneracy(samples: list[Array]) -> str | None:
    """Why samples cannot be resampled; None if they can."""
    if any(sample.size < 2 for sample in samples):
        return "fewer than two values cannot be resampled"
    grain = rounding_grain(*samples)
    if all(float(sample[-1] - sample[0]) <= grain for sample in samples):
        return "the values do not vary, so neither do the resamples"
    return None
