"""The options of means: slices, clusters, bounds, repeats."""

from __future__ import annotations

from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.scoring_config import ScoringConfig, check_document_label
from goodgain.pipeline.settings.struct_options import options_of, values_for
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.options import MeansOptions
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import ScoringOptions


@options_of(MeansOptions)
@options_of(ScoringOptions, "means")
class MeansConfig(ScoringConfig):
    """What is computed from all conversations, and which further rows are written."""

    write_duplicates: bool
    slice: tuple[tuple[str, ...], ...]
    max_i: int
    budget: tuple[str, ...]
    interval: Interval
    cluster: str | None
    pass_: tuple[str, ...]
    pass_k: tuple[int, ...]

    @property
    def means(self) -> MeansOptions:
        """What means are computed over, and their intervals."""
        return MeansOptions(**values_for(MeansOptions, self))

    @field_validator("bounds", check_fields=False)
    @classmethod
    def _bounds_exist(cls, bounds: bool, info: ValidationInfo) -> bool:
        check_document_label(bounds, info, "a missing label could move gain between iterations")
        return bounds

    @field_validator("pass_")
    @classmethod
    def _repeats_share_an_attribute(
        cls, conditions: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        if conditions and info.data.get("cluster") is None:
            raise ValueError("needs " + Remedy("cluster") + ", the attribute that repeats share")
        return conditions

    @field_validator("pass_k")
    @classmethod
    def _repeats_have_conditions(cls, ks: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        if ks and not info.data.get("pass_"):
            raise ValueError(
                "needs " + Remedy("pass") + ", the conditions that repeats are to meet"
            )
        return ks
