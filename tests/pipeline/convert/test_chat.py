"""Transcripts of chats, in the shapes of all interfaces, become the same conversation."""

import json

import pytest

from tests.pipeline.convert.chats import (
    EXPECTED,
    SHAPES,
    A,
    claude_code,
    of,
    openai,
    shape,
    write,
)
from tests.pipeline.convert.importing import FIXTURES, import_and_count


@pytest.mark.parametrize("messages", SHAPES)
@pytest.mark.parametrize("form", ["lines", "array", "pretty", "object", "line of an array"])
def test_interfaces_and_forms(tmp_path, messages, form):
    of_chat = messages()
    text = {
        "lines": lambda: "".join(json.dumps(message) + "\n" for message in of_chat),
        "array": lambda: json.dumps(of_chat),
        "pretty": lambda: json.dumps(of_chat, indent=1),
        "object": lambda: json.dumps({"id": "c1", "messages": of_chat}),
        "line of an array": lambda: json.dumps(of_chat) + "\n" + json.dumps(of_chat) + "\n",
    }[form]()
    records, counts = import_and_count([write(tmp_path, text)], format="chat")
    if form == "line of an array":
        assert {record["conversation_id"] for record in records} == {"c1:1", "c1:2"}
        records = records[:4]
    else:
        assert {record["conversation_id"].partition(":")[0] for record in records} == {"c1"}
    assert shape(records) == EXPECTED
    assert counts.skipped == {}


def test_claude_code(tmp_path):
    text = "".join(json.dumps(message) + "\n" for message in claude_code())
    records, _ = import_and_count([write(tmp_path, text, "s.jsonl")], format="claude-code")
    assert shape(records) == EXPECTED
    assert {record["conversation_id"] for record in records} == {"c1"}
    # The parts of a message are one step, whose usage counts once; the cache is apart from input.
    assert [record["costs"] for record in records] == [
        {"tokens": 100, "tokens_cached": 90}, {"tokens": 0, "tokens_cached": 0}, {},
        {"tokens": 200, "tokens_cached": 180},
    ]  # fmt: skip


def test_queries_join_by_the_id_of_the_call():
    path = FIXTURES / "cases" / "chat_messages.jsonl"
    records, _ = import_and_count([path], format="chat")
    assert [(record["iteration"], record["query"]) for record in records] == [
        (1, "red kites"), (1, "black kites"), (2, "kite food"),
    ]  # fmt: skip
    assert [result["url"] for record in records for result in record["results"]] == [
        "https://ex.org/a", "https://ex.org/b", "https://ex.org/food",
    ]  # fmt: skip


def test_user_messages_begin_turns(tmp_path):
    twice = [*openai(), *openai()]
    records, counts = import_and_count([write(tmp_path, json.dumps(twice))], format="chat")
    assert shape(records) == EXPECTED * 2
    assert [record["turn"] for record in records] == [1] * 4 + [2] * 4
    assert counts.turns == 2


def test_hosted_searches_of_anthropic(tmp_path):
    found = {"type": "web_search_result", "url": "https://ex.org/a", "title": "A",
             "encrypted_content": "x"}  # fmt: skip
    content = [
        {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {"query": "kites"}},
        {"type": "web_search_tool_result", "tool_use_id": "1", "content": [found]},
        {"type": "server_tool_use", "id": "2", "name": "web_search", "input": {"query": "food"}},
        {"type": "web_search_tool_result", "tool_use_id": "2",
         "content": {"type": "web_search_tool_result_error", "error_code": "too_many"}},
        {"type": "text", "text": "Kites.", "citations": [
            {"type": "web_search_result_location", "url": "https://ex.org/a", "title": "A",
             "cited_text": "Kites nest"}]},
    ]  # fmt: skip
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": content}]
    assert of(tmp_path, messages) == [
        ("search", 1, "kites", ["https://ex.org/a"]),
        ("search", 1, "food", []),
        ("cite", 1, None, ["https://ex.org/a"]),
    ]


