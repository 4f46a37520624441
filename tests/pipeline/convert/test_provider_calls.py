"""Searches that a model's provider ran are calls, from the outputs of models in each format."""

import json

import pytest

from goodgain.pipeline.convert.importing.answers.provider_calls import find_provider_calls
from tests.pipeline.convert.importing import actions, import_records
from tests.pipeline.convert.written_spans import WRITERS, agent

A, B = "https://ex.org/a", "https://ex.org/b"
FOUND = [{"url": A, "title": "A"}, {"url": B, "title": "B"}]
QUERY = {"query": "kites"}
ANTHROPIC = [
    {"type": "text", "text": "I search."},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": QUERY},
    {"type": "web_search_tool_result", "tool_use_id": "s1",
     "content": [
         {"type": "web_search_result", "encrypted_content": "x", **document} for document in FOUND
     ]},
    {"type": "server_tool_use", "id": "s2", "name": "web_fetch", "input": {"url": A}},
    {"type": "web_fetch_tool_result", "tool_use_id": "s2",
     "content": {"type": "web_fetch_result", "url": A, "content": {"type": "document", "source": {
         "type": "text", "data": "Kites nest in tall trees."}}}},
    {"type": "text", "text": "In trees.", "citations": [{"url": B, "cited_text": "trees"}]},
]  # fmt: skip


def web_search_call(id_="w1", query="kites"):
    sources = [{"type": "url", "url": document["url"]} for document in FOUND]
    action = {"type": "search", "query": query, "sources": sources}
    return {"type": "web_search_call", "id": id_, "status": "completed", "action": action}


OPENED = {"type": "web_search_call", "id": "w2", "action": {"type": "open_page", "url": A}}
FILES = {"type": "file_search_call", "id": "f1", "queries": ["kites"],
         "results": [{"file_id": "7", "filename": "kites.pdf", "text": "x"}]}  # fmt: skip
MCP = {"type": "mcp_call", "id": "m1", "name": "search", "arguments": json.dumps(QUERY),
       "output": json.dumps(FOUND), "error": None}  # fmt: skip
GROUNDING = {
    "webSearchQueries": ["kites", "nests"],
    "groundingChunks": [
        {"web": {"uri": document["url"], "title": document["title"]}} for document in FOUND
    ],
    "groundingSupports": [{"groundingChunkIndices": [1]}],
}
GROUNDING_OF_PYTHON = {
    "web_search_queries": ["kites", "nests"],
    "grounding_chunks": [
        {"web": {"uri": document["url"], "title": document["title"]}} for document in FOUND
    ],
    "grounding_supports": [{"grounding_chunk_indices": [1]}],
}
EXECUTED = [
    {"type": "search", "arguments": json.dumps(QUERY), "search_results": {"results": FOUND}},
    {"type": "visit", "arguments": json.dumps({"url": A}), "output": "a page"},
]
SEARCHED, OPEN, CITE = ("search", "kites", [A, B]), ("open", None, [A]), ("cite", None, [B])
GROUNDED = [("search", "kites; nests", [A, B]), CITE]


def of_langchain(**message):
    return {"generations": [[{"message": {"lc": 1, "type": "constructor", "kwargs": message}}]]}


OUTPUTS = {
    "anthropic": ({"content": ANTHROPIC}, [SEARCHED, OPEN, CITE]),
    "anthropic by langchain": (of_langchain(content=ANTHROPIC), [SEARCHED, OPEN, CITE]),
    "anthropic that fails": (
        {"content": [ANTHROPIC[1], {"type": "web_search_tool_result", "tool_use_id": "s1",
                                    "content": {"type": "web_search_tool_result_error",
                                                "error_code": "max_uses_exceeded"}}]},
        [("search", "kites", [])],
    ),
    "responses": (
        {"output": [web_search_call(), OPENED, FILES]},
        [SEARCHED, OPEN, ("search", "kites", ["7"])],
    ),
    "responses without sources": (
        {"output": [{**web_search_call(), "action": {"type": "search", "query": "kites"}}]},
        [("search", "kites", [])],
    ),
    "mcp": ({"output": [MCP]}, [SEARCHED]),
    "gemini": ({"candidates": [{"groundingMetadata": GROUNDING}]}, GROUNDED),
    "gemini in Python": ({"candidates": [{"grounding_metadata": GROUNDING_OF_PYTHON}]}, GROUNDED),
    "gemini by langchain": (
        of_langchain(content="x", response_metadata={"grounding_metadata": GROUNDING_OF_PYTHON}),
        GROUNDED,
    ),
    "groq": ({"choices": [{"message": {"executed_tools": EXECUTED}}]}, [SEARCHED, OPEN]),
    "perplexity": ({"choices": [], "search_results": FOUND}, [("search", None, [A, B])]),
    "langchain 1": (
        of_langchain(content=[
            {"type": "server_tool_call", "id": "s1", "name": "web_search", "args": QUERY},
            {"type": "server_tool_result", "tool_call_id": "s1", "output": FOUND}]),
        [SEARCHED],
    ),
    "pydantic-ai": (
        [{"role": "assistant", "parts": [
            {"type": "tool_call", "id": "b", "name": "web_search", "builtin": True,
             "arguments": QUERY},
            {"type": "tool_call_response", "id": "b", "builtin": True, "result": FOUND}]}],
        [SEARCHED],
    ),
    "inspect": (
        {"content": [{"type": "tool_use", "tool_type": "web_search", "id": "w",
                      "name": "web_search", "arguments": json.dumps(QUERY),
                      "result": json.dumps(FOUND)}]},
        [SEARCHED],
    ),
}  # fmt: skip


