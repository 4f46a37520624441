"""How conversations are scored, as options: what runs, streams and explanations have in common."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec.structs import replace
from pydantic import ValidationInfo, field_validator

from goodgain.pipeline.settings.option_fields import OptionError, option
from goodgain.pipeline.settings.option_types import Text
from goodgain.pipeline.settings.reading_config import DuplicateConfig
from goodgain.pipeline.settings.struct_options import options_of
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.metric import Metric
from goodgain.transforms.core.metrics.group import fits_column
from goodgain.transforms.core.metrics.outcomes import TurnOutcome, choose_outcomes
from goodgain.transforms.core.metrics.own import load_own_metrics
from goodgain.transforms.core.metrics.own_names import split_names
from goodgain.transforms.core.option import LABELS
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.label_rises import DocumentLabel
from goodgain.transforms.core.scoring.options import ScoringOptions, find_scale_mistake
from goodgain.transforms.core.warnings.field_names import SeenNames


@options_of(ScoringOptions, "labels")
@options_of(ScoringOptions)
class ScoringConfig(DuplicateConfig):
    """How records are read, and how a conversation is scored; each field is an option."""

    good_gain_threshold: int
    cost: tuple[str, ...] | None
    outcome: tuple[str, ...] | None
    outcomes: Text | None = option(
        LABELS,
        "FILE",
        "outcomes of conversations that override those of the traces, a row for each: CSV, JSON "
        "Lines, Avro or Parquet with conversation_id and a column for each outcome",
        None,
        for_workers=True,
    )
    usage: bool | None
    metrics: tuple[str, ...]
    duplicates: Literal["compact", "hold_slot"]
    g_max: int
    relevance_threshold: int | None
    document_label: DocumentLabel
    pool: Text | None = option(
        LABELS,
        "POOL",
        "pool whose labels override those of the traces and whose documents recall is measured by",
        None,
        for_workers=True,
    )
    run_name: Text | None = option(
        LABELS, "NAME", "name under which these traces were pooled", None
    )

    @field_validator("usage")
    @classmethod
    def _usage_is_of_documents(cls, usage: bool | None, info: ValidationInfo) -> bool | None:
        if usage and info.data.get("unit") == "passage":
            raise ValueError("is about documents, so " + Remedy("unit") + " cannot be passage")
        return usage

    @field_validator("pool")
    @classmethod
    def _pool_has_one_label(cls, pool: str | None, info: ValidationInfo) -> str | None:
        check_document_label(pool, info, "a document of a pool has one label")
        return pool

    @field_validator("run_name")
    @classmethod
    def _run_name_is_of_a_pool(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and info.data.get("pool") is None:
            raise ValueError("names a run of a pool, so " + Remedy("pool") + " is needed, too")
        return name

    @field_validator("relevance_threshold")
    @classmethod
    def _scale_has_relevant_gains(cls, threshold: int | None, info: ValidationInfo) -> int | None:
        """Refuse a threshold outside the scale, or a scale below the threshold that is implied."""
        if {"good_gain_threshold", "g_max"} <= info.data.keys():
            good, g_max = info.data["good_gain_threshold"], info.data["g_max"]
            mistake = find_scale_mistake(good, threshold, g_max)
            if mistake is not None:
                raise OptionError(*mistake)
        return threshold

    def costs(self, seen: Collection[str]) -> tuple[str, ...]:
        """The names of the costs to use: those of `cost`, or else those of the first records."""
        if self.cost is not None:
            return self.cost
        return tuple(sorted(name for name in seen if fits_column(name)))

    def wanted_outcomes(self, seen: Collection[str]) -> tuple[TurnOutcome, ...]:
        """The outcomes to use: those of `outcome`, or else those of the first records."""
        return choose_outcomes(self.outcome, seen)

    @property
    def outcome_names(self) -> tuple[str, ...] | None:
        """The names of the outcomes that `outcome` names; None = every name."""
        if self.outcome is None:
            return None
        return tuple(outcome.name for outcome in self.wanted_outcomes(()))

    def uses(self, seen: SeenNames) -> bool:
        """Whether to match what was opened and cited: as `usage` or else the first records say."""
        return seen.usage and self.unit == "document" if self.usage is None else self.usage

    def names_to_check(self, seen: SeenNames) -> SeenNames:
        """The names in the first records, without those of costs and outcomes that are chosen."""
        costs = seen.costs if self.cost is None else frozenset()
        outcomes = seen.outcomes if self.outcome is None else frozenset()
        return replace(seen, costs=costs, outcomes=outcomes)

    @property
    def label_keys(self) -> LabelKeys | None:
        """How results are matched to external labels; None if the traces' own labels count."""
        return None

    @property
    def own(self) -> tuple[Metric, ...]:
        """The metrics of the user that `metrics` names, in their order.

        Raises:
          UsageError: one of them cannot be loaded.
        """
        return load_own_metrics(split_names(self.metrics)[1])


def check_document_label(given: object, info: ValidationInfo, reason: str) -> None:
    """Refuse an option that is given beside `document_label: best`, for a reason."""
    if given and info.data.get("document_label") == "best":
        remedy = Remedy("document_label", "best")
        raise ValueError("cannot be given beside the best label so far (" + remedy + f"): {reason}")
