"""OpenTelemetry spans in the dialects and shapes of other libraries give the same search."""

import json

import pytest

from goodgain.pipeline.convert.importing.values.usage import read_token_count
from tests.pipeline.convert.importing import import_and_count

DOCUMENTS = [{"url": "https://ex.org/a", "title": "A", "content": "Kites nest in tall trees."}]
JSON = json.dumps(DOCUMENTS)
MESSAGE = {"output": {"lc": 1, "type": "constructor", "kwargs": {"content": JSON}}, "kwargs": {}}
# By dialect: the attributes of the model's step, and those of the call, which is named web_search.
DIALECTS = {
    "openinference": (
        {"openinference.span.kind": "LLM", "llm.token_count.total": 30},
        {"openinference.span.kind": "tool", "tool.name": "web_search",
         "input.value": '{"query": "kites"}', "output.value": JSON},
    ),
    "gen_ai": (
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10},
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "web_search",
         "gen_ai.tool.call.arguments": '{"query": "kites"}', "gen_ai.tool.call.result": JSON},
    ),
    "traceloop": (
        {"llm.request.type": "chat", "llm.usage.total_tokens": 30},
        {"traceloop.span.kind": "tool", "traceloop.entity.name": "web_search",
         "traceloop.entity.input": json.dumps(
             {"input_str": "{'query': 'kites'}", "inputs": {"query": "kites"}, "kwargs": {"a": 1}}),
         "traceloop.entity.output": json.dumps(MESSAGE)},
    ),
    "vector_db_retrieve": (
        {"gen_ai.operation.name": "chat", "gen_ai.usage.prompt_tokens": 20,
         "gen_ai.usage.completion_tokens": 10},
        {"gen_ai.operation.name": "vector_db_retrieve", "tool.name": "web_search",
         "gen_ai.task.input": '{"query": "kites"}',
         "gen_ai.task.output": json.dumps({"documents": DOCUMENTS})},
    ),
    "ai_sdk": (
        {"ai.operationId": "ai.generateText.doGenerate", "ai.usage.inputTokens": 20,
         "ai.usage.outputTokens": 10},
        {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "web_search",
         "ai.toolCall.args": '{"query":"kites"}', "ai.toolCall.result": JSON},
    ),
    "pydantic_ai": (
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10, "gen_ai.usage.details.cache_read_tokens": 5},
        {"gen_ai.tool.name": "web_search", "tool_arguments": '{"query":"kites"}',
         "tool_response": JSON},
    ),
    "mlflow": (
        {"mlflow.spanType": '"CHAT_MODEL"', "llm.token_count.total": 30},
        {"mlflow.spanType": '"TOOL"', "tool.name": '"web_search"',
         "mlflow.spanInputs": '{"query": "kites"}', "mlflow.spanOutputs": json.dumps(JSON)},
    ),
    "mlflow_documents": (
        {"mlflow.spanType": '"CHAT_MODEL"', "llm.token_count.total": 30},
        {"mlflow.spanType": '"RETRIEVER"', "tool.name": "web_search",
         "mlflow.spanInputs": '{"query": "kites"}',
         "retrieval.documents.0.document.content": '"Kites nest in tall trees."',
         "retrieval.documents.0.document.metadata": '{"url": "https://ex.org/a", "title": "A"}'},
    ),
    "openai_agents_of_logfire": (
        {"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10},
        {"logfire.msg_template": "Function: {name}", "name": "web_search",
         "input": '{"query": "kites"}',
         "output": json.dumps({"type": "text", "text": JSON, "annotations": None})},
    ),
    "semantic_kernel": (
        {"gen_ai.operation.name": "chat.completions", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10},
        {"gen_ai.operation.name": "EXECUTE_TOOL", "gen_ai.tool.name": "web_search",
         "gen_ai.tool.call.arguments": '{"query": "kites"}', "gen_ai.tool.call.result": JSON},
    ),
    "langsmith": (
        {"langsmith.span.kind": "llm", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10},
        {"langsmith.span.kind": "tool", "gen_ai.prompt": '{"query": "kites"}',
         "gen_ai.completion": json.dumps(MESSAGE)},
    ),
    "usage_of_mlflow": (
        {"mlflow.spanType": '"LLM"', "mlflow.chat.tokenUsage":
             '{"input_tokens": 20, "output_tokens": 10, "total_tokens": 30}'},
        {"mlflow.spanType": "TOOL", "mlflow.spanInputs": '{"query": "kites"}',
         "mlflow.spanOutputs": JSON},
    ),
    "usage_of_langfuse": (
        {"langfuse.observation.type": "generation",
         "langfuse.observation.usage_details": '{"input": 20, "output": 10}'},
        {"langfuse.observation.type": "tool", "langfuse.observation.input": '{"query": "kites"}',
         "langfuse.observation.output": JSON},
    ),
    "component_of_haystack": (
        {"haystack.component.type": "OpenAIChatGenerator", "haystack.component.output":
             json.dumps({"replies": [{"meta": {"usage": {"total_tokens": 30}}}]})},
        {"haystack.component.type": "SerperDevWebSearch", "haystack.component.name": "web_search",
         "haystack.component.input": '{"query": "kites"}',
         "haystack.component.output": json.dumps({"documents": DOCUMENTS, "links": ["x"]})},
    ),
    "documents_of_a_chain": (
        {"openinference.span.kind": "LLM", "llm.token_count.total": 30},
        {"openinference.span.kind": "CHAIN", "tool.name": "web_search", "input.value": "kites",
         "retrieval.documents.0.document.content": "Kites nest in tall trees.",
         "retrieval.documents.0.document.metadata": '{"url": "https://ex.org/a", "title": "A"}'},
    ),
    "no_kind_but_a_name": (
        {"openinference.span.kind": "LLM", "llm.token_count.total": 30},
        {"input.value": '{"args": ["kites"], "kwargs": {}}', "output.value": JSON},
    ),
    "langfuse": (
        {"langfuse.observation.type": "generation", "gen_ai.usage.input_tokens": 20,
         "gen_ai.usage.output_tokens": 10},
        {"langfuse.observation.type": "tool", "tool.name": "web_search",
         "langfuse.observation.input": '{"query": "kites"}', "langfuse.observation.output": JSON},
    ),
}  # fmt: skip
TRACE, ROOT = "0" * 31 + "a", "0" * 15 + "1"
START = 1_700_000_000_000_000_000


