"""The options of means: slices, clusters, bounds, repeats."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.catalogue import as_value_errors
from goodgain.pipeline.settings.scoring_config import ScoringConfig, check_document_label
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.means.options import MeansOptions, check_slices
from goodgain.transforms.core.metrics.budgets import parse_budgets
from goodgain.transforms.core.metrics.repeats import parse_condition
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.options import ScoringOptions, repeat_numbers


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

    @field_validator("slice")
    @classmethod
    def _slices_are_distinct(cls, slices: tuple[tuple[str, ...], ...]) -> tuple[Any, ...]:
        check_slices(slices)
        return slices

    @field_validator("budget")
    @classmethod
    def _budgets_are_amounts(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        with as_value_errors():
            parse_budgets(texts)
        return texts

    @field_validator("bounds", check_fields=False)
    @classmethod
    def _bounds_exist(cls, bounds: bool, info: ValidationInfo) -> bool:
        check_document_label(bounds, info, "a missing label could move gain between iterations")
        return bounds

    @field_validator("pass_")
    @classmethod
    def _conditions_are_parsed(
        cls, texts: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        with as_value_errors():
            conditions = tuple(dict.fromkeys(map(str, map(parse_condition, texts))))
        if conditions and info.data.get("cluster") is None:
            raise ValueError("needs " + Remedy("cluster") + ", the attribute that repeats share")
        return conditions

    @field_validator("pass_k")
    @classmethod
    def _repeats_are_counted(cls, ks: tuple[int, ...], info: ValidationInfo) -> tuple[int, ...]:
        if ks and not info.data.get("pass_"):
            raise ValueError(
                "needs " + Remedy("pass") + ", the conditions that repeats are to meet"
            )
        return repeat_numbers(ks)
