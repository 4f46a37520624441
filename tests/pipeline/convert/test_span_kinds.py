"""Kinds of spans, and usage, as LangSmith, Langfuse and MLflow write them."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.importing.formats.mlflow import mlflow_spans
from tests.pipeline.convert.importing import actions, import_records

FOUND = [{"url": "https://ex.org/a", "title": "A", "content": "text"}]
QUERY = {"query": "kites"}


def langsmith(kinds, usage, name="web_search"):
    """The runs of an agent: a model's step, with its usage, then a search."""
    root, model, tool = kinds
    runs = [("r", None, root, "agent", {}, {}), ("m", "r", model, "chat", {}, {}),
            ("t", "r", tool, name, QUERY, {"output": FOUND})]  # fmt: skip
    return [
        {"id": id_, "trace_id": "t", "parent_run_id": parent, "run_type": kind, "name": named,
         "start_time": 1000 * at, "end_time": 1000 * at + 500, "inputs": given, "outputs": found,
         **(usage if id_ == "m" else {})}
        for at, (id_, parent, kind, named, given, found) in enumerate(runs, 1)
    ]  # fmt: skip


def mlflow(kinds, usage, name="web_search"):
    return [
        {
            "info": {"trace_id": "t"},
            "data": {"spans": [
                {"span_id": run["id"], "parent_span_id": run["parent_run_id"], "name": run["name"],
                 "start_time_unix_nano": run["start_time"] * 10**6,
                 "end_time_unix_nano": run["end_time"] * 10**6,
                 "attributes": {
                     "mlflow.spanType": json.dumps(run["run_type"]),
                     "mlflow.spanInputs": json.dumps(run["inputs"]),
                     "mlflow.spanOutputs": json.dumps(run["outputs"]),
                     **({"mlflow.chat.tokenUsage": json.dumps(usage)} if run["id"] == "m" else {}),
                 }}
                for run in langsmith(kinds, {}, name)
            ]},
        }
    ]  # fmt: skip


def langfuse(attributes, name="web_search", written=lambda one: one, given=QUERY):
    """Observations of type SPAN; the attributes in the metadata of a step and of a search."""
    rows = [("r", None, {}, {}), ("m", "r", attributes[0], {"usageDetails": {"total": 12}}),
            ("t", "r", attributes[1], {"input": given, "output": FOUND})]  # fmt: skip
    return [
        {"id": id_, "traceId": "t", "parentObservationId": parent, "type": "SPAN",
         "name": name if id_ == "t" else id_, "startTime": 1000 * at, "endTime": 1000 * at + 500,
         "metadata": {"attributes": written(kind)}, **more}
        for at, (id_, parent, kind, more) in enumerate(rows, 1)
    ]  # fmt: skip


def find_search(folder, records, format):
    """The query, iteration, tokens, and cached tokens of the only search."""
    (record,), _ = import_records(folder, records, None, format)
    assert [result["url"] for result in record["results"]] == ["https://ex.org/a"]
    costs = record["costs"]
    return record["query"], record["iteration"], costs.get("tokens"), costs.get("tokens_cached")


@pytest.mark.parametrize("kinds", [("chain", "llm", "tool"), ("CHAIN", "LLM", "Retriever")])
def test_kinds_in_any_case(tmp_path, kinds):
    assert find_search(tmp_path, langsmith(kinds, {"total_tokens": 12}), "langsmith")[:3] == (
        "kites", 1, 12,
    )  # fmt: skip
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}
    assert find_search(tmp_path, mlflow(kinds, usage), "mlflow")[:3] == ("kites", 1, 12)


def details(cached):
    return {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12,
            "input_token_details": {"cache_read": cached}}  # fmt: skip


@pytest.mark.parametrize(
    ("usage", "tokens", "cached"),
    [
        ({"total_tokens": 12, "prompt_token_details": {"cache_read": 9}}, 12, 9),
        ({"outputs": {"usage_metadata": details(9)}}, 12, 9),
        ({"outputs": {"usage_metadata": details(90)}}, 102, 90),
        ({"outputs": {"generations": [[{"message": {"kwargs": {"usage_metadata": details(9)}}}]]}},
         12, 9),
        ({}, None, None),
    ],
)  # fmt: skip
def test_usage_of_langsmith(tmp_path, usage, tokens, cached):
    runs = langsmith(("chain", "llm", "tool"), usage)
    assert find_search(tmp_path, runs, "langsmith") == ("kites", 1, tokens, cached)


