"""The options of `goodgain validate`."""

from __future__ import annotations

from goodgain.pipeline.settings.catalogue import HeldBytes
from goodgain.pipeline.settings.option_fields import argument
from goodgain.pipeline.settings.option_types import Patterns
from goodgain.pipeline.settings.reading_config import ReadingConfig, RejectionConfig
from goodgain.pipeline.settings.run_config import ExplainConfig
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.scoring.options import ScoringOptions


@options_of(ScoringOptions, "labels")
class ValidateConfig(ReadingConfig, RejectionConfig):
    """What `goodgain validate` reads, and what it warns of."""

    input: Patterns = argument(
        "PATTERN",
        "traces to read: files, folders or patterns (* and ** are wildcards), in Avro, JSON Lines, "
        "CSV or Parquet",
    )
    max_held_bytes: HeldBytes

    @property
    def evaluated(self) -> ExplainConfig:
        """The settings of the evaluation that validation observes."""
        return ExplainConfig.of_traces(self.input, self)
