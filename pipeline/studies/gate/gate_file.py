"""A whole gate file: its rules, what it forbids, and how it is read."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from goodgain.pipeline.studies.gate.rule_values import StrictModel
from goodgain.pipeline.studies.gate.rules import DEFAULT_LEAST_N, Rule
from goodgain.transforms.core.config_text import config_text, describe_mistake, describe_unknown
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.interval import Interval
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.warnings.codes import CODES as WARNING_CODES
from goodgain.transforms.core.yaml_text import parse_yaml


def _parse_forbidden(written: Any) -> Any:
    """`none` forbids every warning; otherwise the codes that are forbidden, or one of them."""
    if written == "none":
        return WARNING_CODES
    codes = [written] if isinstance(written, str) else written
    for code in codes if isinstance(codes, list) else ():
        if code not in WARNING_CODES:
            near = get_close_matches(str(code), WARNING_CODES, n=1, cutoff=0)
            raise ValueError(
                f"must be none, or codes that the run must not have; {code!r} is not a code: did "
                f"you mean {near[0]}?"
            )
    return codes


Forbidden = Annotated[
    tuple[str, ...],
    BeforeValidator(_parse_forbidden),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["none", *WARNING_CODES]},
                {"type": "array", "items": {"enum": list(WARNING_CODES)}},
            ]
        }
    ),
]


class GateFile(StrictModel):
    """A whole gate file."""

    least_n: Annotated[Number, Field(ge=1)] = Field(
        DEFAULT_LEAST_N,
        description="a rule on a metric fails with fewer conversations (or pairs) than this",
    )
    without_baseline: Literal["fail", "skip"] = Field(
        "fail", description="what rules on change do when there is no baseline"
    )
    interval: Interval | None = Field(
        None, description="intervals of changes: hall corrects t for skewness, student does not"
    )
    cluster: str | None = Field(
        None,
        description="attribute shared by conversations that are not independent; the run's by "
        "default",
    )
    warnings: Forbidden = Field(
        (), description="warnings that the run must not have: their codes, or none for all"
    )
    rules: list[Rule] = Field(
        [], description="rules: lines like `SRE >= 0.2` and `CG drop <= 2 %`, or options"
    )

    @model_validator(mode="after")
    def _check_not_empty(self) -> GateFile:
        if not self.rules and not self.warnings:
            raise ValueError("must have `rules` with at least one entry, or `warnings: none`")
        return self


def load_gate(path: str) -> GateFile:
    """Read a gate file.

    Raises:
      UsageError: it cannot be read, or contains mistakes; the message lists every one.
    """
    return parse_yaml(config_text(path, "the rules"), path).read(GateFile, "The gate", _mistake)


def gate_of(rules: Sequence[Any]) -> GateFile:
    """A gate with some rules, each as it would stand in a file.

    Raises:
      UsageError: a rule contains mistakes; the message lists every one.
    """
    try:
        return GateFile.model_validate({"rules": list(rules)})
    except ValidationError as error:
        mistakes = "\n  ".join(map(_mistake, error.errors()))
        raise UsageError(f"The gate cannot be used:\n  {mistakes}") from None


def _mistake(error: Any) -> str:
    location = error["loc"]
    rule = f"rule {int(location[1]) + 1}: " if len(location) > 1 and location[0] == "rules" else ""
    field = str(location[-1]) if location and isinstance(location[-1], str) else ""
    if error["type"] == "extra_forbidden":
        return rule + describe_unknown(field, Rule.model_fields if rule else GateFile.model_fields)
    return f"{rule}{field + ' ' if field else ''}{describe_mistake(error)}"
