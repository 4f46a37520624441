"""What became of the records that were read, before any is scored (SPEC 3)."""

from __future__ import annotations

from goodgain.transforms.core.records.rejection import RejectedRecord


class ReadCounts:
    """Counts usable calls, and records that cannot be used.

    Attributes:
      calls, rejected: number of records.
      rows: number of rejected rows, of which each may stand for several records.
      unknown_losses: number of rows for an unknown number of records.
    """

    def __init__(self) -> None:
        self.calls = self.rejected = self.rows = self.unknown_losses = 0

    @property
    def read(self) -> int:
        """Number of records read, usable or not."""
        return self.calls + self.rejected

    def add_calls(self, calls: int) -> None:
        """Count usable calls."""
        self.calls += calls

    def add_rejected(self, row: RejectedRecord) -> None:
        """Count the records of a rejected row."""
        self.rows += 1
        self.rejected += row.records
        self.unknown_losses += row.at_least

    def by_name(self) -> dict[str, int]:
        """The counts as a manifest names them."""
        return {
            "records.read": self.read,
            "records.rejected": self.rejected,
            "records.unknown_losses": self.unknown_losses,
        }
