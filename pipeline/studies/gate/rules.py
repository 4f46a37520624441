"""The content of a gate file: its rules, and the checks that each must pass."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from goodgain.pipeline.studies.gate.rule_sentence import parse_sentence
from goodgain.pipeline.studies.gate.rule_values import (
    Amount,
    Bound,
    Confidence,
    Count,
    Proof,
    Share,
    Side,
    Slice,
    StrictModel,
)
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.metric import OUTCOME_UNIT, ZERO_TO_ONE
from goodgain.transforms.core.metrics.budgets import budget_of
from goodgain.transforms.core.metrics.by_name import DECLARED_NAMES, is_by_i, metric_by_name
from goodgain.transforms.core.metrics.repeats import space_condition
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.ranking.names import respell

DEFAULT_LEAST_N = 30  # with fewer conversations, intervals are too wide to be useful
_CLOSE = 0.8  # at this similarity, a metric is more likely misspelt than unknown


class Rule(StrictModel):
    """One rule, as options or as a sentence; exactly one of `metric`, `share` and `count`."""

    name: str | None = Field(None, description="name of the rule in the result")
    metric: Annotated[str, AfterValidator(respell), AfterValidator(space_condition)] | None = Field(
        None, description="metric that is bounded: at N, or with `i` by iteration"
    )
    share: Share | None = Field(
        None,
        description="share that is bounded, of the run's records, results or conversations; "
        "`undefined`: of the conversations for which `metric` is undefined",
    )
    count: Count | None = Field(
        None,
        description="number that is bounded: of conversations in the means, records or results",
    )
    i: Annotated[Number, Field(ge=1)] | None = Field(None, description="iteration of the metric")
    population: Literal["reached", "all", "everyone"] | None = Field(
        None, description="conversations that the mean is over"
    )
    slice: Slice = Field(
        {},
        description="attributes: each of their values is checked separately; or attributes with "
        "the one value to check",
    )
    at_least: Bound | None = Field(None, description="least value, like 0.2 or 20 %")
    at_most: Bound | None = Field(None, description="greatest value, like 0.2 or 20 %")
    drop_at_most: Bound | None = Field(
        None, description="greatest drop from the baseline, like 0.2 or 2 %"
    )
    rise_at_most: Bound | None = Field(
        None, description="greatest rise from the baseline, like 0.2 or 2 %"
    )
    proof: Proof | None = Field(
        None,
        description="none: the mean itself must keep within the bound (default of bounds on the "
        "value); of_compliance: passes only if the one-sided interval lies within it; of_breach: "
        "fails only if the interval lies beyond it (default of bounds on the change)",
    )
    confidence: Confidence | None = Field(
        None, description="confidence of the one-sided interval, like 95 %"
    )
    least_n: Annotated[Number, Field(ge=1)] | None = Field(
        None, description="with fewer conversations (or pairs) the rule fails"
    )
    pair_by: str | None = Field(
        None,
        description="attribute by which conversations of baseline and run are paired; their ids "
        "by default",
    )

    @model_validator(mode="before")
    @classmethod
    def _sentence(cls, written: Any) -> Any:
        """A rule may be a sentence: `SRE >= 0.2`, `rejected <= 1 %`, `CG drop <= 2 %`."""
        return parse_sentence(written)

    @model_validator(mode="after")
    def _prove_changes(self) -> Rule:
        """A change has to be proven, since the means of two nights differ by chance."""
        if self.is_change and self.proof is None:
            object.__setattr__(self, "proof", "of_breach")
        return self

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(schema))]}

    @property
    def is_change(self) -> bool:
        """Whether the rule is about the change against a baseline."""
        return self.drop_at_most is not None or self.rise_at_most is not None

    @property
    def limits(self) -> list[tuple[Side, Amount]]:
        """The bounds on the value or on its change, of which a drop is the lower one."""
        bounds: list[tuple[Side, Amount | None]] = [
            ("at least", self.drop_at_most if self.is_change else self.at_least),
            ("at most", self.rise_at_most if self.is_change else self.at_most),
        ]
        return [(side, bound) for side, bound in bounds if bound is not None]

    @model_validator(mode="after")
    def _check_combinations(self) -> Rule:
        mistakes = list(self._mistakes())
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self

    def _mistakes(self) -> Iterator[str]:
        subjects = [self.metric, self.share, self.count]
        if self.share == "undefined":
            if self.metric is None:
                yield "share: undefined needs metric, whose undefined values it counts"
            subjects = [self.share, self.count]
        if sum(subject is not None for subject in subjects) != 1:
            yield "a rule needs exactly one of metric, share and count"
        bounds = [self.at_least, self.at_most, self.drop_at_most, self.rise_at_most]
        if not any(bound is not None for bound in bounds):
            yield "a rule needs a bound: at_least, at_most, drop_at_most or rise_at_most"
        if any(bound is not None for bound in bounds[:2]) and self.is_change:
            yield "a bound on the value and one on its change must be two rules"
        if self.metric is not None:
            mistakes = list(self._metric_mistakes(self.metric))
            yield from mistakes or self._population_mistakes(self.metric)
        else:
            yield from self._below_zero(self.share or self.count or "")
        if self.share is not None:
            yield from self._beyond_one(self.share)
        if self.share or self.count:
            if self.is_change or self.proof is not None:
                yield "shares and counts take at_least and at_most, without proof"
            if self.slice and self.share != "undefined":
                yield "shares and counts are over the whole run: leave out slice"
        if self.pair_by is not None and not self.is_change:
            yield "pair_by needs a bound on change"
        if self.confidence is not None and self.proof in (None, "none"):
            yield "confidence needs proof: of_compliance or of_breach"

    def _metric_mistakes(self, metric: str) -> Iterator[str]:
        try:
            declared = metric_by_name(metric)
        except UsageError as error:
            near = get_close_matches(metric, sorted(DECLARED_NAMES), n=1, cutoff=_CLOSE)
            meant = f"there is no metric {metric!r} (did you mean {near[0]!r}?)" if near else ""
            yield meant or str(error).split(";")[0]
            return
        by_i = is_by_i(metric) and (declared.by_i or self.i is not None)
        if by_i and (self.i is None or self.population is None):
            yield (
                f"{metric} is a metric of iterations: give i, and population: reached, all or "
                "everyone"
            )
        of_reached = self.population == "reached" and budget_of(metric) is None
        if not by_i and (self.i is not None or of_reached):
            yield (
                f"{metric} is a metric at N: it takes no i, and population all or everyone"
                + (f"; by i use {declared.so_far.name}" if declared.so_far else "")
            )
        if self._has_percentage and declared.unit not in (*ZERO_TO_ONE, OUTCOME_UNIT):
            yield f"{metric} is not a share, so its bound must be a number, not a percentage"
        if declared.unit in ZERO_TO_ONE and self.share is None:
            yield from self._beyond_one(metric)
        if self.is_change or not declared.signed:
            yield from self._below_zero(metric)
        if self.is_change and declared.mean_only:
            yield f"{metric} has no value per conversation: bound the value, not its change"

    def _beyond_one(self, subject: str) -> Iterator[str]:
        """Bounds that no value from 0 to 1, or no change of one, can break or keep."""
        for _, bound in self.limits:
            if bound.value <= 1 or (bound.percent and self.is_change):
                continue
            meant = f"; {bound.value:g} % is written {bound.value:g} % or {bound.value / 100:g}"
            what = "a change of it is at most 1" if self.is_change else "its values are at most 1"
            yield f"{subject} is a share: {what}{'' if bound.percent else meant}"

    def _below_zero(self, subject: str) -> Iterator[str]:
        """Bounds that each value, or none, is within, and changes of less than nothing."""
        if any(bound.value < 0 for _, bound in self.limits):
            what = "a drop or rise of it" if self.is_change else subject
            yield f"{what} is never below 0, so its bound must not be"

    def _population_mistakes(self, metric: str) -> Iterator[str]:
        if self.population != "everyone" or self.share is not None:
            return
        declared = metric_by_name(metric)
        if not declared.in_everyone:
            lower = declared.direction == "lower"
            is_lower = "is better when lower and " if lower else ""
            yield (
                f"{metric} {is_lower}has no value without a search: a bound on it cannot use "
                "population everyone"
            )

    @property
    def _has_percentage(self) -> bool:
        """Whether a bound on the metric itself is written in percent."""
        bounds = (self.at_least, self.at_most)
        return self.share is None and any(bound and bound.percent for bound in bounds)