def spans_of(dialect):
    """The root, the model's step, and the call, each as (id, parent, start, attributes)."""
    model, call = DIALECTS[dialect]
    return [
        (ROOT, None, START, {"session.id": "s1"}),
        ("0" * 15 + "2", ROOT, START + 10**9, model),
        ("0" * 15 + "3", ROOT, START + 2 * 10**9, call),
    ]


def otlp(spans, groups="resourceSpans", scopes="scopeSpans", snake=False):
    def key(name):
        return (
            "".join(
                f"_{character.lower()}" if character.isupper() else character for character in name
            )
            if snake
            else name
        )

    def value(one):
        return {"stringValue": one} if isinstance(one, str) else {"intValue": str(one)}

    written = [
        {
            key("traceId"): TRACE, key("spanId"): name, key("parentSpanId"): parent or "",
            "name": "web_search", key("startTimeUnixNano"): str(start),
            key("endTimeUnixNano"): str(start + 10**8),
            "attributes": [{"key": k, "value": value(v)} for k, v in attributes.items()],
        }
        for name, parent, start, attributes in spans
    ]  # fmt: skip
    return {groups: [{"resource": {"attributes": []}, scopes: [{"spans": written}]}]}


def of_sdk(spans):
    """As `ReadableSpan.to_json()` writes them, one after another."""
    return [
        {
            "name": "web_search", "kind": "SpanKind.INTERNAL",
            "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{name}", "trace_state": "[]"},
            "parent_id": parent and f"0x{parent}",
            "start_time": f"2023-11-14T22:13:{20 + (start - START) // 10**9}.000000Z",
            "end_time": f"2023-11-14T22:13:{20 + (start - START) // 10**9}.100000Z",
            "status": {"status_code": "UNSET"}, "attributes": attributes, "events": [],
            "resource": {"attributes": {"service.name": "x"}, "schema_url": ""},
        }
        for name, parent, start, attributes in spans
    ]  # fmt: skip


def of_phoenix(spans):
    """As Phoenix's REST answers."""
    return {
        "data": [
            {
                "id": f"U3Bhbjox{name}", "name": "web_search", "span_kind": "TOOL",
                "context": {"trace_id": TRACE, "span_id": name}, "parent_id": parent,
                "start_time": f"2023-11-14T22:13:{20 + (start - START) // 10**9}+00:00",
                "end_time": f"2023-11-14T22:13:{20 + (start - START) // 10**9}.1+00:00",
                "status_code": "OK", "status_message": "", "attributes": attributes, "events": [],
            }
            for name, parent, start, attributes in spans
        ],
        "next_cursor": None,
    }  # fmt: skip


def of_frame(spans):
    """Rows of Phoenix's data frame, whose times are milliseconds in JSON."""
    return [
        {
            "name": "web_search", "parent_id": parent, "context.trace_id": TRACE,
            "context.span_id": name, "start_time": start // 10**6,
            "end_time": start // 10**6 + 100, "status_code": "OK", "events": [],
            **{f"attributes.{key}": value for key, value in attributes.items()},
        }
        for name, parent, start, attributes in spans
    ]  # fmt: skip


