"""How traces are read, as options: what commands that read traces have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from goodgain.pipeline.settings.catalogue import RejectedLimit, Rules
from goodgain.pipeline.settings.struct_options import options_of, values_for
from goodgain.transforms.core.dedup.rules import DuplicateOptions, Unit
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.label_map import LabelMap, parse_label_map
from goodgain.transforms.core.records.max_rejected import MaxRejected


class Settings(BaseModel):
    """The options of a command, one per field; see `option_fields.option`."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        arbitrary_types_allowed=True,
        validate_default=True,
        defer_build=True,  # help needs the fields, and no validators
    )


class RejectionConfig(Settings):
    """How many records may be rejected."""

    max_rejected: RejectedLimit

    @property
    def rejected_limit(self) -> MaxRejected:
        """`max_rejected`, with whether it was given."""
        return self.max_rejected.with_given("max_rejected" in self.model_fields_set)


@options_of(Adaptation, "labels")
class LabelScaleConfig(Settings):
    """What labels on another scale are."""

    label_map: tuple[str, ...]

    @property
    def label_scale(self) -> LabelMap | None:
        """The gains of labels on another scale; None = labels are gains."""
        return parse_label_map(self.label_map)


@options_of(ReadBounds)
@options_of(Adaptation)
class ReadingConfig(LabelScaleConfig):
    """How records are read, and the rules for their ids."""

    mapping: tuple[str, ...]
    iteration_base: int
    rules: Rules

    @property
    def adaptation(self) -> Adaptation | None:
        """The conversions that the options describe; None if records need none."""
        adaptation = Adaptation(**values_for(Adaptation, self))
        return None if adaptation.changes_nothing else adaptation

    @property
    def read_bounds(self) -> ReadBounds:
        """Limits on what reading may decode to, and on rejected rows."""
        return ReadBounds(**values_for(ReadBounds, self))


@options_of(DuplicateOptions)
class DuplicateConfig(ReadingConfig):
    """How records are read, and what is a duplicate in them."""

    unit: Unit
