"""The options of `goodgain sample`."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.option_fields import CONTENT, option
from goodgain.pipeline.settings.option_types import Instant, Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.number import Number, RealNumber
from goodgain.transforms.core.option import COMMON, TIME
from goodgain.transforms.core.remedy import Remedy

_START = "2025-03-03T06:00:00Z"
_LATEST_END = int(datetime(9000, 1, 1, tzinfo=UTC).timestamp()) * 1_000
_MILLIS_PER_HOUR = 3_600_000


def _spacing(per_hour: float) -> int:
    return max(1, int(_MILLIS_PER_HOUR / per_hour))


def _share(of: str, default: float) -> float:
    share: float = option(CONTENT, "SHARE", f"share of {of}, 0 to 1", default, ge=0, le=1)
    return share


class SampleConfig(Settings):
    """The size and composition of a sample; the same options always give the same records.

    Conversation k depends on seed, k and the options except `conversations`, so that a smaller
    sample is a prefix of a larger one.

    Attributes:
      iterations: over all turns of a conversation; a single one has from 1 to 2 * `iterations` - 1.
      results: two searches in one iteration share this number, and a few calls return nothing.
      bad_share: of records, SPEC 3, `rejected`.
      start: in milliseconds since 1970 UTC.
    """

    seed: Number = option(COMMON, "N", "random seed; the same seed gives the same traces", 1)
    conversations: Number = option(COMMON, "N", "number of conversations", 4_500, ge=1)
    iterations: Number = option(COMMON, "N", "mean number of iterations of a conversation", 4, ge=1)
    results: Number = option(COMMON, "N", "number of results of a search call", 20, ge=1)
    fixed_iterations: bool = option(
        CONTENT,
        "",
        "give every conversation exactly " + Remedy("iterations") + " iterations",
        False,
    )
    turns_share: RealNumber = _share("conversations with several turns", 0.2)
    unlabelled_share: RealNumber = _share("documents without a label", 0.04)
    bad_share: RealNumber = _share("records that cannot be used", 0.002)
    conversations_per_hour: RealNumber = option(
        TIME, "N", "mean number of conversations per hour", 60.0, ge=0.001, le=1e9
    )
    start: Instant = option(TIME, "TIME", "when the first conversation begins, ISO 8601", _START)

    @field_validator("start")
    @classmethod
    def _ends_before_the_year_9000(cls, start: int, info: ValidationInfo) -> int:
        given = info.data
        if {"conversations", "conversations_per_hour"} <= given.keys():
            spacing = _spacing(given["conversations_per_hour"])
            if start + given["conversations"] * spacing > _LATEST_END:
                raise ValueError("is so late that the sample would end after the year 9000")
        return start

    @property
    def spacing_millis(self) -> int:
        """Mean milliseconds between the beginnings of consecutive conversations."""
        return _spacing(self.conversations_per_hour)


class SampleFileConfig(SampleConfig):
    """A sample, and the file to write it to."""

    output: Text = option(
        COMMON, "FILE", "file to write; .avro, .jsonl (also .jsonl.gz, .bz2, .zst) or .parquet"
    )
