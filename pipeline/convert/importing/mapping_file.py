"""Mapping files: how the records of another tool become trace records (SPEC 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any, Literal

from pydantic import Field, PrivateAttr, model_validator

from goodgain.pipeline.convert.importing.answers.answer import Answer, read_answer
from goodgain.pipeline.convert.importing.answers.arguments import query_of, read_arguments
from goodgain.pipeline.convert.importing.answers.citations import find_cited_documents
from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.expressions import is_true
from goodgain.pipeline.convert.importing.mapping_parts import (
    MappingPart,
    ResultPart,
    Written,
    WrittenByName,
    as_list,
    mistake_in_words,
    optional,
)
from goodgain.pipeline.convert.importing.tool_answers import ToolAnswer, tool_answer
from goodgain.pipeline.convert.importing.trace_functions import TraceFunctions
from goodgain.pipeline.convert.importing.values.scalars import number, text
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


class MappingFile(MappingPart):
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
    each: list[WrittenByName] = Field(
        [], description="nested lists to iterate over, outermost first, each `name: expression`"
    )
    time_unit: Literal["ns", "us", "ms", "s"] = Field("ms", description="unit of numeric times")
    trace: Written | None = optional("id of a span's trace")
    span: Written | None = optional("id of a span")
    parent: Written | None = optional("id of the span above")
    start: Written | None = optional("start of a span")
    end: Written | None = optional("end of a span")
    search: Written | None = optional("whether a span is a search")
    tool_call: Written | None = optional("whether a span is a call of a tool")
    search_tools: list[str] = Field(
        [], description="tools that search, with wildcards; by default by calls and answers"
    )
    open_tools: list[str] = Field(
        [], description="tools that open documents, with wildcards; by default by their calls"
    )
    rerank: Written | None = optional("whether a span re-ranks the results of searches")
    model: Written | None = optional("whether a span is a step of the model")
    cite: Written | None = optional("whether a span holds documents that an answer cites")
    conversation: Written | None = optional("id of the conversation")
    turn: Written | None = optional("number of the turn in its conversation")
    iteration: Written | None = optional("number of the iteration in its turn")
    call: Written | None = optional("number of the search call in its iteration")
    record_id: Written | None = optional("id of the record")
    rank: Written | None = optional("position of the result in its list")
    time: Written | None = optional("time of the search")
    query: Written | None = optional("text that was searched for")
    arguments: Written | None = optional("arguments of a tool's call")
    answer: Written | None = optional("answer of a tool, in which results are looked for")
    error: Written | None = optional("what a call said when it failed")
    tool: Written | None = optional("name of the tool that searched")
    attributes: WrittenByName = Field(
        {}, description="expressions for attributes of the conversation, by name"
    )
    costs: WrittenByName = Field({}, description="expressions for costs, by name")
    outcomes: WrittenByName = Field({}, description="expressions for outcomes of the turn, by name")
    results: Written | None = optional("list of results")
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
                for position, member in enumerate(as_list(expression(context[above])), 1)
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
        return self.result.read(item, self._label_map)


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
    mapping = file.read(MappingFile, "The mapping", mistake_in_words, functions)
    mapping._fields, mapping._counts = functions.fields, counts
    return mapping
