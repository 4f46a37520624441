"""The options of `goodgain init`."""

from __future__ import annotations

from goodgain.pipeline.settings.option_types import COMMON, Text, option
from goodgain.pipeline.settings.reading_config import Settings


class InitConfig(Settings):
    """Where the files go."""

    output: Text = option(COMMON, "DIR", "folder for the files (default: the current one)", ".")
