"""Exact power sums of values, from which mean, variance and skewness follow (SPEC 6)."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from operator import lshift, mul

import numpy as np
from msgspec import Struct

_MANTISSA_BITS = 53


class PowerSums(Struct, frozen=True, array_like=True):
    """Exact sums, based on every double being a whole number divided by a power of two.

    They depend only on the values, not on order or grouping. `PowerSums()` is for no values.

    Attributes:
      scale: the denominators of the sums are 2^scale, 2^(2 scale) and 2^(3 scale); the smallest
        that fits all values.
      first, second, third: numerators of the sums of x, x^2 and x^3; bytes, since they outgrow the
        integers of MessagePack.
    """

    scale: int = 0
    first: bytes = b""
    second: bytes = b""
    third: bytes = b""

    @classmethod
    def of(cls, counts: Mapping[float, int]) -> PowerSums:
        """The sums over values, each of which occurs as often as its count."""
        if not counts:
            return cls()
        mantissas, exponents = np.frexp(np.fromiter(counts, np.float64, len(counts)))
        whole_numbers = (mantissas * 2.0**_MANTISSA_BITS).astype(np.int64)
        # Each value is an odd number times 2^exponent; for 0, any exponent is right.
        trailing_zeros = np.frexp((whole_numbers & -whole_numbers).astype(np.float64))[1] - 1
        trailing_zeros[whole_numbers == 0] = 0
        exponents = np.where(whole_numbers == 0, 0, exponents - _MANTISSA_BITS + trailing_zeros)
        scale = max(0, -int(exponents.min()))
        odd, shifts = (whole_numbers >> trailing_zeros).tolist(), (exponents + scale).tolist()
        values = list(map(lshift, odd, shifts))
        weighted = list(map(mul, values, counts.values()))
        squares = list(map(mul, weighted, values))
        cubes = map(mul, squares, values)
        return cls(scale, _bytes(sum(weighted)), _bytes(sum(squares)), _bytes(sum(cubes)))

    def merge(self, other: PowerSums) -> PowerSums:
        """The sums over the values of this and the other."""
        scale = max(self.scale, other.scale)
        sums = zip(self.numerators(scale), other.numerators(scale), strict=True)
        return PowerSums(scale, *(_bytes(mine + theirs) for mine, theirs in sums))

    def numerators(self, scale: int) -> list[int]:
        """The numerators of the three sums for a scale that is at least their own."""
        shift = scale - self.scale
        return [
            int.from_bytes(numerator, "little", signed=True) << (power * shift)
            for power, numerator in enumerate((self.first, self.second, self.third), start=1)
        ]

    def mean(self, n: int) -> float:
        """The mean of the n >= 1 values."""
        return self.numerators(self.scale)[0] / (n << self.scale)

    def variance(self, n: int) -> float:
        """The sample variance (n - 1) of the n >= 2 values."""
        first, second, _ = self.numerators(self.scale)
        return (n * second - first * first) / ((n * (n - 1)) << (2 * self.scale))

    def skewness(self, n: int) -> float:
        """The third central moment over the cube of the standard deviation; 0 without variance."""
        first, second, third = self.numerators(self.scale)
        squares = n * second - first * first
        if not squares:
            return 0.0
        cubes = n * n * third - 3 * n * first * second + 2 * first**3
        # Dividing whole numbers rounds only once; each of them may be too large for a double.
        magnitude = sqrt(cubes * cubes / squares**3)
        return magnitude if cubes > 0 else -magnitude


def _bytes(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True) if number else b""
