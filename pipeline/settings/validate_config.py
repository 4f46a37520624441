"""The options of `goodgain validate`."""

from __future__ import annotations

from goodgain.pipeline.settings.catalogue import HeldBytes, RejectedLimit, Threshold, Traces
from goodgain.pipeline.settings.option_types import MaxRejected
from goodgain.pipeline.settings.reading_config import ReadingConfig


class ValidateConfig(ReadingConfig):
    """What `goodgain validate` reads, and what it warns of."""

    input: Traces
    good_gain_threshold: Threshold
    max_rejected: RejectedLimit
    max_held_bytes: HeldBytes

    @property
    def rejected_limit(self) -> MaxRejected:
        """`max_rejected`, with whether it was given."""
        return self.max_rejected.given("max_rejected" in self.model_fields_set)
