"""Random choices that are the same on every machine and Python version."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")
_TOKEN_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


class Draw:
    """A seeded source of choices.

    It uses only `random()` and `getrandbits()`, which never change in Python, while `choice`,
    `sample` or `gauss` may; and no logarithms or powers, whose last bit depends on the C library.
    """

    def __init__(self, seed: str) -> None:
        """Seed the source."""
        generator = Random(seed)
        self.random = generator.random
        self._bits = generator.getrandbits

    def below(self, limit: int) -> int:
        """An integer from 0 to `limit` - 1."""
        return int(self.random() * limit)

    def between(self, least: int, greatest: int) -> int:
        """An integer from `least` to `greatest`, inclusive."""
        return least + int(self.random() * (greatest - least + 1))

    def chance(self, share: float) -> bool:
        """True with probability `share`."""
        return self.random() < share

    def pick(self, items: Sequence[Item]) -> Item:
        """One of the items, all equally likely."""
        return items[int(self.random() * len(items))]

    def pick_weighted(self, items: Sequence[tuple[float, Item]]) -> Item:
        """One of the items, with probabilities given by weights that sum to 1."""
        point = self.random()
        for weight, item in items:
            point -= weight
            if point < 0:
                return item
        return items[-1][1]

    def guid(self) -> str:
        """A GUID in lower case."""
        digits = f"{self._bits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def token(self, length: int) -> str:
        """An opaque identifier of letters, digits, `-` and `_`."""
        bits = self._bits(6 * length)
        return "".join([_TOKEN_CHARACTERS[bits >> shift & 63] for shift in range(0, 6 * length, 6)])

    def digits(self, length: int) -> str:
        """A decimal number of this many digits; the first is not 0."""
        least: int = 10 ** (length - 1)
        return str(self.between(least, 10 * least - 1))
