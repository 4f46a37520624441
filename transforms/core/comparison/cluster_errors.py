"""Standard errors of differences of clustered values, like repeated queries (SPEC 6)."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from goodgain.transforms.core.comparison.samples import Array, check_values

Codes = npt.NDArray[np.int64]


class ClusteredError(Struct, frozen=True):
    """The standard error of a mean or of a difference of means.

    Attributes:
      effective: number of clusters of the same size that would weigh as much; of two samples, that
        of the sample with fewer.
      stderr: in the unit of the metric; None if there are too few clusters.
      degrees_of_freedom: of Student's distribution; None if stderr is None.
    """

    clusters: int
    effective: float
    stderr: float | None
    degrees_of_freedom: float | None


def error_of_mean(values: Array, codes: Codes) -> ClusteredError:
    """The error of the mean of values, or of differences of pairs.

    Args:
      values: at least one.
    """
    shares = _shares(check_values(values, "the sample"), codes, np.unique(codes))
    return _error(shares, _effective_clusters(codes), len(shares) - 1)


def error_of_difference(
    base: Array, base_codes: Codes, candidate: Array, candidate_codes: Codes
) -> ClusteredError:
    """The error of the difference of the means of two samples.

    If clusters have values in both samples, their common part cancels out, and the smaller number
    of clusters of an arm bounds the degrees of freedom. If none has, these are Welch's.

    Args:
      base_codes, candidate_codes: cluster numbers; the same number in both is the same cluster.
    """
    of_base, of_candidate = np.unique(base_codes), np.unique(candidate_codes)
    both = np.union1d(of_base, of_candidate)
    if both.size == of_base.size + of_candidate.size:
        return _welch(
            error_of_mean(base, base_codes), error_of_mean(candidate, candidate_codes), both.size
        )
    shares = _shares(candidate, candidate_codes, both) - _shares(base, base_codes, both)
    effective = min(_effective_clusters(base_codes), _effective_clusters(candidate_codes))
    return _error(shares, effective, min(of_base.size, of_candidate.size) - 1)


def _effective_clusters(codes: Codes) -> float:
    """(sum n)^2 / sum n^2 over clusters with n values each."""
    sizes = np.unique(codes, return_counts=True)[1]
    return codes.size**2 / int((sizes**2).sum())


def _shares(values: Array, codes: Codes, clusters: Codes) -> Array:
    """The effect of each cluster on the mean: (S - n * mean) / all values."""
    # Sorted, so that no bit depends on the order of the values.
    order = np.lexsort((values, codes))
    values, codes = values[order], codes[order]
    deviations = values - np.sort(values).sum() / values.size
    moved = np.bincount(
        np.searchsorted(clusters, codes), weights=deviations, minlength=clusters.size
    )
    shares: Array = moved / values.size
    return shares


def _error(shares: Array, effective: float, degrees_of_freedom: int) -> ClusteredError:
    count = int(shares.size)
    if degrees_of_freedom < 1:
        return ClusteredError(count, effective, None, None)
    scale = float(np.abs(shares).max()) or 1.0  # squares of tiny shares would underflow
    stderr = scale * sqrt(float(np.sort((shares / scale) ** 2).sum()) * count / (count - 1))
    return ClusteredError(count, effective, stderr, degrees_of_freedom)


def _welch(base: ClusteredError, candidate: ClusteredError, clusters: int) -> ClusteredError:
    effective = min(base.effective, candidate.effective)
    if base.stderr is None or candidate.stderr is None:
        return ClusteredError(clusters, effective, None, None)
    stderr = hypot(base.stderr, candidate.stderr)
    if stderr == 0:
        return ClusteredError(clusters, effective, 0.0, 1.0)
    below = sum(
        (arm.stderr or 0.0) ** 4 / (arm.degrees_of_freedom or 1.0) for arm in (base, candidate)
    )
    return ClusteredError(clusters, effective, stderr, stderr**4 / below if below else 1.0)
