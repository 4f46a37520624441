"""Whether every byte and every record of the input is accounted for (SPEC 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goodgain.pipeline.results.given_parts import LOST
from goodgain.pipeline.results.manifest_counts import RecordCounts
from goodgain.transforms.core.errors import BalanceError
from goodgain.transforms.core.files.shard import InputFile
from goodgain.transforms.core.records.max_rejected import MaxRejected
from goodgain.transforms.core.wording import format_count

OUTCOMES = ("scored", "earlier_turn", "redelivered", "rejected", "late")
UNKNOWN_LOSSES = "unknown_losses"


def records_in(counts: Mapping[str, int], outcomes: Sequence[str] = OUTCOMES) -> dict[str, int]:
    """The records that were read and their outcomes, of which each record has exactly one (SPEC 3).

    Args:
      counts: by dotted name.
    """
    return {name: counts.get(f"records.{name}", 0) for name in ("read", *outcomes)}


def check_records(records: Mapping[str, int], advice: str = LOST) -> None:
    """Compare the records that were read with their outcomes, from `records_in`.

    Args:
      advice: what follows from records without an outcome or with two, and what to do.

    Raises:
      BalanceError: they do not add up.
    """
    outcomes = {name: number for name, number in records.items() if name != "read"}
    accounted = sum(outcomes.values())
    if records["read"] != accounted:
        listed = " + ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
        raise BalanceError(
            f"{format_count(records['read'], 'record was', 'records were')} read but "
            f"{format_count(accounted, 'is', 'are')} accounted for ({listed}); {advice}"
        )


def records_part(counts: Mapping[str, int], max_rejected: MaxRejected) -> RecordCounts:
    """What became of the records; raises as `check_records` does."""
    records = records_in(counts)
    check_records(records)
    unknown_losses = counts.get(f"records.{UNKNOWN_LOSSES}", 0)
    return RecordCounts(
        **records,
        conflicting_redeliveries=counts.get("conflicting_redeliveries", 0),
        unknown_losses=unknown_losses,
        balance_holds=True,
        too_many_rejected=max_rejected.is_exceeded(
            records["rejected"], records["read"], unknown_losses
        ),
    )


def describe_excess(unknown_losses: int, limit: str) -> str:
    """Why records exceed the limit on rejected ones, as a clause.

    Args:
      unknown_losses: number of places at which an unknown number of records is lost.
    """
    if unknown_losses:
        places = format_count(unknown_losses, "place")
        return f"an unknown number more is lost at {places}, which may exceed {limit}"
    return f"that is more than {limit}"


def check_all_read(counts: Mapping[str, int], inputs: Sequence[InputFile]) -> None:
    """Make sure that all input was read.

    The balance of records would not notice a part of a file that is lost together with its counts.

    Raises:
      BalanceError: something is missing or duplicated.
    """
    _check_equal(
        sum(file.size for file in inputs),
        counts.get("bytes.read", 0),
        "byte of input was read",
        "bytes of input were read",
    )


def check_complete(
    counts: Mapping[str, int], datasets: Mapping[str, int], inputs: Sequence[InputFile]
) -> None:
    """Make sure that all input was read and all rows were written.

    Raises:
      BalanceError: something is missing or duplicated.
    """
    check_all_read(counts, inputs)
    _check_equal(
        counts.get("conversations.total", 0),
        datasets.get("conversations", 0),
        "conversation was written",
        "conversations were written",
    )
    _check_equal(
        counts.get("rows.rejected", 0),
        datasets.get("rejected", 0),
        "rejected row was written",
        "rejected rows were written",
    )


def _check_equal(expected: int, actual: int, *what: str) -> None:
    if actual != expected:
        raise BalanceError(f"{actual:,} of {format_count(expected, *what)}; {LOST}")
