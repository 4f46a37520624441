"""The option `baseline` of the configuration."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

from msgspec import Struct

_PREVIOUS = "previous_good"
_MEAN = re.compile(r"mean of last ([1-9][0-9]{0,2})")


class BaselineChoice(Struct, frozen=True):
    """The baseline that days are compared with.

    Attributes:
      days: number of good days before the compared day; the baseline is all of their conversations,
        each with the same weight.
      pinned: a fixed day that is the baseline instead.
    """

    days: int = 1
    pinned: date | None = None

    @classmethod
    def parse(cls, value: Any) -> BaselineChoice:
        """Read `previous_good`, `mean of last 7` or a day.

        Raises:
          ValueError: it is none of these.
        """
        if isinstance(value, cls):
            return value
        if isinstance(value, date):  # YAML parses dates
            return cls(pinned=date(value.year, value.month, value.day))
        text = str(value).strip()
        if text == _PREVIOUS:
            return cls()
        if match := _MEAN.fullmatch(text):
            return cls(days=int(match[1]))
        try:
            return cls(pinned=date.fromisoformat(text))
        except ValueError:
            raise ValueError(
                f"must be {_PREVIOUS}, `mean of last N` or a day like 2025-03-01, not {text!r}"
            ) from None

    def __str__(self) -> str:
        if self.pinned is not None:
            return self.pinned.isoformat()
        return _PREVIOUS if self.days == 1 else f"mean of last {self.days}"
