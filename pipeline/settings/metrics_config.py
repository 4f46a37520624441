"""The options of `goodgain metrics`."""

from __future__ import annotations

from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import Settings


class MetricsConfig(Settings):
    """Which metrics are listed."""

    words: tuple[Text, ...] = argument("WORD", "only metrics whose name contains one of these", ())
