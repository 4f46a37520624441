"""The options of `goodgain sample`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime

from goodgain.transforms.core.errors import UsageError

_LATEST_END = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class SampleOptions:
    """The size and composition of a sample; the same options always give the same records.

    Attributes:
      seed: random seed. Conversation k depends on seed, k and the options except `conversations`,
        so a smaller sample is a prefix of a larger one.
      iterations: mean number of iterations of a conversation, over all of its turns; a single
        conversation has from 1 to 2 * `iterations` - 1.
      fixed_iterations: give every conversation exactly `iterations` iterations.
      results: results per search call; two searches in one iteration share this number, and a few
        calls return nothing.
      turns_share: share of conversations with several turns.
      duplicate_share: share of results that repeat an earlier one of their turn.
      unlabelled_share: share of documents without a label.
      bad_share: share of records that cannot be used (SPEC 3, `rejected`).
      start: when the first conversation begins; without an offset, UTC.
      conversations_per_hour: mean number of conversations that begin per hour.

    Raises:
      UsageError: an option is out of its range.
    """

    seed: int = 1
    conversations: int = 4_500
    iterations: int = 4
    fixed_iterations: bool = False
    results: int = 20
    turns_share: float = 0.2
    duplicate_share: float = 0.3
    unlabelled_share: float = 0.04
    bad_share: float = 0.002
    start: datetime = datetime(2025, 3, 3, 6, 0, tzinfo=UTC)
    conversations_per_hour: float = 60.0

    def __post_init__(self) -> None:
        """Check the ranges."""
        for name in ("conversations", "iterations", "results"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} must be at least 1, not {getattr(self, name)}.")
        for field in fields(self):
            share = getattr(self, field.name)
            if field.name.endswith("_share") and not 0 <= share <= 1:
                option = field.name.replace("_", "-")
                raise UsageError(f"--{option} must be between 0 and 1, not {share}.")
        if not 0.001 <= self.conversations_per_hour <= 1e9:
            raise UsageError(
                "--conversations-per-hour must be between 0.001 and 1000000000, "
                f"not {self.conversations_per_hour}."
            )
        if self.first_millis + self.conversations * self.spacing_millis > _millis(_LATEST_END):
            raise UsageError("--start is so late that the sample would end after the year 9000.")

    @property
    def first_millis(self) -> int:
        """When the first conversation begins, in milliseconds since 1970 UTC."""
        return _millis(self.start)

    @property
    def spacing_millis(self) -> int:
        """Mean milliseconds between the beginnings of consecutive conversations."""
        return max(1, int(3_600_000 / self.conversations_per_hour))


def _millis(moment: datetime) -> int:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    elapsed = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return elapsed.days * 86_400_000 + elapsed.seconds * 1_000
