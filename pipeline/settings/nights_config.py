"""The options of `goodgain nightly`, besides its configuration."""

from __future__ import annotations

from goodgain.pipeline.settings.option_fields import option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.option import COMMON


class NightsConfig(Settings):
    """Which days to run.

    Attributes:
      backfill: the first and the last day.
    """

    config: Text = option(COMMON, "FILE", "configuration, in YAML")
    date: Text | None = option(
        COMMON, "DAY", "the day to run, like 2025-03-04 (default: yesterday, UTC)", None
    )
    backfill: tuple[Text, Text] | None = option(
        COMMON, "FROM TO", "run every day from FROM to TO that has no output yet", None
    )
    rerun_late: bool = option(
        COMMON, "", "also rerun days whose input has changed since their run", False
    )
    runner: Text | None = option(
        COMMON, "RUNNER", "engine to use instead of the one in the configuration", None
    )
