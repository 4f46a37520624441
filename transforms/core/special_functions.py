"""Student's t and normal distribution and the gamma function, as scipy.special computes them.

scipy.special takes a tenth of a second to import, so that only these functions do it: what merely
reads means, or describes traces, needs none of them.
"""

from __future__ import annotations


def student_cdf(degrees_of_freedom: float, t: float) -> float:
    """The probability that Student's t is at most `t`."""
    from scipy.special import stdtr

    return float(stdtr(degrees_of_freedom, t))


def student_quantile(degrees_of_freedom: float, probability: float) -> float:
    """The value that Student's t stays below with a probability."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, probability))


def normal_quantile(probability: float) -> float:
    """The value that a standard normal variable stays below with a probability."""
    from scipy.special import ndtri

    return float(ndtri(probability))


def log_gamma(x: float) -> float:
    """The logarithm of the gamma function at x > 0."""
    from scipy.special import gammaln

    return float(gammaln(x))
