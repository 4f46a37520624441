"""The expressions of a mapping, and those over one result."""

from __future__ import annotations

from collections.abc import Mapping as MappingType
from functools import cached_property
from typing import Annotated, Any

from jmespath.exceptions import JMESPathError
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, WithJsonSchema
from pydantic_core import PydanticKnownError

from goodgain.pipeline.convert.importing.expressions import Expression, compile_expression
from goodgain.pipeline.convert.importing.values.scalars import integer, number, text, texts
from goodgain.transforms.core.config_text import describe_mistake
from goodgain.transforms.core.records.label_map import LabelMap

_IDENTIFYING = ("ids", "url", "title", "snippet", "content", "id")


def _compile(written: Any, info: ValidationInfo) -> Expression:
    """Compile an expression; the context is the functions that it may call."""
    if not isinstance(written, str):
        raise PydanticKnownError("string_type")
    try:
        functions: Any = info.context
        return compile_expression(written, functions)
    except JMESPathError as error:
        problem = str(error).splitlines()[0].removeprefix("Invalid jmespath expression: ")
        raise ValueError(
            f"{written!r} is not a JMESPath expression: {problem.rstrip(':.')}"
        ) from None


Written = Annotated[Expression, BeforeValidator(_compile), WithJsonSchema({"type": "string"})]
WrittenByName = dict[str, Written]


def optional(description: str) -> Any:
    """An optional field that holds a JMESPath expression."""
    return Field(None, description=f"expression: {description}")


class MappingPart(BaseModel):
    """A part of a mapping, in which unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultPart(MappingPart):
    """Expressions over one result."""

    entity_type: Written | None = optional("type, whose rules for duplicates apply")
    id: Written | None = optional("generic id of the document")
    ids: WrittenByName = Field(default={}, description="expressions for named ids, by name")
    url: Written | None = optional("URL")
    title: Written | None = optional("title")
    snippet: Written | None = optional("passage that the search tool showed")
    content: Written | None = optional("text of the document, or a longer part of it")
    fields: WrittenByName = Field(default={}, description="expressions for further fields, by name")
    gain: Written | None = optional("relevance label, 0 to 4")
    score: Written | None = optional("the retriever's score")
    reference_id: Written | None = optional("citation marker, like turn1search3")

    def read(self, item: Any, label_map: LabelMap | None) -> dict[str, Any]:
        """A result (SPEC 2) with the fields that are present.

        Args:
          label_map: reads labels on another scale.
        """
        result: dict[str, Any] = {}
        for name, expression in self._single.items():
            value = expression(item)
            if name == "score":
                result[name] = number(value)
            elif name == "gain" and label_map is not None:
                result[name] = label_map.gain_or_refusal(value)
            elif name == "gain":
                result[name] = integer(value)
                if result[name] is None and text(value) is not None:
                    result[name] = text(value)  # refused later, with a reason
            else:
                result[name] = text(value)
        for name, expressions in (("ids", self.ids), ("fields", self.fields)):
            values = {key: texts(expression(item)) for key, expression in expressions.items()}
            result[name] = {key: value for key, value in values.items() if value} or None
        return {name: value for name, value in result.items() if value is not None}

    @cached_property
    def _single(self) -> dict[str, Expression]:
        """The expressions, without those of named ids and fields."""
        several = ("ids", "fields")
        return {name: expression for name, expression in self if expression and name not in several}


def has_identity(result: MappingType[str, Any]) -> bool:
    """Whether a result has anything by which a copy could be recognized."""
    return any(name in result for name in _IDENTIFYING)


def mistake_in_words(error: Any) -> str:
    """A mistake in a mapping, as pydantic found it, with the key at which it is."""
    key = ".".join(map(str, error["loc"])) or "the mapping"
    if error["type"] == "extra_forbidden":
        return f"{key} is not a key of a mapping"
    if error["type"] == "value_error":
        return (
            f"{error['loc'][-1]}: {describe_mistake(error)}"
            if error["loc"]
            else describe_mistake(error)
        )
    return f"{key} {describe_mistake(error)}"


def as_list(value: Any) -> list[Any]:
    """A list as it is, no value as an empty one, and a value as a list of it."""
    return value if isinstance(value, list) else ([] if value is None else [value])
