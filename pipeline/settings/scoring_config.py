"""How conversations are scored, as options: what a run and a stream have in common."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from goodgain.pipeline.settings.option_types import (
    DATA,
    MEANS,
    RANKING,
    SCORING,
    BudgetTexts,
    Mapping,
    Names,
    Number,
    Slices,
    Text,
    option,
)
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.ranking import (
    DEFAULT_RANKING_METRICS,
    RankingMetric,
    parse_ranking_metrics,
)
from goodgain.transforms.core.records.adaptation import Adaptation, parse_adaptation
from goodgain.transforms.core.records.search_call import GREATEST_GAIN
from goodgain.transforms.core.scoring.costs import Budget, is_cost_name, parse_budget
from goodgain.transforms.core.warnings.field_names import SeenNames

_GREATEST_G_MAX = 20


@contextmanager
def _as_value_errors() -> Iterator[None]:
    """Turn a parser's error into an error about an option's value."""
    try:
        yield
    except UsageError as error:
        raise ValueError(f"cannot be used: {str(error).removesuffix('.')}") from None


class ScoringConfig(BaseModel):
    """How records are read, and what is computed from conversations; each field is an option."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, arbitrary_types_allowed=True, validate_default=True
    )

    mapping: Mapping = option(
        DATA,
        "FIELD=NAME",
        "read fields that have other names, like gain=relevance,ids.doc_id=document_id",
        (),
        flag="map",
    )
    iteration_base: Literal[0, 1] = option(
        DATA, "0|1", "number of the first iteration of a turn in the traces", 1
    )
    max_decoded_bytes: Number = option(
        DATA,
        "N",
        "reject a line, Avro block or Parquet page that decompresses to more bytes than this",
        DEFAULT_BOUNDS.decoded_bytes,
        ge=1,
    )
    max_record_results: Number = option(
        DATA,
        "N",
        "reject a record with more results than this",
        DEFAULT_BOUNDS.record_results,
        ge=1,
    )
    rules: Text | None = option(
        SCORING, "FILE", "rules that decide what is a duplicate, instead of the built-in ones", None
    )
    good_gain_threshold: Number = option(
        SCORING, "GAIN", "smallest gain of a good result", 2, ge=1, le=GREATEST_GAIN
    )
    write_duplicates: bool = option(
        SCORING,
        "",
        "also write one row for each duplicate: which result it repeats, and why",
        False,
    )
    slice: Slices = option(
        MEANS,
        "NAMES",
        "attributes to slice the means by, like market, or arm,market for both at once",
        (),
    )
    max_i: Number = option(MEANS, "I", "last iteration i at which means are computed", 10, ge=1)
    interval: Interval = option(
        MEANS, "HOW", "95 % intervals: hall corrects t for skewness, student does not", "hall"
    )
    cluster: Text | None = option(
        MEANS,
        "ATTRIBUTE",
        "attribute shared by conversations that are not independent, like the id of a "
        "query that is run several times; intervals allow for it",
        None,
    )
    cost: Names | None = option(
        MEANS,
        "NAME",
        "costs to use, like tokens,usd, or none; by default those of the first records, in a "
        "stream none",
        None,
    )
    budget: BudgetTexts = option(
        MEANS, "NAME=B", "also compute gains within a budget, like tokens=1000,5000", ()
    )
    metrics: Names = option(
        RANKING,
        "NAME",
        "ranking metrics to compute, like ndcg@10; see `goodgain metrics`",
        tuple(metric.name for metric in DEFAULT_RANKING_METRICS),
    )
    duplicates: Literal["compact", "hold_slot"] = option(
        RANKING,
        "HOW",
        "compact removes later copies from the ranked list, hold_slot counts them as non-relevant",
        "compact",
    )
    g_max: Number = option(
        RANKING,
        "GAIN",
        "highest gain of the labelling scale, for err and nerr",
        GREATEST_GAIN,
        ge=1,
        le=_GREATEST_G_MAX,
    )
    relevance_threshold: Number | None = option(
        RANKING, "GAIN", "smallest gain of a relevant result; good_gain_threshold by default", None
    )
    pool: Text | None = option(
        RANKING,
        "POOL",
        "pool whose labels override those of the traces and whose documents recall is measured by",
        None,
    )
    run_name: Text | None = option(
        RANKING, "NAME", "name under which these traces were pooled", None
    )
    per_call: bool = option(
        RANKING, "", "also evaluate the ranked list of every single search call", False
    )
    bounds: bool = option(
        RANKING, "", "also compute the worst and best value that missing labels allow", False
    )

    @field_validator("iteration_base", mode="before")
    @classmethod
    def _number_of_text(cls, base: Any) -> Any:
        return int(base) if base in ("0", "1") else base

    @field_validator("mapping")
    @classmethod
    def _fields_exist(cls, renames: tuple[str, ...]) -> tuple[str, ...]:
        with _as_value_errors():
            parse_adaptation(renames)
        return renames

    @field_validator("slice")
    @classmethod
    def _slices_are_distinct(cls, slices: tuple[tuple[str, ...], ...]) -> tuple[Any, ...]:
        seen: set[frozenset[str]] = set()
        for names in slices:
            if len(set(names)) < len(names):
                raise ValueError(f"names an attribute twice in {','.join(names)}")
            if frozenset(names) in seen:
                raise ValueError(f"holds {','.join(names)} twice")
            seen.add(frozenset(names))
        return slices

    @field_validator("metrics")
    @classmethod
    def _metrics_exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        with _as_value_errors():
            return tuple(metric.name for metric in parse_ranking_metrics(names))

    @field_validator("cost")
    @classmethod
    def _costs_can_be_columns(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if names is None or names == ("none",):
            return None if names is None else ()
        for name in names:
            if not is_cost_name(name):
                raise ValueError(f"must be names of letters, digits and _, not {name!r}")
        return tuple(dict.fromkeys(names))

    @field_validator("budget")
    @classmethod
    def _budgets_are_amounts(cls, texts: tuple[str, ...]) -> tuple[str, ...]:
        with _as_value_errors():
            for text in texts:
                parse_budget(text)
        return texts

    @field_validator("relevance_threshold")
    @classmethod
    def _threshold_fits_scale(cls, threshold: int | None, info: ValidationInfo) -> int | None:
        effective = info.data.get("good_gain_threshold") if threshold is None else threshold
        g_max = info.data.get("g_max")
        if effective is not None and g_max is not None and not 1 <= effective <= g_max:
            raise ValueError(f"must be from 1 to g_max = {g_max}, not {effective}")
        return threshold

    @field_validator("run_name")
    @classmethod
    def _run_name_is_of_a_pool(cls, name: str | None, info: ValidationInfo) -> str | None:
        if name is not None and info.data.get("pool") is None:
            raise ValueError("names a run of a pool, so pool is needed, too")
        return name

    @property
    def adaptation(self) -> Adaptation | None:
        """The conversions that `mapping` and `iteration_base` describe; None if neither is used."""
        return parse_adaptation(self.mapping, self.iteration_base)

    def costs(self, seen: Collection[str]) -> tuple[str, ...]:
        """The names of the costs to use: those of `cost`, or else those of the first records."""
        chosen = self.cost
        if chosen is None:
            chosen = tuple(sorted(name for name in seen if is_cost_name(name)))
        return tuple(dict.fromkeys((*chosen, *(budget.cost for budget in self.budgets))))

    def names_to_check(self, seen: SeenNames) -> SeenNames:
        """The names in the first records, without names of costs if `cost` is given."""
        return seen if self.cost is None else replace(seen, costs=frozenset())

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """The budgets that `budget` names, in their order."""
        budgets = [budget for text in self.budget for budget in parse_budget(text)]
        return tuple(dict.fromkeys(budgets))

    @property
    def label_keys(self) -> LabelKeys | None:
        """How results are matched to external labels; None if the traces' own labels count."""
        return None

    @property
    def read_bounds(self) -> ReadBounds:
        """Limits on what reading one record or block may decode to."""
        return ReadBounds(self.max_decoded_bytes, self.max_record_results)

    @property
    def ranking_metrics(self) -> tuple[RankingMetric, ...]:
        """The metrics that `metrics` names, in their order."""
        return parse_ranking_metrics(self.metrics)

    @property
    def relevant_from(self) -> int:
        """The smallest gain of a relevant result (SPEC 8, `relevance_threshold`)."""
        if self.relevance_threshold is None:
            return self.good_gain_threshold
        return self.relevance_threshold