@pytest.mark.parametrize(("cached", "tokens"), [(None, 12), (9, 12), (90, 102)])
def test_usage_of_mlflow(tmp_path, cached, tokens):
    usage = {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12,
             "cache_read_input_tokens": cached}  # fmt: skip
    traces = mlflow(("CHAIN", "LLM", "TOOL"), usage)
    assert find_search(tmp_path, traces, "mlflow") == ("kites", 1, tokens, cached)


@pytest.mark.parametrize("written", [lambda one: one, json.dumps])
@pytest.mark.parametrize(
    ("model", "tool"),
    [
        ({"openinference.span.kind": "LLM"}, {"openinference.span.kind": "TOOL"}),
        ({"gen_ai.operation.name": "chat"},
         {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "web_search"}),
        ({"llm.request.type": "chat"}, {"traceloop.span.kind": "tool"}),
        ({"llm.request.type": "chat"}, {"gen_ai.operation.name": "vector_db_retrieve"}),
    ],
)  # fmt: skip
def test_kinds_in_the_metadata_of_langfuse(tmp_path, model, tool, written):
    rows = langfuse((model, tool), written=written)
    assert find_search(tmp_path, rows, "langfuse")[:3] == ("kites", 1, 12)


def test_a_span_without_a_kind_is_a_search_if_its_name_and_answers_say_so(tmp_path):
    positional = {"args": ["kites"], "kwargs": {}}
    rows = langfuse(({"openinference.span.kind": "LLM"}, {}), given=positional)
    assert find_search(tmp_path, rows, "langfuse")[0] == "kites"
    assert (
        find_search(tmp_path, langsmith(("chain", "llm", "chain"), {}), "langsmith")[0] == "kites"
    )
    assert find_search(tmp_path, mlflow(("CHAIN", "LLM", "UNKNOWN"), {}), "mlflow")[0] == "kites"


@pytest.mark.parametrize("name", ["transform_query", "generate"])
def test_a_span_without_a_kind_that_hands_documents_on_is_no_search(tmp_path, name):
    calls = langsmith(("chain", "llm", "tool"), {})
    handed_on = {**langsmith(("chain", "llm", "chain"), {}, name)[2], "id": "s", "start_time": 4000}
    records, counts = import_records(tmp_path, [*calls, handed_on], None, "langsmith")
    assert len(records) == 1
    assert actions(counts) == {"web_search": ("search", 1)}


def test_a_function_around_a_search_counts_once(tmp_path):
    inner = langsmith(("chain", "llm", "tool"), {})
    outer = {**langsmith(("chain", "llm", "chain"), {}, "search_node")[2], "id": "n"}
    inner[2]["parent_run_id"] = "n"
    records, counts = import_records(tmp_path, [*inner, outer], None, "langsmith")
    assert [record["tool"] for record in records] == ["web_search"]
    assert counts.counted_once == 1


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"status": {"code": "STATUS_CODE_ERROR", "message": "rate limit"}}, "rate limit"),
        ({"status_code": "ERROR", "status_message": "rate limit"}, "rate limit"),  # MLflow 2
        ({"status": "ERROR"}, "failed"),
        ({"status": {"code": "STATUS_CODE_OK", "message": "rate limit"}}, None),
        (
            {
                "status": {"code": "STATUS_CODE_ERROR", "message": ""},
                "events": [{"attributes": {"exception.message": "timed out"}}],
            },
            "timed out",
        ),
    ],
)
def test_a_span_of_mlflow_says_why_it_failed(told, error):
    trace = {"info": {"trace_id": "t"}, "data": {"spans": [{"span_id": "1", **told}]}}
    (span,) = mlflow_spans(trace, pytest.fail)
    assert span["error"] == error


def test_spans_are_named_where_none_searches(tmp_path, capsys):
    path = tmp_path / "runs.jsonl"
    runs = langsmith(("chain", "llm", "chain"), {}, "take_notes")
    path.write_text("".join(json.dumps(run) + "\n" for run in runs))
    words = ["convert", "--from", "langsmith", str(path), "--output", str(tmp_path / "t.jsonl")]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "its keys `search` and `tool_call`" in said
    assert "Most are named agent (1), take_notes (1)." in said
