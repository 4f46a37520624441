"""Outcomes of the records of a stream, summed over the rows in its files (SPEC 3)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import astuple

from goodgain.pipeline.outputs import datasets
from goodgain.pipeline.outputs.formats import Row

OUTCOMES = ("scored", "earlier_turn", "redelivered", "rejected", "late")


class StreamTotals(Struct, frozen=True):
    """Records by outcome, and conversations.

    Attributes:
      in_means: conversations that searched and had no rejected records.
    """

    scored: int = 0
    earlier_turn: int = 0
    redelivered: int = 0
    rejected: int = 0
    late: int = 0
    conversations: int = 0
    in_means: int = 0

    def plus(self, other: StreamTotals) -> StreamTotals:
        """The sums."""
        return StreamTotals(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def records(self) -> int:
        """All records accounted for."""
        return sum(getattr(self, name) for name in OUTCOMES)


def totals_of(dataset: str, rows: Sequence[Row]) -> StreamTotals:
    """The totals of the rows of one dataset; zero if its records are counted elsewhere."""
    if dataset == datasets.LATE.name:
        return StreamTotals(late=len(rows))
    if dataset == datasets.REJECTED.name:
        return StreamTotals(rejected=sum(row["records"] for row in rows))
    if dataset != "conversations":
        return StreamTotals()
    return StreamTotals(
        scored=sum(row["calls"] for row in rows),
        earlier_turn=sum(row["earlier_turn"] for row in rows),
        redelivered=sum(row["redelivered"] for row in rows),
        conversations=len(rows),
        in_means=sum(row["N"] > 0 and not row["rejected_records"] for row in rows),
    )
