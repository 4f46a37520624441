"""The options of `goodgain report`."""

from __future__ import annotations

from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings


class ReportConfig(Settings):
    """Where the outputs are."""

    folder: Text = argument("DIR", "output folder of a run, of a comparison or of the nightly job")
