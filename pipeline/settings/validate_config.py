"""The options of `goodgain validate`."""

from __future__ import annotations

from goodgain.pipeline.settings.catalogue import HeldBytes, Threshold, Traces
from goodgain.pipeline.settings.reading_config import ReadingConfig, RejectionConfig


class ValidateConfig(ReadingConfig, RejectionConfig):
    """What `goodgain validate` reads, and what it warns of."""

    input: Traces
    good_gain_threshold: Threshold
    max_held_bytes: HeldBytes