def shape(records):
    return [
        (record["action"], record["query"],
         [result.get("url", result.get("id")) for result in record["results"]])
        for record in records
    ]  # fmt: skip


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("written", [lambda output: output, json.dumps])
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_output_of_a_model_shows_the_calls_of_its_provider(tmp_path, output, format, written):
    given, expected = OUTPUTS[output]
    spans = agent(format, [("model", 2, 1, {}, written(given))])
    records, counts = import_records(tmp_path, spans, None, format)
    assert shape(records) == expected
    assert {record["iteration"] for record in records} == {1}
    assert counts.unconverted == {}
    if output == "anthropic that fails":
        assert records[0]["error"] == "max_uses_exceeded"


@pytest.mark.parametrize("output", OUTPUTS)
def test_calls_in_nested_models_count_once(tmp_path, output):
    given, expected = OUTPUTS[output]
    spans = agent("langfuse", [("model", 2, 1, {}, given), ("model", 3, 2, {}, given)])
    assert shape(import_records(tmp_path, spans, None, "langfuse")[0]) == expected


OUTPUT = {"output": [web_search_call()]}


@pytest.mark.parametrize("above", [1, 2])
def test_a_call_with_a_span_of_its_own_counts_once(tmp_path, above):
    steps = [("model", 2, 1, {}, OUTPUT), ("tool", 3, above, {"query": "Kites "}, FOUND)]
    records, counts = import_records(tmp_path, agent("otlp", steps), None, "otlp")
    assert shape(records) == [("search", "Kites ", [A, B])]
    assert actions(counts) == {"search": ("search", 1)}


def test_a_span_stands_for_one_call_only(tmp_path):
    both = {"output": [web_search_call(), web_search_call("w2")]}
    steps = [("model", 2, 1, {}, both), ("tool", 3, 1, QUERY, FOUND)]
    assert len(import_records(tmp_path, agent("otlp", steps), None, "otlp")[0]) == 2


def test_the_span_of_a_later_step_stands_for_none_before_it(tmp_path):
    steps = [("model", 2, 1, {}, OUTPUT), ("model", 3, 1, {}, {}), ("tool", 4, 1, QUERY, FOUND)]
    records, _ = import_records(tmp_path, agent("otlp", steps), None, "otlp")
    assert [record["iteration"] for record in records] == [1, 2]


def test_a_tool_that_asks_a_model_which_searches_counts_once(tmp_path):
    answer = f"Kites nest. See [A]({A})."
    steps = [("tool", 2, 1, {"query": "where?"}, answer), ("model", 3, 2, {}, OUTPUT)]
    assert shape(import_records(tmp_path, agent("otlp", steps), None, "otlp")[0]) == [SEARCHED]


def test_an_output_that_repeats_earlier_ones_adds_what_is_new(tmp_path):
    later = {"output": [web_search_call(), web_search_call("w2", "nests")]}
    steps = [("model", 2, 1, {}, OUTPUT), ("model", 3, 1, {}, later)]
    records, _ = import_records(tmp_path, agent("langsmith", steps), None, "langsmith")
    assert [(record["iteration"], record["query"]) for record in records] == [
        (1, "kites"),
        (2, "nests"),
    ]


def test_a_provider_s_call_costs_what_its_step_costs(tmp_path):
    spans = agent("langsmith", [("model", 2, 1, {}, {"output": [web_search_call(), FILES]})])
    spans[1]["total_tokens"] = 30
    records, _ = import_records(tmp_path, spans, None, "langsmith")
    assert [record["costs"]["tokens"] for record in records] == [30, 0]
    assert [record["costs"]["milliseconds"] for record in records] == [9, 0]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"ai.operationId": "ai.generateText.doGenerate", "ai.response.providerMetadata":
              json.dumps({"google": {"groundingMetadata": GROUNDING}})}, GROUNDED),
        ({"gen_ai.operation.name": "chat", "events": json.dumps(
            [{"event.name": "gen_ai.unknown", "data": web_search_call()}])}, [SEARCHED]),
    ],
)  # fmt: skip
def test_outputs_of_the_ai_sdk_and_logfire(tmp_path, attributes, expected):
    span = {"trace_id": "1" * 32, "span_id": "2" * 16, "name": "x", "start_time": 10**18}
    records, _ = import_records(tmp_path, [{**span, "attributes": attributes}], None, "otlp")
    assert shape(records) == expected


@pytest.mark.parametrize(
    "output",
    [
        None,
        "a text about a web_search_call",
        {"type": "web_search_tool_result", "tool_use_id": "unknown", "content": FOUND},
        {"groundingMetadata": [], "executed_tools": 3, "search_results": "none"},
        {"content": [{"type": "tool_use", "id": "1", "name": "web_search", "input": QUERY}]},
        {"choices": [{"message": {"tool_calls": [{"id": "1", "type": "function"}]}}]},
    ],
)
def test_outputs_without_calls_of_providers(output):
    assert find_provider_calls(output) == []


def test_a_search_whose_answer_is_not_recorded_was_made(tmp_path):
    steps = [("model", 2, 1, {}, {}), ("tool", 3, 1, QUERY, None)]
    records, counts = import_records(tmp_path, agent("langfuse", steps), None, "langfuse")
    assert shape(records) == [("search", "kites", [])]
    assert (counts.documents_not_recorded, counts.found_nothing) == (1, 0)
