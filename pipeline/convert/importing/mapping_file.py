"""Mapping files: how the records of another tool become trace records (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from functools import cached_property
from importlib import resources
from typing import Annotated, Any, Literal

from jmespath.exceptions import JMESPathError
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticKnownError

from goodgain.pipeline.convert.importing.answers.answer import Answer, read_answer
from goodgain.pipeline.convert.importing.answers.arguments import query_of, read_arguments
from goodgain.pipeline.convert.importing.answers.citations import find_cited_documents
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.expressions import Expression, compile_expression, is_true
from goodgain.pipeline.convert.importing.tool_answers import ToolAnswer, tool_answer
from goodgain.pipeline.convert.importing.trace_functions import TraceFunctions
from goodgain.pipeline.convert.importing.values.scalars import integer, number, text, texts
from goodgain.transforms.core.config_text import describe_mistake
from goodgain.transforms.core.records.label_map import LabelMap
from goodgain.transforms.core.yaml_text import parse_yaml

_SPAN_KEYS = (
    "trace", "span", "parent", "start", "end", "search", "tool_call", "rerank", "model", "cite",
)  # fmt: skip
_CALL_KEYS = ("turn", "iteration", "call", "record_id")
_KEYS = {
    "span": (*_SPAN_KEYS, "search_tools", "open_tools", "outcomes"),
    "call": _CALL_KEYS,
    "result": (*_CALL_KEYS, "rank"),
}
_REQUIRED = {
    "span": ("trace", "span", "start"),
    "call": ("conversation", "results"),
    "result": ("conversation",),
}
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


_Expression = Annotated[Expression, BeforeValidator(_compile), WithJsonSchema({"type": "string"})]
_Expressions = dict[str, _Expression]


def _expression(description: str) -> Any:
    """An optional field that holds a JMESPath expression."""
    return Field(None, description=f"expression: {description}")


class _MappingPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultPart(_MappingPart):
    """Expressions over one result."""

    entity_type: _Expression | None = _expression("type, whose rules for duplicates apply")
    id: _Expression | None = _expression("generic id of the document")
    ids: _Expressions = Field(default={}, description="expressions for named ids, by name")
    url: _Expression | None = _expression("URL")
    title: _Expression | None = _expression("title")
    snippet: _Expression | None = _expression("passage that the search tool showed")
    content: _Expression | None = _expression("text of the document, or a longer part of it")
    fields: _Expressions = Field(default={}, description="expressions for further fields, by name")
    gain: _Expression | None = _expression("relevance label, 0 to 4")
    score: _Expression | None = _expression("the retriever's score")
    reference_id: _Expression | None = _expression("citation marker, like turn1search3")


class MappingFile(_MappingPart):
    """A mapping; `docs/traces-from-other-tools.md` describes each key."""

    _fields: set[str] = PrivateAttr(default_factory=set)
    _counts: ImportCounts = PrivateAttr(default_factory=ImportCounts)
    _label_map: LabelMap | None = PrivateAttr(None)

    unit: Literal["span", "call", "result"] = Field(
        description="what an input record is: a span, a search call, or a result"
    )
    records: list[str] = Field(
        [], description="possible keys of the list of records, when a file is one JSON object"
    )
    each: list[_Expressions] = Field(
        [], description="nested lists to iterate over, outermost first, each `name: expression`"
    )
    time_unit: Literal["ns", "us", "ms", "s"] = Field("ms", description="unit of numeric times")
    trace: _Expression | None = _expression("id of a span's trace")
    span: _Expression | None = _expression("id of a span")
    parent: _Expression | None = _expression("id of the span above")
    start: _Expression | None = _expression("start of a span")
    end: _Expression | None = _expression("end of a span")
    search: _Expression | None = _expression("whether a span is a search")
    tool_call: _Expression | None = _expression("whether a span is a call of a tool")
    search_tools: list[str] = Field(
        [], description="tools that search, with wildcards; by default by calls and answers"
    )
    open_tools: list[str] = Field(
        [], description="tools that open documents, with wildcards; by default by their calls"
    )
    rerank: _Expression | None = _expression("whether a span re-ranks the results of searches")
    model: _Expression | None = _expression("whether a span is a step of the model")
    cite: _Expression | None = _expression("whether a span holds documents that an answer cites")
    conversation: _Expression | None = _expression("id of the conversation")
    turn: _Expression | None = _expression("number of the turn in its conversation")
    iteration: _Expression | None = _expression("number of the iteration in its turn")
    call: _Expression | None = _expression("number of the search call in its iteration")
    record_id: _Expression | None = _expression("id of the record")
    rank: _Expression | None = _expression("position of the result in its list")
    time: _Expression | None = _expression("time of the search")
    query: _Expression | None = _expression("text that was searched for")
    arguments: _Expression | None = _expression("arguments of a tool's call")
    answer: _Expression | None = _expression("answer of a tool, in which results are looked for")
    error: _Expression | None = _expression("what a call said when it failed")
    tool: _Expression | None = _expression("name of the tool that searched")
    attributes: _Expressions = Field(
        {}, description="expressions for attributes of the conversation, by name"
    )
    costs: _Expressions = Field({}, description="expressions for costs, by name")
    outcomes: _Expressions = Field({}, description="expressions for outcomes of the turn, by name")
    results: _Expression | None = _expression("list of results")
    result: ResultPart = Field(
        default_factory=ResultPart, description="expressions over one result"
    )

    @model_validator(mode="after")
    def _fits_its_unit(self) -> MappingFile:
        missing = [name for name in _REQUIRED[self.unit] if getattr(self, name) is None]
        if missing:
            raise ValueError(f"unit is {self.unit}, which needs {' and '.join(missing)}")
        if self.unit == "span" and self.search is None and self.tool_call is None:
            raise ValueError("unit is span, which needs search, tool_call or both")
        if self.unit == "span" and self.results is None and self.answer is None:
            raise ValueError("unit is span, which needs results, answer or both")
        not_allowed = sorted(self.model_fields_set - self.keys_of_unit())
        if not_allowed:
            raise ValueError(
                f"unit is {self.unit}, which does not allow {' and '.join(not_allowed)}"
            )
        if any(len(level) != 1 for level in self.each):
            raise ValueError("each entry of `each` must be one `name: expression`")
        return self

    def keys_of_unit(self) -> set[str]:
        """The keys that a mapping of this unit may have."""
        of_units = {name for names in _KEYS.values() for name in names}
        return set(MappingFile.model_fields) - of_units | set(_KEYS[self.unit])

    def note_fields(self, names: Iterable[str]) -> None:
        """Note fields that expressions name besides those that were parsed."""
        self._fields.update(names)

    def with_labels(self, label_map: LabelMap | None) -> MappingFile:
        """The mapping for labels on another scale; None = labels are gains."""
        changed = self.model_copy()
        changed._label_map = label_map
        return changed

    def find_unread(self, record: Any) -> list[str]:
        """The columns of a row of a table that have a value and that no expression names."""
        if self.unit != "result" or self.each or not isinstance(record, dict):
            return []
        return [name for name, value in record.items() if name not in self._fields and text(value)]

    def part(self, name: str, record: Any) -> Any:
        """The value of a part of a record; None if the mapping has no expression for it."""
        expression = getattr(self, name)
        return None if expression is None else expression(record)

    def holds(self, name: str, record: Any) -> bool:
        """Whether the value of a condition is true for JMESPath."""
        return is_true(self.part(name, record))

    def members(self, record: Any) -> Iterator[Any]:
        """The records within a record: itself, or what `each` finds.

        For a member of `each`, expressions see the outermost record as `document`, each level under
        its name, and the level's position from 1 as `NAME_number`.
        """
        if not self.each:
            yield record
            return
        contexts = [{"document": record}]
        above = "document"
        for level in self.each:
            ((name, expression),) = level.items()
            contexts = [
                context | {name: member, f"{name}_number": position}
                for context in contexts
                for position, member in enumerate(_as_list(expression(context[above])), 1)
            ]
            above = name
        yield from contexts

    def attributes_of(self, record: Any) -> dict[str, str]:
        """The attributes that a record has."""
        values = {name: text(expression(record)) for name, expression in self.attributes.items()}
        return {name: value for name, value in values.items() if value is not None}

    def costs_of(self, record: Any) -> dict[str, float]:
        """The costs of a record; values other than numbers of at least 0 are ignored."""
        values = {name: number(expression(record)) for name, expression in self.costs.items()}
        return {name: value for name, value in values.items() if value is not None and value >= 0}

    def outcomes_of(self, record: Any) -> dict[str, float]:
        """The outcomes that a record has: numbers, of which true is 1 and false is 0."""
        found = {name: expression(record) for name, expression in self.outcomes.items()}
        values = {
            name: float(value) if isinstance(value, bool) else number(value)
            for name, value in found.items()
        }
        return {name: value for name, value in values.items() if value is not None}

    def query_of(self, record: Any) -> str | None:
        """The query of a call: by its own expression, else among the arguments."""
        query = text(self.part("query", record))
        return query_of(read_arguments(self.part("arguments", record))) if query is None else query

    def answer_of(self, record: Any) -> ToolAnswer:
        """The answer of a call: the list of results, if there is one, else what `answer` holds."""
        results = self.part("results", record)
        if isinstance(results, list):
            answer = Answer(documents=results)
        else:
            answer = read_answer(self.part("answer", record))
            self._counts.cut_off += answer.is_cut_off
        arguments = read_arguments(self.part("arguments", record))
        return tool_answer(answer, arguments, text(self.part("error", record)), self.result_of)

    def find_cited(self, record: Any) -> list[dict[str, Any]]:
        """The documents that the answer of a model cites."""
        cited = find_cited_documents(self.part("answer", record))
        return (
            [self.result_of(document) for document in read_answer(cited).documents or ()]
            if cited
            else []
        )

    def results_of(self, record: Any) -> list[dict[str, Any]] | None:
        """The results of a record; None if it does not even have an empty list."""
        results = self.part("results", record)
        return [self.result_of(item) for item in results] if isinstance(results, list) else None

    def result_of(self, item: Any) -> dict[str, Any]:
        """A result (SPEC 2) with the fields that are present."""
        result: dict[str, Any] = {}
        for name, expression in self._of_result.items():
            value = expression(item)
            if name == "score":
                result[name] = number(value)
            elif name == "gain" and self._label_map is not None:
                result[name] = self._label_map.gain_or_refusal(value)
            elif name == "gain":
                result[name] = integer(value)
                if result[name] is None and text(value) is not None:
                    result[name] = text(value)  # refused later, with a reason
            else:
                result[name] = text(value)
        for name, expressions in (("ids", self.result.ids), ("fields", self.result.fields)):
            values = {key: texts(expression(item)) for key, expression in expressions.items()}
            result[name] = {key: value for key, value in values.items() if value} or None
        return {name: value for name, value in result.items() if value is not None}

    @cached_property
    def _of_result(self) -> dict[str, Expression]:
        """The expressions over one result, without those of named ids and fields."""
        several = ("ids", "fields")
        return {
            name: expression
            for name, expression in self.result
            if expression and name not in several
        }


def read_shipped_mapping(format: str) -> str:
    """The text of the mapping that is shipped for a format."""
    path = resources.files("goodgain.configs").joinpath(f"mappings/{format}.yaml")
    return path.read_text(encoding="utf-8")


def parse_mapping_file(written: str, name: str, counts: ImportCounts) -> MappingFile:
    """Parse a mapping file.

    Args:
      counts: counts answers that its expressions find cut off.

    Raises:
      UsageError: it is not a mapping; the message lists every mistake with its line.
    """
    functions = TraceFunctions(counts)
    file = parse_yaml(written, name)
    mapping = file.read(MappingFile, "The mapping", _in_words, functions)
    mapping._fields, mapping._counts = functions.fields, counts
    return mapping


def _in_words(error: Any) -> str:
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


def has_identity(result: MappingType[str, Any]) -> bool:
    """Whether a result has anything by which a copy could be recognized."""
    return any(name in result for name in _IDENTIFYING)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else ([] if value is None else [value])
