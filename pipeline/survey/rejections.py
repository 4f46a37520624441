"""Groups rejected rows by what is wrong with them, with examples."""

from __future__ import annotations

import re

from msgspec import Struct

from goodgain.transforms.core.records.rejected import RejectedRecord

_INDEX = re.compile(r"\[[0-9]+\]")
_SPECIFIC = re.compile(r",? got .*|:? \(?['\"].*| \(.*|(?<=JSON):.*", re.DOTALL)
_EXAMPLES = 3
_MOST_REASONS = 100
_OTHER_REASONS = "other reasons"


class Rejection(Struct):
    """One kind of mistake.

    Attributes:
      reason: the reason in general terms, without the bad values.
    """

    reason: str
    records: int
    examples: list[RejectedRecord]


class Rejections:
    """Collects rejected rows; memory does not grow with them."""

    def __init__(self) -> None:
        self._by_reason: dict[str, Rejection] = {}

    def add(self, row: RejectedRecord) -> None:
        """Count a row."""
        reason = general_reason(row.reason)
        if reason not in self._by_reason and len(self._by_reason) >= _MOST_REASONS:
            reason = _OTHER_REASONS
        rejection = self._by_reason.setdefault(reason, Rejection(reason, 0, []))
        rejection.records += row.records
        if len(rejection.examples) < _EXAMPLES:
            rejection.examples.append(row)

    @property
    def records(self) -> int:
        """All records that were rejected."""
        return sum(rejection.records for rejection in self._by_reason.values())

    def by_frequency(self) -> list[Rejection]:
        """The kinds, the most frequent first."""
        return sorted(
            self._by_reason.values(), key=lambda rejection: (-rejection.records, rejection.reason)
        )


def general_reason(reason: str) -> str:
    """The reason without the values that differ between records with the same mistake.

    `results[3].gain must be a whole number from 0 to 4, got 7.` -> `results[].gain must be a whole
    number from 0 to 4`.
    """
    return _SPECIFIC.sub("", _INDEX.sub("[]", reason)).rstrip(".")
