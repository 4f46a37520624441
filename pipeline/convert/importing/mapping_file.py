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


class _MappingPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultPart(_MappingPart):
    """Expressions over one result."""

    entity_type: str | None = None
    id: str | None = None
    ids: Expressions = {}
    url: str | None = None
    title: str | None = None
    snippet: str | None = None
    content: str | None = None
    fields: Expressions = {}
    gain: str | None = None
    score: str | None = None
    reference_id: str | None = None


class MappingFile(_MappingPart):
    """A mapping as written; `docs/traces-from-other-tools.md` describes each key."""

    unit: Literal["span", "call", "result"]
    records: list[str] = []
    each: list[Expressions] = []
    time_unit: Literal["ns", "us", "ms", "s"] = "ms"
    trace: str | None = None
    span: str | None = None
    parent: str | None = None
    start: str | None = None
    end: str | None = None
    search: str | None = None
    tool_call: str | None = None
    search_tools: list[str] = []
    rerank: str | None = None
    model: str | None = None
    conversation: str | None = None
    turn: str | None = None
    iteration: str | None = None
    call: str | None = None
    record_id: str | None = None
    rank: str | None = None
    time: str | None = None
    query: str | None = None
    tool: str | None = None
    attributes: Expressions = {}
    costs: Expressions = {}
    results: str | None = None
    result: ResultPart = Field(default_factory=ResultPart)

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