def of_clickhouse(spans):
    return [
        {
            "Timestamp": f"2023-11-14 22:13:{20 + (start - START) // 10**9}.000000000",
            "TraceId": TRACE, "SpanId": name, "ParentSpanId": parent or "",
            "SpanName": "web_search", "Duration": 10**8, "StatusCode": "Unset",
            "ResourceAttributes": {}, "SpanAttributes": attributes,
        }
        for name, parent, start, attributes in spans
    ]  # fmt: skip


def nest(attributes):
    found = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        inner = found
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def of_logfire(spans):
    return [
        {
            "trace_id": TRACE, "span_id": name, "parent_span_id": parent, "kind": kind,
            "span_name": "web_search", "attributes": json.dumps(attributes),
            "start_timestamp": f"2023-11-14T22:13:{20 + (start - START) // 10**9}Z",
            "end_timestamp": f"2023-11-14T22:13:{20 + (start - START) // 10**9}.1Z",
        }
        for name, parent, start, attributes in spans
        for kind in ("span", "pending_span")
    ]  # fmt: skip


SHAPES = {
    "otlp": otlp,
    "snake_case": lambda spans: otlp(spans, "resource_spans", "scope_spans", snake=True),
    "tempo": lambda spans: otlp(spans, "batches"),
    "tempo_trace": lambda spans: {"trace": otlp(spans)},
    "old": lambda spans: otlp(spans, scopes="instrumentationLibrarySpans"),
    "sdk": of_sdk,
    "phoenix": of_phoenix,
    "frame": of_frame,
    "clickhouse": of_clickhouse,
    "logfire": of_logfire,
    "nested": lambda spans: of_sdk([(*fields, nest(attributes)) for *fields, attributes in spans]),
}


def find_in(path):
    (record,), counts = import_and_count([path], format="otlp")
    assert counts.skipped == {}
    assert record["costs"].pop("tokens_cached", 5) == 5
    return {**record, "record_id": None, "attributes": None}


EXPECTED = {
    "conversation_id": "s1", "turn": 1, "iteration": 1, "call": 0, "record_id": None,
    "timestamp": START // 10**6 + 2000, "query": "kites", "tool": "web_search", "turn_count": 1,
    "action": "search", "error": None, "attributes": None,
    "costs": {"milliseconds": 200.0, "tokens": 30.0},
    "results": [
        {"url": "https://ex.org/a", "title": "A", "snippet": "Kites nest in tall trees."}
    ],
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_dialects(tmp_path, dialect):
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps(otlp(spans_of(dialect))) + "\n")
    assert find_in(path) == EXPECTED


@pytest.mark.parametrize("indent", [None, 4])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(tmp_path, shape, indent):
    written = SHAPES[shape](spans_of("openinference"))
    path = tmp_path / "spans.json"
    several = written if isinstance(written, list) else [written]
    path.write_text("".join(json.dumps(document, indent=indent) + "\n" for document in several))
    assert find_in(path) == EXPECTED


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("signal", ["resourceLogs", "resource_metrics"])
def test_other_signals_are_named(tmp_path, signal, indent):
    path = tmp_path / "signal.json"
    path.write_text(json.dumps({signal: [{"scopeLogs": []}]}, indent=indent))
    _, counts = import_and_count([path], format="otlp")
    (reason,) = counts.skipped
    assert "no spans: export the traces" in reason


@pytest.mark.parametrize(
    "row",
    [
        {"body": "x", "severity_number": 9, "trace_id": f"0x{TRACE}", "span_id": f"0x{ROOT}",
         "attributes": {"event.name": "gen_ai.choice"}, "timestamp": "2026-01-01T00:00:00Z"},
        {"Timestamp": "2026-01-01 00:00:00", "TraceId": TRACE, "SpanId": ROOT, "Body": "x",
         "SeverityText": "INFO", "LogAttributes": {"event.name": "gen_ai.choice"}},
    ],
)  # fmt: skip
def test_rows_of_logs_are_named(tmp_path, row):
    path = tmp_path / "logs.jsonl"
    path.write_text(json.dumps(row) + "\n")
    _, counts = import_and_count([path], format="otlp")
    assert list(counts.skipped) == ["log records, which are no spans: export the traces"]


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"input": 20, "output": 10}, 30),
        ({"total": 30, "input": 20, "output": 10, "cached": [5, None]}, 30),
        ({"input": 20, "output": 10, "cached": 15}, 30),
        ({"input": 20, "output": 10, "cached": [100, 50]}, 180),
        ({"total": 30, "input": 20, "output": 10, "cached": [100]}, 130),
        ({"input": 20, "output": 10, "cached": [5], "apart": True}, 35),
        ({"input": 20, "cached": [5]}, None),
        ({"total": 7}, 7),
        ({"total": "7"}, 7),
        ({}, None),
    ],
)
def test_cached_tokens_count(usage, expected):
    assert read_token_count(usage) == expected
