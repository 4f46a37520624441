"""Reads a rules file; reports every mistake with its line, and contradictions too (SPEC 4.3)."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from goodgain.transforms.core.dedup.contradictions import find_contradictions
from goodgain.transforms.core.errors import RulesError
from goodgain.transforms.core.number import Number
from goodgain.transforms.core.wording import format_count
from goodgain.transforms.core.yaml_text import Location, parse_yaml

SHIPPED_RULES = "dedup.yaml"
Names = list[Annotated[str, Field(min_length=1)]]
Policy = Literal["full", "ids", "none"]


class _RulesPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Requirement(_RulesPart):
    """One part of a clause: at least this many of the named fields must be equal.

    Written as `NAME`, as `{any: [...]}` (at least one) or as `{at_least: N, of: [...]}`.
    """

    at_least: Annotated[Number, Field(ge=1)] = Field(description="how many must be equal")
    of: Annotated[Names, Field(min_length=1)] = Field(
        description="fields, and `ids.NAME` for a named id in common"
    )

    @model_validator(mode="before")
    @classmethod
    def _expand_short_form(cls, part: Any) -> Any:
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
        one = {**names, "description": f"at least one of these is equal: {names['description']}"}
        any_of = {"properties": {"any": one}, "required": ["any"], "additionalProperties": False}
        return {"anyOf": [{"type": "string"}, {"type": "object", **any_of}, written]}

    @model_validator(mode="after")
    def _enough_names(self) -> Requirement:
        if self.at_least > len(self.of):
            named = format_count(len(self.of), "is named", "are named")
            raise ValueError(f"at_least is {self.at_least}, but only {named}")
        return self


Clause = Annotated[list[Requirement], Field(min_length=1)]


class Points(_RulesPart):
    """Confidence points for equal fields, in place of clauses."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, Annotated[Number, Field(ge=0)]]
    other: Annotated[Number, Field(alias="any other field", ge=0)] = Field(
        description="points for each equal field that is not listed"
    )
    needed: Annotated[Number, Field(ge=1)] = Field(description="points that make a duplicate")
    needed_with_context: Annotated[Number, Field(alias="needed with id context", ge=1)] = Field(
        description="points that make a duplicate when an id or a URL without its query is equal"
    )


class TypeEntry(_RulesPart):
    """One entry under `types`."""

    definitive: Names = Field(
        [],
        description="named ids that identify the document: one in common makes a duplicate, none "
        "in common makes two documents",
    )
    container: Names = Field(
        [],
        description="named ids of the site, list or calendar that contains the document: none in "
        "common makes two documents",
    )
    reject_on: Names | Literal["all"] = Field(
        [], description="fields whose difference makes two documents, or `all`"
    )
    duplicate_if: list[Clause] = Field(
        [], description="clauses, one of which must hold; a clause holds when all its parts do"
    )
    points: Points | None = Field(
        None, description="points per equal field, instead of duplicate_if"
    )


class HostParameters(_RulesPart):
    """Query parameters that do not identify the document on some hosts."""

    hosts: Annotated[Names, Field(min_length=1)] = Field(
        description="domains; their subdomains belong to them"
    )
    parameters: Names = Field(description="as in ignored_parameters")


class Alias(_RulesPart):
    """What replaces the part of a URL that a pattern matches.

    Written as `TEXT` or as `{to: TEXT, casefold: true}`.
    """

    to: str = Field(
        description="the replacement, with groups of the pattern as \\1; nothing if such URLs "
        "name no document"
    )
    casefold: bool = Field(False, description="whether the case of such URLs does not matter")

    @model_validator(mode="before")
    @classmethod
    def _expand_short_form(cls, alias: Any) -> Any:
        return {"to": alias} if isinstance(alias, str) else alias

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"anyOf": [{"type": "string"}, handler.resolve_ref_schema(handler(schema))]}


class UrlEntry(_RulesPart):
    """The entry `url`."""

    ignored_parameters: Names = Field(
        default=[],
        description="query parameters that do not identify the document; * at the end matches any "
        "suffix",
    )
    ignored_parameters_by_host: list[HostParameters] = Field(
        default=[], description="further ones on some hosts only, since elsewhere they name pages"
    )
    identity_parameters: Names = Field(
        default=[],
        description="query parameters that name the document: different values make two documents",
    )


class RulesFile(_RulesPart):
    """A whole rules file (SPEC 4.3)."""

    policy: Policy = Field(
        "full",
        description="steps that are applied: full, ids (only type, named ids and generic id) or "
        "none (nothing is a duplicate)",
    )
    aliases: dict[str, str] = Field({}, description="other names of the types; case is ignored")
    time_fields: Names = Field(
        [], description="fields that hold a time: compared as instants, whatever their UTC offset"
    )
    max_candidates: Annotated[Number, Field(ge=1)] = Field(
        256, description="most earlier results that a result is compared with for each shared key"
    )
    url: UrlEntry = Field(UrlEntry(), description="how URLs are compared")
    url_aliases: dict[str, Alias] = Field(
        {},
        description="by pattern, what replaces it in `host/path?query` of a URL; only the first "
        "pattern that matches applies",
    )
    strip: dict[str, str] = Field(
        {},
        description="by name of an id, the pattern of what is removed from its values, like the "
        "number of a passage behind the name of its document; `id` is the generic id",
    )
    passage_ids: Names = Field(
        ["chunk_id", "passage_id", "node_id", "segment_id"],
        description="named ids of passages: where the unit is a passage, none in common makes two",
    )
    types: dict[str, TypeEntry] = Field(
        description="rules by entity type; `default` is for results of any other type, or of none"
    )


def read_shipped_rules() -> str:
    """The text of the rules that ship with Good Gain, `configs/dedup.yaml`."""
    return (resources.files("goodgain.configs") / SHIPPED_RULES).read_text(encoding="utf-8")


@cache
def load_shipped_rules() -> RulesFile:
    """The rules that ship with Good Gain, parsed once per process."""
    return read_rules(read_shipped_rules())


def read_rules(text: str, name: str = SHIPPED_RULES) -> RulesFile:
    """Check the text of a rules file, which messages call `name`.

    Raises:
      RulesError: it is not YAML, or not rules; the message lists every mistake with its line.
    """
    return parse_yaml(text, name, RulesError).read(
        RulesFile,
        "The rules",
        lambda mistake: _at(mistake["loc"], _reason(mistake)),
        contradictions=lambda content: (
            (location, _at(location, reason)) for location, reason in find_contradictions(content)
        ),
    )


def _at(location: Location, reason: str) -> str:
    path = _path(location)
    return f"{path}: {reason}" if path else reason


def _path(location: Location) -> str:
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
