"""Intervals and tests of means and differences, for runs, comparisons and gates (SPEC 6).

`Studentized` is an estimate with its standard error: t interval, corrected for skewness, and test.
Shares of values that are 0 or 1 have Wilson's (1927) score interval, which is valid near 0 and 1
and for few values.

Student's t assumes that the estimate and its standard error are independent. In skewed samples they
are not: if a sample lacks the long tail, mean and standard error are both too small, and the
interval misses to one side. Hall (1992, "On the removal of skewness by transformation") transforms
t so that the leading term of this error vanishes. With T = (estimate - true value) / stderr and the
asymmetry a = skewness / sqrt(n),

    g(T) = T + a T^2 / 3 + a^2 T^3 / 27 + a / 6

is close to Student's t. g is increasing, so its inverse

    h(y) = 3 ((1 + a (y - a / 6))^(1/3) - 1) / a

with the real cube root gives the ends of the interval for every sample, and p values are those of
g(T), so that an interval excludes a value exactly when the test rejects it. At a = 0 this is
Student's t.

Means of metrics are skewed, and h is better for them at every n. Differences of two arms are often
only long-tailed, so the skewness of a sample is noise: h alone would call up to 12 % of equal arms
different at the 5 % level. So intervals of differences cover both h's and Student's, and the larger
p value counts. `docs/intervals.md` has the coverage of each.
"""

from __future__ import annotations

from math import cbrt, sqrt

from msgspec import Struct

from goodgain.transforms.core.special_functions import (
    normal_quantile,
    student_cdf,
    student_quantile,
)

_ROUNDING = (
    1e-12  # relative to the greatest value; smaller deviations are rounding errors of equal values
)


def has_spread(deviation: float, greatest: float) -> bool:
    """Whether values differ by more than rounding.

    Args:
      deviation: standard deviation of values, or standard error of a mean.
      greatest: the greatest magnitude of the values.
    """
    return deviation > _ROUNDING * greatest


class Studentized(Struct, frozen=True):
    """A mean or a difference with its uncertainty.

    Attributes:
      estimate, stderr: in the unit of the metric; stderr > 0.
      asymmetry: skewness / sqrt(n) of the estimate, as in the description of this module; 0 is
        Student's own t.
      covers_student: whether the interval must cover Student's, as for differences.
    """

    estimate: float
    stderr: float
    degrees_of_freedom: float
    asymmetry: float = 0.0
    covers_student: bool = False

    def lower(self, confidence: float) -> float:
        """The end of the one-sided interval that bounds the true value from below."""
        y = self._quantile(confidence)
        reach = self._transform_back(y)
        return self.estimate - self.stderr * (max(y, reach) if self.covers_student else reach)

    def upper(self, confidence: float) -> float:
        """The end of the one-sided interval that bounds the true value from above."""
        y = -self._quantile(confidence)
        reach = self._transform_back(y)
        return self.estimate - self.stderr * (min(y, reach) if self.covers_student else reach)

    def interval(self, confidence: float) -> tuple[float, float]:
        """The two-sided interval, with equal probability beyond either end."""
        one_sided = (1 + confidence) / 2
        return self.lower(one_sided), self.upper(one_sided)

    @property
    def t(self) -> float:
        """The estimate in standard errors."""
        return self.estimate / self.stderr

    @property
    def p_value(self) -> float:
        """The p value of the two-sided test that the true value is 0."""
        distance = abs(self._transform(self.t))
        if self.covers_student:
            distance = min(distance, abs(self.t))
        return 2 * student_cdf(self.degrees_of_freedom, -distance)

    def _quantile(self, confidence: float) -> float:
        return student_quantile(self.degrees_of_freedom, confidence)

    def _transform(self, t: float) -> float:
        """Hall's g, in a form that does not subtract infinities if t is huge."""
        if not self.asymmetry:
            return t
        bend = self.asymmetry * t / 3
        return t * (1 + bend * (1 + bend / 3)) + self.asymmetry / 6

    def _transform_back(self, y: float) -> float:
        """Hall's h, with (root^3 - 1) / (root - 1) instead of a division by a, which may be 0."""
        shifted = y - self.asymmetry / 6
        root = cbrt(1 + self.asymmetry * shifted)
        return 3 * shifted / (root * root + root + 1)


def wilson_lower(share: float, n: int, confidence: float) -> float:
    """The end of the one-sided interval that bounds the true share from below.

    Args:
      share: share of n values that are 1 rather than 0; n >= 1.
    """
    if share == 0:
        return 0.0
    weight = normal_quantile(confidence) ** 2 / n
    reach = sqrt(weight * (share * (1 - share) + weight / 4))
    sign = 1.0 if confidence >= 0.5 else -1.0
    return max((share + weight / 2 - sign * reach) / (1 + weight), 0.0)


def wilson_upper(share: float, n: int, confidence: float) -> float:
    """The end of the one-sided interval that bounds the true share from above."""
    return 1.0 - wilson_lower(1 - share, n, confidence)
