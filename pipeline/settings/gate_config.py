"""The options of `goodgain gate`."""

from __future__ import annotations

from goodgain.pipeline.settings.catalogue import OTHER_PARAMETERS
from goodgain.pipeline.settings.option_fields import argument, option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings
from goodgain.transforms.core.option import COMMON


class GateConfig(Settings):
    """The rules, the baseline, and the files for the result."""

    output: Text = argument("DIR", "output of `goodgain run`")
    config: Text = option(COMMON, "FILE", "the rules, in YAML")
    baseline: Text | None = option(COMMON, "DIR", "output of the run to compare with", None)
    force: bool = option(
        COMMON,
        "",
        f"compare with the baseline even if {OTHER_PARAMETERS}",
        False,
    )
    junit: Text | None = option(COMMON, "FILE", "also write JUnit XML", None)
    markdown: Text | None = option(COMMON, "FILE", "also write a summary in Markdown", None)
