"""Wilson's (1927) score interval of a share, which is valid near 0 and 1 and for few values."""

from __future__ import annotations

from math import sqrt

from scipy.special import ndtri


def wilson_lower(share: float, n: int, confidence: float) -> float:
    """The end of the one-sided interval that bounds the true share from below.

    Args:
      share: share of n values that are 1 rather than 0; n >= 1.
    """
    if share == 0:
        return 0.0
    weight = float(ndtri(confidence)) ** 2 / n
    reach = sqrt(weight * (share * (1 - share) + weight / 4))
    sign = 1.0 if confidence >= 0.5 else -1.0
    return max((share + weight / 2 - sign * reach) / (1 + weight), 0.0)


def wilson_upper(share: float, n: int, confidence: float) -> float:
    """The end of the one-sided interval that bounds the true share from above."""
    return 1.0 - wilson_lower(1 - share, n, confidence)
