"""Mapping files: how the records of another tool become trace records (SPEC 2)."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any, Literal

from jmespath.exceptions import JMESPathError
from pydantic import BaseModel, ConfigDict, Field, model_validator

from goodgain.pipeline.convert.importing import mapping
from goodgain.pipeline.convert.importing.expressions import (
    Expression,
    TraceFunctions,
    TruncatedTexts,
    compile_expression,
)
from goodgain.pipeline.options.yaml_model import read_model, reason, unusable
from goodgain.transforms.core.yaml_text import Location, line_of, parse_yaml

_SPAN_KEYS = ("trace", "span", "parent", "start", "end", "search", "tool_call", "rerank", "model")
_COMMON_KEYS = ("conversation", "time", "query", "tool", "results", "rank")
_CALL_KEYS = ("turn", "iteration", "call", "record_id")
_KEYS = {
    "span": (*_SPAN_KEYS, "search_tools"),
    "call": _CALL_KEYS,
    "result": (*_CALL_KEYS, "rank"),
}
_REQUIRED = {
    "span": ("trace", "span", "start", "results"),
    "call": ("conversation", "results"),
    "result": ("conversation",),
}
Expressions = dict[str, str]


def _expression(description: str) -> Any:
    """An optional field that holds a JMESPath expression."""
    return Field(None, description=f"expression: {description}")


class _MappingPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultPart(_MappingPart):
    """Expressions over one result."""

    entity_type: str | None = _expression("type, whose rules for duplicates apply")
    id: str | None = _expression("generic id of the document")
    ids: Expressions = Field(default={}, description="expressions for named ids, by name")
    url: str | None = _expression("URL")
    title: str | None = _expression("title")
    snippet: str | None = _expression("passage that the search tool showed")
    content: str | None = _expression("text of the document, or a longer part of it")
    fields: Expressions = Field(default={}, description="expressions for further fields, by name")
    gain: str | None = _expression("relevance label, 0 to 4")
    score: str | None = _expression("the retriever's score")
    reference_id: str | None = _expression("citation marker, like turn1search3")


class MappingFile(_MappingPart):
    """A mapping as written; `docs/traces-from-other-tools.md` describes each key."""

    unit: Literal["span", "call", "result"] = Field(
        description="what an input record is: a span, a search call, or a result"
    )
    records: list[str] = Field(
        [], description="possible keys of the list of records, when a file is one JSON object"
    )
    each: list[Expressions] = Field(
        [], description="nested lists to iterate over, outermost first, each `name: expression`"
    )
    time_unit: Literal["ns", "us", "ms", "s"] = Field("ms", description="unit of numeric times")
    trace: str | None = _expression("id of a span's trace")
    span: str | None = _expression("id of a span")
    parent: str | None = _expression("id of the span above")
    start: str | None = _expression("start of a span")
    end: str | None = _expression("end of a span")
    search: str | None = _expression("whether a span is a search")
    tool_call: str | None = _expression("whether a span is a call of a tool")
    search_tools: list[str] = Field(
        [], description="tools that search; by default those that returned documents"
    )
    rerank: str | None = _expression("whether a span re-ranks the results of searches")
    model: str | None = _expression("whether a span is a step of the model")
    conversation: str | None = _expression("id of the conversation")
    turn: str | None = _expression("number of the turn in its conversation")
    iteration: str | None = _expression("number of the iteration in its turn")
    call: str | None = _expression("number of the search call in its iteration")
    record_id: str | None = _expression("id of the record")
    rank: str | None = _expression("position of the result in its list")
    time: str | None = _expression("time of the search")
    query: str | None = _expression("text that was searched for")
    tool: str | None = _expression("name of the tool that searched")
    attributes: Expressions = Field(
        {}, description="expressions for attributes of the conversation, by name"
    )
    costs: Expressions = Field({}, description="expressions for costs, by name")
    results: str | None = _expression("list of results")
    result: ResultPart = Field(
        default_factory=ResultPart, description="expressions over one result"
    )

    @model_validator(mode="after")
    def _fits_its_unit(self) -> MappingFile:
        written_keys = self.model_fields_set
        missing = [name for name in _REQUIRED[self.unit] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"unit is {self.unit}, which needs {' and '.join(missing)}")
        if self.unit == "span" and self.search is None and self.tool_call is None:
            raise ValueError("unit is span, which needs search, tool_call or both")
        other_keys = {name for names in _KEYS.values() for name in names} - set(_KEYS[self.unit])
        not_allowed = sorted(written_keys & other_keys)
        if not_allowed:
            raise ValueError(
                f"unit is {self.unit}, which does not allow {' and '.join(not_allowed)}"
            )
        if any(len(level) != 1 for level in self.each):
            raise ValueError("each entry of `each` must be one `name: expression`")
        return self


def shipped_mapping(format: str) -> str:
    """The text of the mapping that is shipped for a format."""
    path = resources.files("goodgain.configs").joinpath(f"mappings/{format}.yaml")
    return path.read_text(encoding="utf-8")


def parse_mapping_file(text: str, name: str) -> mapping.Mapping:
    """Parse a mapping file.

    Args:
      text: YAML.
      name: the file's name in messages.

    Raises:
      UsageError: it is not a mapping; the message lists every mistake with its line.
    """
    written = read_model(MappingFile, text, name, "The mapping", _in_words)
    truncated = TruncatedTexts()
    compiled = _Compiled(TraceFunctions(truncated))
    compiled_mapping = mapping.Mapping(
        unit=written.unit,
        records=tuple(written.records),
        each=tuple(
            (level, compiled.one(text, ("each", at, level)))
            for at, entry in enumerate(written.each)
            for level, text in entry.items()
        ),
        time_unit=written.time_unit,
        search_tools=frozenset(written.search_tools),
        parts=compiled.all(
            {key: getattr(written, key) for key in (*_SPAN_KEYS, *_CALL_KEYS, *_COMMON_KEYS)},
            (),
        ),
        attributes=compiled.all(written.attributes, ("attributes",)),
        costs=compiled.all(written.costs, ("costs",)),
        result=compiled.all(
            {key: text for key, text in written.result if key not in ("ids", "fields")},
            ("result",),
        ),
        ids=compiled.all(written.result.ids, ("result", "ids")),
        fields=compiled.all(written.result.fields, ("result", "fields")),
        truncated=truncated,
    )
    if compiled.mistakes:
        tree, _ = parse_yaml(text, name)
        mistakes = [(line_of(tree, location), what) for location, what in compiled.mistakes]
        raise unusable("The mapping", name, mistakes)
    return compiled_mapping


class _Compiled:
    """Compiles expressions and collects their mistakes."""

    def __init__(self, functions: TraceFunctions) -> None:
        self._functions = functions
        self.mistakes: list[tuple[Location, str]] = []

    def one(self, text: str, location: Location) -> Expression:
        try:
            return compile_expression(text, self._functions)
        except JMESPathError as error:
            problem = str(error).splitlines()[0].removeprefix("Invalid jmespath expression: ")
            what = f"{location[-1]}: {text!r} is not a JMESPath expression: {problem.rstrip(':.')}"
            self.mistakes.append((location, what))
            return lambda _: None

    def all(self, texts: Mapping[str, str | None], location: Location) -> dict[str, Expression]:
        return {
            key: self.one(text, (*location, key)) for key, text in texts.items() if text is not None
        }


def _in_words(error: Any) -> str:
    key = ".".join(map(str, error["loc"])) or "the mapping"
    if error["type"] == "extra_forbidden":
        return f"{key} is not a key of a mapping"
    return reason(error) if error["type"] == "value_error" else f"{key} {reason(error)}"