def test_hosted_searches_of_openai(tmp_path):
    annotation = {"type": "url_citation", "url": "https://ex.org/b", "title": "B"}
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "1", "status": "completed", "action": {
            "type": "search", "query": "kites", "sources": [{"type": "url", "url": "https://ex.org/a"}]}},
        {"type": "reasoning", "summary": []},
        {"type": "web_search_call", "id": "2", "status": "completed",
         "action": {"type": "open_page", "url": "https://ex.org/a"}},
        {"type": "file_search_call", "id": "3", "status": "completed", "queries": ["food", "prey"],
         "results": [{"file_id": "f1", "filename": "food.pdf", "score": 0.9, "text": "Mammals"}]},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": "Kites.", "annotations": [annotation]}]},
    ]  # fmt: skip
    assert of(tmp_path, {"id": "r1", "input": "find kites", "output": output}) == [
        ("search", 1, "kites", ["https://ex.org/a"]),
        ("open", 2, None, ["https://ex.org/a"]),
        ("search", 3, "food; prey", ["f1"]),
        ("cite", 4, None, ["https://ex.org/b"]),
    ]


def test_executed_tools_of_groq(tmp_path):
    executed = {"type": "search", "arguments": '{"query": "kites"}', "output": "Title: A",
                "search_results": {"results": [A]}}  # fmt: skip
    answer = {"role": "assistant", "content": "Kites.", "executed_tools": [executed]}
    messages = [{"role": "user", "content": "?"}, answer]
    assert of(tmp_path, messages) == [("search", 1, "kites", ["https://ex.org/a"])]


def test_grounding_of_gemini(tmp_path):
    redirect = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
    chunks = [{"web": {"uri": f"{redirect}{token}", "title": "ex.org"}} for token in "xy"]
    metadata = {"webSearchQueries": ["kites", "food"], "groundingChunks": chunks,
                "groundingSupports": [{"groundingChunkIndices": [1]}]}  # fmt: skip
    answer = {"content": {"role": "model", "parts": [{"text": "Kites."}]},
              "groundingMetadata": metadata}  # fmt: skip
    request = {"contents": [{"role": "user", "parts": [{"text": "?"}]}]}
    records, counts = import_and_count(
        [write(tmp_path, json.dumps({"id": "g", "request": request, "candidates": [answer]}))],
        format="chat",
    )
    assert [(record["action"], record["query"], len(record["results"])) for record in records] == [
        ("search", "kites; food", 2), ("cite", None, 1),
    ]  # fmt: skip
    assert all("url" not in result for record in records for result in record["results"])
    assert counts.redirects == 3


CALL = {"toolCallId": "1", "toolName": "web_search"}
TAGGED = f"Links:\n[A]({A['url']})\nA bird."
# What holds one search for kites that finds A, and then perhaps a second step.
WRITTEN = {
    "interface of the AI SDK": [{"role": "assistant", "parts": [
        {"type": "step-start"},
        {"type": "tool-web_search", "toolCallId": "1", "state": "output-available",
         "input": {"query": "kites"}, "output": [A]},
        {"type": "step-start"},
        {"type": "tool-web_search", "toolCallId": "2", "state": "output-error",
         "input": {"query": "food"}, "errorText": "no network"}]}],
    "dynamic tool of the AI SDK": [{"role": "assistant", "parts": [
        {"type": "dynamic-tool", **CALL, "input": {"query": "kites"}, "output": {"content": [
            {"type": "text", "text": json.dumps([A])}]}}]}],
    "invocations of the AI SDK 4": [{"role": "assistant", "content": "", "toolInvocations": [
        {"state": "result", **CALL, "args": {"query": "kites"}, "result": [A]}]}],
    "builtin tools of pydantic-ai": [{"kind": "response", "parts": [
        {"part_kind": "builtin-tool-call", "tool_name": "web_search", "args": {"query": "kites"},
         "tool_call_id": "1"},
        {"part_kind": "builtin-tool-return", "tool_name": "web_search", "content": [A],
         "tool_call_id": "1"}]}],
    "Search-R1": [
        {"role": "assistant", "content": "<think>?</think><search>kites</search>"},
        {"role": "user", "content": f"<information>{json.dumps([A])}</information>"},
        {"role": "assistant", "content": "<search>food</search>"}],
    "Search-R1 in one message": [{"role": "assistant", "content":
        f"<search>kites</search>\n<information>{TAGGED}</information>\n<search>food</search>"}],
    "Search-o1": [{"role": "assistant", "content":
        "<|begin_search_query|>kites<|end_search_query|>"
        f"<|begin_search_result|>{TAGGED}<|end_search_result|>"}],
    "Hermes and Qwen": [
        {"role": "assistant", "content":
             '<tool_call>{"name": "web_search", "arguments": {"query": ["kites"]}}</tool_call>'},
        {"role": "user", "content": f"<tool_response>\n{TAGGED}\n</tool_response>"}],
    "ShareGPT": [
        {"from": "human", "value": "?"},
        {"from": "function_call", "value":
             json.dumps({"name": "web_search", "arguments": {"query": "kites"}})},
        {"from": "observation", "value": json.dumps([A])}, {"from": "gpt", "value": "Yes."}],
}  # fmt: skip


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize("key", [None, "messages", "conversations"])
@pytest.mark.parametrize("indent", [None, 1])
def test_calls_in_other_shapes_of_messages(tmp_path, name, key, indent):
    messages = WRITTEN[name]
    if messages[0].get("from") is None:
        messages = [{"role": "user", "content": "?"}, *messages]
    chat = messages if key is None else {"id": "c1", key: messages}
    records, counts = import_and_count(
        [write(tmp_path, json.dumps(chat, indent=indent))], format="chat"
    )
    assert (records[0]["iteration"], records[0]["query"]) == (1, "kites")
    assert [result["url"] for result in records[0]["results"]] == [A["url"]]
    second = [(record["iteration"], record["query"], record["results"]) for record in records[1:]]
    assert second in ([], [(2, "food", [])])
    assert counts.conversations == 1
    assert counts.skipped == {}


