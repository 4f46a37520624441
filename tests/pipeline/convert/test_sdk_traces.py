"""Traces that SDKs of other tools wrote become conversations with known numbers.

All traces record the same scenario, `fixtures/scenario.py`.
"""

import json

import pytest

from goodgain.pipeline.__main__ import main
from tests.core.direct import score
from tests.pipeline.convert.importing import FIXTURES, actions, import_and_count, places
from tests.pipeline.convert.steps import records_of

# The scenario's price of a prompt token; a completion token costs four times as much.
USD_PER_TOKEN = 2.0**-20
CASES = {
    "openinference": ("otlp", "otlp_openinference.jsonl"),
    "gen_ai": ("otlp", "otlp_gen_ai.jsonl"),
    "both_dialects": ("otlp", "otlp_both.jsonl"),
    "base64": ("otlp", "otlp_base64.json"),
    "langfuse": ("langfuse", "langfuse_blob.jsonl"),
    "langsmith": ("langsmith", "langsmith.jsonl"),
    "mlflow": ("mlflow", "mlflow.jsonl"),
}
MUSEUMS = [
    (1, 0, "museum Oslo", ["m1", "m2"]),
    (2, 0, "munch museum", ["m1", "m3"]),
    (2, 1, "opening hours", []),
    (3, 0, "ferry to museums", ["f1", "m3"]),
]


@pytest.fixture(params=CASES.values(), ids=CASES)
def converted(request):
    format, name = request.param
    records, counts = import_and_count([FIXTURES / name], format=format)
    by_conversation = {}
    for record in records:
        by_conversation.setdefault(record["conversation_id"], []).append(record)
    return by_conversation, counts


def shape(records):
    return [
        (r["iteration"], r["call"], r["query"], [result["id"] for result in r["results"]])
        for r in records
    ]


class TestEverySdk:
    def test_calls_are_in_the_iterations_of_the_scenario(self, converted):
        conversations, _ = converted
        first, *last = conversations["trip-42"]
        assert (first["turn"], shape([first])) == (1, [(1, 0, "weather Oslo", ["w1"])])
        assert {record["turn"] for record in last} == {2}
        assert shape(last) == MUSEUMS
        (alone,) = [name for name in conversations if name != "trip-42"]
        assert shape(conversations[alone]) == [(1, 0, "solo", ["x1", "x2"])]
        assert conversations[alone][0]["attributes"]["trace_id"] == alone
        assert {record["attributes"]["session_id"] for record in last} == {"trip-42"}

    def test_conversation_rows_have_the_numbers_of_the_scenario(self, converted):
        conversations, _ = converted
        scores = score([record for records in conversations.values() for record in records])
        row = scores.pop("trip-42").conversation
        assert (row.turn, row.N, row.calls, row.R, row.UR, row.DupR) == (2, 3, 4, 6, 4, 2)
        (alone,) = scores.values()
        row = alone.conversation
        assert (row.turn, row.N, row.calls, row.R, row.UR, row.DupR) == (1, 1, 1, 2, 2, 0)

    def test_costs_include_the_steps_before_a_search(self, converted):
        conversations, _ = converted
        costs = [record["costs"] for record in conversations["trip-42"][1:]]
        assert [cost["tokens"] for cost in costs] == [230, 340, 0, 450 + 12]
        # Three include 2 s of the model; the last search took as long as the tool around it.
        assert [cost["milliseconds"] for cost in costs] == [2250, 2500, 125, 3000]

    def test_counts_describe_the_import(self, converted):
        _, counts = converted
        assert (counts.records, counts.conversations, counts.turns) == (18, 2, 3)
        assert (counts.iterations, counts.calls, counts.results) == (5, 6, 9)
        assert counts.found_nothing + counts.documents_not_recorded == 1
        assert counts.counted_once == 1
        assert actions(counts) == {"search_web": ("search", 1), "calculator": ("neither", 1)}
        assert counts.skipped == {}

    def test_results_have_url_title_text_and_score(self, converted):
        conversations, _ = converted
        result = conversations["trip-42"][1]["results"][1]
        assert result["url"] == "https://museum.example/viking"
        assert result["title"] == "Vikings"
        assert result.get("score") in (0.875, None)  # MLflow's own metadata names no score
        assert result.get("snippet") in ("The Viking ship museum is closed.", None)


@pytest.mark.parametrize(
    ("format", "name", "tokens"),
    [("otlp", "otlp_openinference.jsonl", 320), ("langfuse", "langfuse_blob.jsonl", 320)],
)
def test_cost_in_usd_is_exact(format, name, tokens):
    records, _ = import_and_count([FIXTURES / name], format=format)
    (first,) = [record for record in records if record["query"] == "museum Oslo"]
    assert first["costs"]["usd"] == tokens * USD_PER_TOKEN


def test_langfuse_trace_saved_from_its_screen():
    records, counts = import_and_count([FIXTURES / "langfuse_screen.json"], format="langfuse")
    assert shape(records) == MUSEUMS
    assert {record["conversation_id"] for record in records} == {"trip-42"}
    assert counts.records == 12


