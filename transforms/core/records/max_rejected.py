"""The limit on rejected records, as a count or a share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

_LIMIT = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,6})?)(?P<percent>\s*%)?")
_WHOLE_SHARE = 100


@dataclass(frozen=True)
class MaxRejected:
    """A limit: a count of records, or a share of all that were read.

    Attributes:
      limit: records, or percent.
      is_share: whether `limit` is in percent.
      is_given: whether it was asked for; otherwise it allows a loss of unknown size.
    """

    limit: Decimal
    is_share: bool
    is_given: bool = True

    @classmethod
    def parse(cls, value: Any) -> MaxRejected:
        """Read a limit: `5` is a count, `2%` or `0.5%` a share.

        Raises:
          ValueError: it is neither.
        """
        if isinstance(value, cls):
            return value
        written = str(value)
        match = _LIMIT.fullmatch(written.strip())
        if match is not None:
            limit, is_share = Decimal(match["number"]), match["percent"] is not None
            if limit <= _WHOLE_SHARE if is_share else "." not in match["number"]:
                return cls(limit, is_share)
        raise ValueError(f"must be a count like 5 or a share like 2%, not {written!r}")

    def with_given(self, is_given: bool) -> MaxRejected:
        """The same limit, asked for or not."""
        return MaxRejected(self.limit, self.is_share, is_given)

    def is_exceeded(self, rejected: int, read: int, unknown_losses: int = 0) -> bool:
        """Whether `rejected` of `read` records exceed the limit; exactly the limit does not.

        Args:
          unknown_losses: how often an unknown number of records was lost, which may exceed any
            limit but 100%.
        """
        allows_all = self.is_share and self.limit == _WHOLE_SHARE
        if unknown_losses and self.is_given and not allows_all:
            return True
        if self.is_share:
            return rejected * _WHOLE_SHARE > self.limit * read
        return rejected > self.limit

    def __str__(self) -> str:
        return f"{self.limit}%" if self.is_share else f"{self.limit}"