ANTHROPIC = {"type": "message", "role": "assistant",
             "content": [{"type": "server_tool_use", "id": "1", "name": "web_search",
                          "input": {"query": "kites"}},
                         {"type": "web_search_tool_result", "tool_use_id": "1", "content": [A]}],
             "usage": {"input_tokens": 8, "output_tokens": 3}}  # fmt: skip
GROUNDING = {"web_search_queries": ["kites"], "grounding_chunks": [{"web": {"uri": A["url"]}}]}
GEMINI = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Yes."}]},
                          "grounding_metadata": GROUNDING}],
          "usage_metadata": {"prompt_token_count": 8, "candidates_token_count": 3,
                             "total_token_count": 11}}  # fmt: skip
PERPLEXITY = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}],
              "search_results": [A], "usage": {"total_tokens": 11}}  # fmt: skip


@pytest.mark.parametrize("response", [ANTHROPIC, GEMINI, PERPLEXITY])
def test_requests_with_their_responses(tmp_path, response):
    exchange = {"request": {"messages": [{"role": "user", "content": "?"}]}, "response": response}
    (record,), _ = import_and_count([write(tmp_path, json.dumps(exchange))], format="chat")
    assert record["query"] == (None if response is PERPLEXITY else "kites")
    assert [result["url"] for result in record["results"]] == [A["url"]]
    assert record["costs"]["tokens"] == 11


def test_files_that_claude_code_finds_are_documents(tmp_path):
    asked = {"type": "tool_use", "id": "1", "name": "Grep", "input": {"pattern": "kite"}}
    found = {"type": "tool_result", "tool_use_id": "1", "content": "Found 2 files"}
    lines = [
        {"type": "user", "message": {"role": "user", "content": "?"}},
        {"type": "assistant", "message": {"role": "assistant", "id": "m", "content": [asked]}},
        {"type": "user", "message": {"role": "user", "content": [found]},
         "toolUseResult": {"mode": "files_with_matches", "filenames": ["/x/a.md", "/x/b.md"]}},
    ]  # fmt: skip
    text = "".join(json.dumps({**line, "sessionId": "c"}) + "\n" for line in lines)
    (record,), counts = import_and_count([write(tmp_path, text, "s.jsonl")], format="claude-code")
    assert [result["url"] for result in record["results"]] == ["/x/a.md", "/x/b.md"]
    assert counts.unconverted == {}


def test_logs_of_inspect(tmp_path):
    calls = [
        {"id": "1", "function": "web_search", "arguments": {"query": "kites"}, "type": "function"}
    ]
    messages = [
        {"role": "user", "content": "?", "source": "input"},
        {"role": "assistant", "content": "", "tool_calls": calls},
        {"role": "tool", "content": json.dumps([A]), "tool_call_id": "1", "function": "web_search"},
    ]
    log = {
        "version": 2,
        "eval": {"task": "t"},
        "samples": [{"id": "q1", "epoch": 1, "messages": messages}],
    }
    records, _ = import_and_count([write(tmp_path, json.dumps(log, indent=1))], format="chat")
    assert [(record["conversation_id"], record["query"]) for record in records] == [
        ("q1/1", "kites")
    ]


def test_what_holds_no_messages_is_counted(tmp_path):
    records, counts = import_and_count(
        [write(tmp_path, '{"a": 1}\n{"messages": 5}\n')], format="chat"
    )
    assert records == []
    assert counts.skipped["JSON that holds no messages"].count == 2
