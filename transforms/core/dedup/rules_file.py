"""Reads a rules file, and reports every mistake with its line (SPEC 4.3)."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from goodgain.transforms.core.dedup.rules_contradictions import contradictions
from goodgain.transforms.core.errors import RulesError
from goodgain.transforms.core.yaml_text import line_of, parse_yaml, repeated_keys

SHIPPED_RULES = "dedup.yaml"
Names = list[Annotated[str, Field(min_length=1)]]
Policy = Literal["full", "ids", "none"]


class _RulesPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Requirement(_RulesPart):
    """One part of a clause: at least this many of the named fields must be equal.

    Written as `NAME`, as `{any: [...]}` (at least one) or as `{at_least: N, of: [...]}`.
    """

    at_least: Annotated[int, Field(ge=1)]
    of: Annotated[Names, Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _written_forms(cls, part: Any) -> Any:
        if isinstance(part, str):
            return {"at_least": 1, "of": [part]}
        if isinstance(part, dict) and set(part) == {"any"}:
            return {"at_least": 1, "of": part["any"]}
        if isinstance(part, dict) and set(part) == {"at_least", "of"}:
            return part
        raise ValueError(
            f"a part of a clause is NAME, {{any: [...]}} or {{at_least: N, of: [...]}}, not {part}"
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        written = handler.resolve_ref_schema(handler(schema))
        names = written["properties"]["of"]
        any_of = {"properties": {"any": names}, "required": ["any"], "additionalProperties": False}
        return {"anyOf": [{"type": "string"}, {"type": "object", **any_of}, written]}

    @model_validator(mode="after")
    def _enough_names(self) -> Requirement:
        if self.at_least > len(self.of):
            raise ValueError(f"at_least is {self.at_least}, but only {len(self.of)} are named")
        return self


Clause = Annotated[list[Requirement], Field(min_length=1)]


class Points(_RulesPart):
    """Confidence points for equal fields, in place of clauses."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[int, Field(ge=0)]]
    other: Annotated[int, Field(alias="any other field", ge=0)]
    needed: Annotated[int, Field(ge=1)]
    needed_with_context: Annotated[int, Field(alias="needed with id context", ge=1)]


class TypeEntry(_RulesPart):
    """One entry under `types`."""

    definitive: Names = []
    container: Names = []
    reject_on: Names | Literal["all"] = []
    duplicate_if: list[Clause] = []
    points: Points | None = None


class UrlEntry(_RulesPart):
    """The entry `url`."""

    ignored_parameters: Names = []
    identity_parameters: Names = []


class RulesFile(_RulesPart):
    """A whole rules file.

    Attributes:
      policy: which part of SPEC 4.3 is applied. `full`: all of it. `ids`: only the steps on type,
        named ids and the generic id. `none`: nothing is a duplicate.
    """

    policy: Policy = "full"
    aliases: dict[str, str] = {}
    time_fields: Names = []
    max_candidates: Annotated[int, Field(ge=1)] = 256
    url: UrlEntry = UrlEntry()
    types: dict[str, TypeEntry]


def shipped_rules_text() -> str:
    """The text of the rules that ship with Good Gain, `configs/dedup.yaml`."""
    return (resources.files("goodgain.configs") / SHIPPED_RULES).read_text(encoding="utf-8")


@cache
def shipped_rules() -> RulesFile:
    """The rules that ship with Good Gain, parsed once per process."""
    return read_rules(shipped_rules_text())


def read_rules(text: str, name: str = SHIPPED_RULES) -> RulesFile:
    """Check the text of a rules file, which messages call `name`.

    Raises:
      RulesError: it is not YAML, or not rules; the message lists every mistake with its line.
    """
    tree, content = parse_yaml(text, name, RulesError)
    mistakes = {(line, key, "appears here a second time") for line, key in repeated_keys(tree)}
    for location, reason in contradictions(content):
        mistakes.add((line_of(tree, location), _path(location), reason))
    try:
        rules = RulesFile.model_validate(content)
    except ValidationError as error:
        for mistake in error.errors():
            location = mistake["loc"]
            mistakes.add((line_of(tree, location), _path(location), _reason(mistake)))
    else:
        if not mistakes:
            return rules
    lines = [
        f"{name}:{line}: {path + ': ' if path else ''}{reason}"
        for line, path, reason in sorted(mistakes)
    ]
    raise RulesError("The rules cannot be used:\n  " + "\n  ".join(lines))


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(
        str(step) for step in location if not str(step).startswith(("list[", "literal["))
    )


def _reason(mistake: Any) -> str:
    message: str = mistake["msg"].removeprefix("Value error, ")
    if mistake["type"] == "extra_forbidden":
        return "not a known name"
    if mistake["type"] == "model_type":
        return "must be a mapping, `NAME: VALUE`"
    return message[:1].lower() + message[1:]
