"""The area under the ROC curve, with an interval for independent or clustered values (SPEC 12).

AUC is the probability that a value of class 1 is greater than one of class 0, where ties count 1/2.
With the placement of a value, the share of the other class that it beats, AUC is the mean placement
of the values of either class, and its variance follows from theirs:

    DeLong, DeLong and Clarke-Pearson (1988): S10 / m + S01 / n
    Obuchowski (1997): the same over sums of clusters, + 2 S11 / (m n)

for m values of class 1 and n of class 0.

The intervals are on the scale of logit(AUC), whose standard error is that of AUC / (AUC (1 - AUC))
(Pepe 2003), and so end within 0 to 1. AUC plus and minus 1.96 standard errors is too narrow where
the classes or clusters are few: of 25 clusters of four with an AUC of 0.8 it covers 91 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, log, sqrt
from typing import Any

import numpy as np
from msgspec import Struct

from goodgain.transforms.core.special_functions import normal_quantile, student_quantile

_CONFIDENCE = 0.95
_Array = np.ndarray[Any, Any]

ONE_CLASS = "every conversation has the same outcome"
_FEW = "an interval needs two conversations of each outcome"
_FEW_CLUSTERS = "an interval needs two clusters with each outcome"
_PERFECT = "no pair is in another order than the rest, so there is no interval"


class Auc(Struct, frozen=True):
    """An area under the ROC curve.

    Attributes:
      value: None if all values are of one class.
      stderr: None if it cannot be estimated.
      low, high: the 95 % interval; None without one.
      clusters: number of clusters; None if values count as independent.
      note: why there is no interval; None with one.
    """

    value: float | None = None
    stderr: float | None = None
    low: float | None = None
    high: float | None = None
    clusters: int | None = None
    note: str | None = None


def delong(ones: Mapping[float, int], zeros: Mapping[float, int]) -> Auc:
    """AUC with DeLong's variance.

    Args:
      ones, zeros: how often each value occurs in class 1 and in class 0.

    Example:
      >>> delong({3.0: 1, 1.0: 1}, {2.0: 1, 1.0: 1}).value
      0.625
    """
    if not ones or not zeros:
        return Auc(note=ONE_CLASS)
    (above, ones_count), (below, zeros_count) = _placements(ones, zeros), _placements(zeros, ones)
    m, n = int(ones_count.sum()), int(zeros_count.sum())
    auc = float(above @ ones_count) / m
    if m < 2 or n < 2:
        return Auc(auc, note=_FEW)
    variance = float((above - auc) ** 2 @ ones_count) / (m - 1) / m
    variance += float((below - (1 - auc)) ** 2 @ zeros_count) / (n - 1) / n
    return _with_interval(auc, variance, None)


def obuchowski(
    values: Sequence[float] | _Array,
    classes: Sequence[int] | _Array,
    clusters: Sequence[int] | _Array,
) -> Auc:
    """AUC with Obuchowski's variance, for values that are independent only between clusters.

    Args:
      classes: for each value, 1 or 0.
      clusters: for each value, the number of its cluster, from 0 on without gaps.
    """
    value, is_one, cluster = np.asarray(values, float), np.asarray(classes), np.asarray(clusters)
    m, n = int(is_one.sum()), int(len(is_one) - is_one.sum())
    count = int(cluster.max()) + 1 if len(cluster) else 0
    if not m or not n:
        return Auc(clusters=count, note=ONE_CLASS)
    sorted_ones, sorted_zeros = np.sort(value[is_one == 1]), np.sort(value[is_one == 0])
    # Sorted within clusters, so that sums do not depend on the order of values.
    order = np.lexsort((value, is_one, cluster))
    value, is_one, cluster = value[order], is_one[order], cluster[order]
    placement = np.where(is_one == 1, _shares(value, sorted_zeros), 1 - _shares(value, sorted_ones))
    auc = float(_shares(sorted_ones, sorted_zeros).sum()) / m
    deviation = placement - auc
    of_ones, of_zeros = (
        np.bincount(cluster, np.where(is_one == side, deviation, 0.0), count) for side in (1, 0)
    )
    with_ones, with_zeros = (len(np.unique(cluster[is_one == side])) for side in (1, 0))
    if with_ones < 2 or with_zeros < 2:
        return Auc(auc, clusters=count, note=_FEW_CLUSTERS)
    s10 = with_ones / ((with_ones - 1) * m) * float(of_ones @ of_ones)
    s01 = with_zeros / ((with_zeros - 1) * n) * float(of_zeros @ of_zeros)
    s11 = count / (count - 1) * float(of_ones @ of_zeros)
    return _with_interval(auc, s10 / m + s01 / n + 2 * s11 / (m * n), count)


def _with_interval(auc: float, variance: float, clusters: int | None) -> Auc:
    stderr = sqrt(max(variance, 0.0))
    if stderr < 1e-9:  # rounding
        return Auc(auc, 0.0, clusters=clusters, note=_PERFECT)
    level = (1 + _CONFIDENCE) / 2
    quantile = normal_quantile(level) if clusters is None else student_quantile(clusters - 1, level)
    logit, reach = log(auc / (1 - auc)), quantile * stderr / (auc * (1 - auc))
    return Auc(auc, stderr, _expit(logit - reach), _expit(logit + reach), clusters)


def _expit(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > 0 else exp(logit) / (1 + exp(logit))


def _placements(of: Mapping[float, int], among: Mapping[float, int]) -> tuple[_Array, _Array]:
    """The placements of distinct values among others, ascending, and how often each occurs."""
    values, counts = _sort(of)
    others, other_counts = _sort(among)
    passed = np.concatenate(([0], other_counts.cumsum()))
    less = passed[np.searchsorted(others, values, side="left")]
    at_most = passed[np.searchsorted(others, values, side="right")]
    return (less + at_most) / (2 * passed[-1]), counts


def _sort(counts: Mapping[float, int]) -> tuple[_Array, _Array]:
    values = np.fromiter(counts, np.float64, len(counts))
    order = np.argsort(values)
    return values[order], np.fromiter(counts.values(), np.int64, len(counts))[order]


def _shares(values: _Array, others: _Array) -> _Array:
    """The placement of each value among sorted others."""
    less = np.searchsorted(others, values, side="left")
    at_most = np.searchsorted(others, values, side="right")
    return np.asarray((less + at_most) / (2 * len(others)))
