"""What became of the records that were read, before any is scored (SPEC 3)."""

from __future__ import annotations

from goodgain.transforms.core.records.rejected import RejectedRecord


class ReadCounts:
    """Counts usable calls, and records that cannot be used.

    Attributes:
      rows: number of rejected rows, of which each may stand for several records.
    """

    def __init__(self) -> None:
        self.rows = 0
        self._calls = 0
        self._rejected = 0
        self._unknown_losses = 0

    def add_calls(self, calls: int) -> None:
        """Count usable calls."""
        self._calls += calls

    def add_rejected(self, row: RejectedRecord) -> None:
        """Count the records of a rejected row."""
        self.rows += 1
        self._rejected += row.records
        self._unknown_losses += row.at_least

    def by_name(self) -> dict[str, int]:
        """The counts as a manifest names them."""
        return {
            "records.read": self._calls + self._rejected,
            "records.rejected": self._rejected,
            "records.unknown_losses": self._unknown_losses,
        }