def test_langfuse_sessions_that_only_trace_rows_name(tmp_path):
    rows = records_of(FIXTURES / "langfuse_blob.jsonl")
    sessions = {row["trace_id"]: row.pop("session_id", None) for row in rows}
    traces = [
        {"id": id_, "timestamp": "2025-10-09 08:53:20.000000", "session_id": session}
        for id_, session in sessions.items()
    ]
    (tmp_path / "observations.json").write_text(json.dumps(rows))
    (tmp_path / "traces.jsonl").write_text("".join(json.dumps(row) + "\n" for row in traces))
    whole, _ = import_and_count([FIXTURES / "langfuse_blob.jsonl"], format="langfuse")
    joined, _ = import_and_count(sorted(tmp_path.iterdir()), format="langfuse")
    assert joined == whole


def test_mlflow_types_may_be_encoded_twice(tmp_path):
    traces = records_of(FIXTURES / "mlflow.jsonl")
    for trace in traces:
        for span in trace["data"]["spans"]:
            attributes = span["attributes"]
            attributes["mlflow.spanType"] = json.dumps(attributes["mlflow.spanType"])
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(traces))
    whole, _ = import_and_count([FIXTURES / "mlflow.jsonl"], format="mlflow")
    assert import_and_count([path], format="mlflow")[0] == whole


def test_gen_ai_documents_may_be_an_array_value(tmp_path):
    def any_value(value):
        if isinstance(value, list):
            return {"arrayValue": {"values": [any_value(part) for part in value]}}
        if isinstance(value, dict):
            pairs = [{"key": key, "value": any_value(part)} for key, part in value.items()]
            return {"kvlistValue": {"values": pairs}}
        return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}

    requests = records_of(FIXTURES / "otlp_gen_ai.jsonl")
    for request in requests:
        for span in request["resourceSpans"][0]["scopeSpans"][0]["spans"]:
            for pair in span["attributes"]:
                if pair["key"] == "gen_ai.retrieval.documents":
                    pair["value"] = any_value(json.loads(pair["value"]["stringValue"]))
    path = tmp_path / "array.jsonl"
    path.write_text("".join(json.dumps(request) + "\n" for request in requests))
    whole, _ = import_and_count([FIXTURES / "otlp_gen_ai.jsonl"], format="otlp")
    assert import_and_count([path], format="otlp")[0] == whole


class TestBrowseCompPlus:
    def test_reasoning_starts_a_new_iteration(self):
        files = sorted((FIXTURES / "browsecomp_plus").iterdir())
        found, counts = import_and_count(files, format="browsecomp-plus")
        records = [record for record in found if record["action"] == "search"]
        assert places(records) == [
            ("769", 1, 1, 0, "museum Oslo"),
            ("769", 1, 2, 0, "munch museum"),
            ("769", 1, 2, 1, "opening hours"),
            ("769", 1, 4, 1, "ferry to museums"),
            ("770", 1, 1, 0, "solo"),
            ("770", 1, 2, 0, "solo again"),  # no reasoning: each search is an iteration
        ]
        assert [result["ids"] for result in records[3]["results"]] == [{"doc_id": "f1"}]
        assert counts.cut_off == 1
        assert actions(counts)["get_document"] == ("open", 1)
        (opened,) = [record for record in found if record["action"] == "open"]
        assert [result["ids"] for result in opened["results"]] == [{"doc_id": "m1"}]
        rows = score(records)
        assert (rows["769"].conversation.N, rows["769"].conversation.DupR) == (3, 1)
        assert (rows["770"].conversation.N, rows["770"].conversation.DupR) == (2, 1)

    def test_rejects_a_run_with_only_a_set_of_docids(self, tmp_path, capsys):
        run = tmp_path / "run.json"
        run.write_text(json.dumps({"query_id": "1", "retrieved_docids": ["a", "b"]}, indent=1))
        output = tmp_path / "t.jsonl"
        words = ["--from", "browsecomp-plus", str(run), "--output", str(output)]
        assert main(["convert", *words]) == 2
        assert "only retrieved_docids: a set" in capsys.readouterr().err
        assert not output.exists()

    def test_rejects_two_runs_of_the_same_query(self, tmp_path, capsys):
        run = FIXTURES / "browsecomp_plus" / "run_770.json"
        (tmp_path / "again.json").write_text(run.read_text())
        words = ["--from", "browsecomp-plus", str(run), str(tmp_path / "again.json")]
        assert main(["convert", *words, "--output", str(tmp_path / "t.jsonl")]) == 2
        error = capsys.readouterr().err
        assert "Query 770 occurs in two of these runs" in error
        assert f"{run}: record 1" in error
        assert f"{tmp_path / 'again.json'}: record 1" in error


@pytest.mark.parametrize("suffix", ["parquet", "avro", "jsonl.gz"])
@pytest.mark.parametrize(("format", "name"), CASES.values(), ids=CASES)
def test_converted_traces_pass_validate(tmp_path, format, name, suffix, capsys):
    output = tmp_path / f"traces.{suffix}"
    words = ["--from", format, str(FIXTURES / name), "--output", str(output)]
    assert main(["convert", *words]) == 0
    assert "2 conversations, 3 turns, 5 iterations, 6 calls, 9 results" in capsys.readouterr().out
    assert main(["validate", str(output), "--max-rejected", "0"]) == 0
    assert "0 of 6 records are rejected" in capsys.readouterr().out
