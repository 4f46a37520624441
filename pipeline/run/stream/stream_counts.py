"""The counts of a running stream, and whether they add up at its end (SPEC 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from goodgain.pipeline.results import datasets
from goodgain.pipeline.results.balance import OUTCOMES, check_records, records_in
from goodgain.pipeline.results.dataset_format import Row
from goodgain.pipeline.results.given_parts import check_outcome_rows
from goodgain.pipeline.results.manifest_counts import RowCounts
from goodgain.transforms.core.warnings.warning import DataWarning

_OUTCOMES = (*OUTCOMES, "open", "before_since")
_ADVICE = (
    "outputs may lack some or contain some twice; compare with `goodgain run` on the same files."
)


def totals_of(dataset: str, rows: Sequence[Row]) -> dict[str, int]:
    """The counts of the rows of one dataset, by dotted name; none if they are counted elsewhere."""
    if dataset == datasets.LATE.name:
        return {"records.late": len(rows)}
    if dataset == datasets.REJECTED.name:
        return {"records.rejected": sum(row["records"] for row in rows)}
    if dataset != "conversations":
        return {}
    return {
        "records.scored": sum(row["scored"] for row in rows),
        "records.earlier_turn": sum(row["earlier_turn"] for row in rows),
        "records.redelivered": sum(row["redelivered"] for row in rows),
        "conversations.total": len(rows),
        "conversations.in_means": sum(row["N"] > 0 and not row["rejected_records"] for row in rows),
    }


class StreamCounts(Struct, frozen=True):
    """The state of a running stream.

    Attributes:
      read: records read.
      still_open: number of these in conversations that were open when the stream was stopped.
      skipped: number of these whose rows belong to windows before `--since`.
      closed, open: number of closed conversations, and of open ones that have records.
      missed: number of conversations in no mean, since they closed after the last pane of their
        window.
      ahead: number of records too far ahead of the others to move the watermark.
      changed: how often a file was found to have changed after it was taken.
      watermark: of the source, in ms; None if there is none yet.
      means: running means over the closed conversations, by metric; None if no conversation has a
        value. Those of metrics that need labels only if some result has one.
      totals: counts of the rows in files, by dotted name.
      warnings: data warnings about the conversations of `means` (SPEC 10).
      outcomes: what became of the rows of files of outcomes; None without such files.
    """

    read: int = 0
    still_open: int = 0
    skipped: int = 0
    open: int = 0
    closed: int = 0
    late: int = 0
    rejected: int = 0
    missed: int = 0
    ahead: int = 0
    changed: int = 0
    watermark: int | None = None
    means: Mapping[str, float | None] = {}
    totals: Mapping[str, int] = {}
    warnings: Sequence[DataWarning] = ()
    outcomes: RowCounts | None = None

    @property
    def records(self) -> dict[str, int]:
        """The records that were read, and those in files, by outcome."""
        more = {"read": self.read, "open": self.still_open, "before_since": self.skipped}
        return records_in(
            {**self.totals, **{f"records.{name}": count for name, count in more.items()}}, _OUTCOMES
        )


def check_balance(counts: StreamCounts) -> None:
    """Compare the records that a stream has read with those in its files, when it has ended.

    Raises:
      BalanceError: records are missing in the files, or are in them twice; or rows of outcomes do
        not add up.
    """
    if counts.outcomes:
        check_outcome_rows(counts.outcomes)
    check_records(counts.records, _ADVICE)
