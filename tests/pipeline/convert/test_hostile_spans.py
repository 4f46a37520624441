"""Malformed OpenTelemetry spans: each becomes a call, or is counted as skipped."""

import base64
import json

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset, read_manifest
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.pipeline.convert.importing import import_and_count

TRACE = "0af7651916cd43dd8448eb211c80319c"
OTHER_TRACE = "ffffffffffffffffffffffffffffff01"
ROOT, FIRST, SECOND, THIRD = (f"b7ad6b716920333{number}" for number in range(4))


def attribute(key, value):
    if isinstance(value, list):
        objects = [
            {"kvlistValue": {"values": [attribute(*entry) for entry in document.items()]}}
            for document in value
        ]
        return {"key": key, "value": {"arrayValue": {"values": objects}}}
    kind = {int: "intValue", float: "doubleValue", str: "stringValue"}[type(value)]
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(name, parent, start, attributes, trace=TRACE):
    return {
        "traceId": trace,
        "spanId": name,
        "parentSpanId": parent,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1_000_000),
        "attributes": [attribute(*entry) for entry in attributes.items()],
    }


def base64_of(digits):
    return base64.b64encode(bytes.fromhex(digits)).decode()


def openinference(query, names=()):
    indexed = {
        f"retrieval.documents.{at}.document.id": name
        # Attributes are in no order, and as text 10 sorts before 2.
        for at, name in sorted(enumerate(names), key=lambda one: str(one[0]), reverse=True)
    }
    return {"openinference.span.kind": "RETRIEVER", "input.value": query, **indexed}


def gen_ai(query, documents):
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": query,
        "gen_ai.retrieval.documents": documents,
    }


def request(*spans):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


NAMES = [f"d{number}" for number in range(12)]
BOTH = {
    **openinference("both", NAMES),
    **gen_ai("both", json.dumps([{"id": name, "score": 0.5} for name in NAMES])),
}
AGENT = {"openinference.span.kind": "AGENT", "session.id": "session"}
CUT_OFF = '[{"id": "whole", "score": 0.5}, {"id": "of th'
SPANS = [
    span(ROOT, "", 1_000, AGENT),
    span(FIRST, ROOT, 2_000, BOTH),
    span(FIRST, ROOT, 2_000, BOTH),  # exported twice
    span(SECOND, SECOND, 3_000, gen_ai("its own parent", [{"id": "a"}, {"id": "b"}])),
    span(THIRD, base64_of(ROOT), 4_000, gen_ai("cut off", CUT_OFF), base64_of(TRACE)),
    span(FIRST, "00f067aa0ba902b7", 5_000, openinference("orphan"), OTHER_TRACE.upper()),
    {**span(SECOND, "", 6_000, AGENT, OTHER_TRACE), "startTimeUnixNano": "soon"},
    {"spanId": FIRST, "attributes": None},
]
FOUND = {
    "both": NAMES,
    "its own parent": ["a", "b"],
    "cut off": ["whole"],
    "orphan": [],
}


def find_in(path):
    """By query, the ids of the imported results; also the counts and the records."""
    records, counts = import_and_count([path], format="otlp")
    for record in records:
        parse_mapping(record)
    queries = {
        record["query"]: [result["id"] for result in record["results"]] for record in records
    }
    assert len(queries) == len(records)  # each search once
    return queries, counts, records


@pytest.mark.parametrize("lines", [True, False], ids=["lines", "document"])
def test_each_search_becomes_one_call_and_the_rest_is_counted(tmp_path, lines):
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(request(*SPANS), indent=None if lines else 1))
    found, counts, records = find_in(path)
    assert found == FOUND
    by_query = {record["query"]: record for record in records}
    assert by_query["cut off"]["conversation_id"] == "session"
    assert by_query["cut off"]["record_id"] == f"{TRACE}/{THIRD}"
    assert by_query["orphan"]["conversation_id"] == OTHER_TRACE
    assert (counts.repeated, counts.parent_missing) == (1, 1)
    assert {reason: skipped.count for reason, skipped in counts.skipped.items()} == {
        "a span without a readable start time": 1,
        "a record without a trace id": 1,
    }


def test_truncated_documents_and_invalid_lines_are_counted(tmp_path):
    whole = json.dumps(request(*SPANS[:4]), indent=1)
    path = tmp_path / "document.json"
    path.write_text(whole[: whole.index("its own parent")])
    found, counts, _ = find_in(path)
    assert found == {"both": NAMES}
    assert sum(skipped.count for skipped in counts.skipped.values()) == 1
    path = tmp_path / "lines.jsonl"
    line = json.dumps(request(*SPANS[:2]))
    path.write_text(f"{line}\n{line[:500]}\n\n17\n{json.dumps(request(SPANS[3]))}")
    found, counts, _ = find_in(path)
    assert found == {name: FOUND[name] for name in ("both", "its own parent")}
    assert {reason: skipped.example for reason, skipped in counts.skipped.items()} == {
        "text that is not JSON": f"{path}: line 2",
        "JSON that is not an object": f"{path}: line 4",
    }


def test_labels_by_span_and_position_find_their_results(tmp_path):
    """As in Phoenix: the id of the span, and the position of the document in it from 0."""
    spans, traces, labels = (tmp_path / name for name in ("spans.json", "t.jsonl", "labels.csv"))
    spans.write_text(json.dumps(request(*SPANS[:4])))
    assert main(["convert", "--from", "otlp", str(spans), "--output", str(traces)]) == 0
    labels.write_text(
        f"context.span_id,document_position,label\n{FIRST},10,4\n{FIRST},0,1\n{SECOND},1,2\n"
        f"{SECOND},2,2\n{ROOT},0,3\n"
    )
    words = ["--input", str(traces), "--labels", str(labels), "--output", str(tmp_path / "out")]
    assert main(["run", *words, "--write-duplicates"]) == 0
    (row,) = read_dataset(str(tmp_path / "out"), "conversations")
    assert (row["CG"], row["GR"], row["unlabelled"]) == (4 + 2, 2, 14 - 3)
    counts = read_manifest(str(tmp_path / "out"))["labels"]
    assert (counts["joined"], counts["rejected"]) == (3, 2)


@pytest.mark.parametrize("indent", [None, 1])
def test_entries_that_are_not_spans_are_counted(tmp_path, indent):
    # With line breaks the document is streamed, without them it is read as one line.
    one = span(FIRST, "", 1, openinference("q", ["a"]))
    group = {"scopeSpans": [{"spans": [one, 5, "x", None, ["y", {"z": 1}]]}, 7]}
    path = tmp_path / "spans.json"
    path.write_text(json.dumps({"resourceSpans": [group, "not a group"]}, indent=indent))
    records, counts = import_and_count([path], format="otlp")
    assert [record["query"] for record in records] == ["q"]
    assert {reason: found.count for reason, found in counts.skipped.items()} == {
        "a span that is not an object": 4,
        "a group of spans that is not an object": 2,
    }


@pytest.mark.parametrize(
    ("format", "record", "reason"),
    [
        ("mlflow", {"info": {"trace_id": "t"}, "data": {"spans": [5]}}, "a span"),
        ("langfuse", {"id": "t", "observations": [None]}, "an observation"),
        ("langsmith", {"id": "r", "trace_id": "t", "child_runs": ["x"]}, "a run"),
        ("browsecomp-plus", {"query_id": "1", "result": [[]]}, "a step"),
    ],
)
def test_parts_that_are_not_objects_are_counted(tmp_path, format, record, reason):
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(record) + "\n")
    _, counts = import_and_count([path], format=format)
    assert counts.skipped[f"{reason} that is not an object"].count == 1


@pytest.mark.parametrize(
    ("format", "record", "reason"),
    [
        ("mlflow", [5], "JSON that holds no data.spans"),
        ("mlflow", {"info": 5, "data": {"spans": [{}]}}, "a record without a trace id"),
        ("mlflow", {"data": {"spans": [{"context": "x"}]}}, "a record without a trace id"),
        (
            "mlflow",
            {"info": {"tags": [{"key": [1]}]}, "data": {"spans": [{}]}},
            "a record without a trace id",
        ),
    ],
)
def test_values_that_are_not_objects_are_ignored(tmp_path, format, record, reason):
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(record) + "\n")
    _, counts = import_and_count([path], format=format)
    assert counts.skipped[reason].count == 1


@pytest.mark.parametrize(
    "attribute",
    [
        {"key": [1], "value": {"stringValue": "x"}},
        {"key": "x", "value": {"arrayValue": [1]}},
        {"key": "x", "value": {"kvlistValue": "y"}},
    ],
)
def test_malformed_attributes_leave_their_span_usable(tmp_path, attribute):
    one = span(FIRST, "", 1, openinference("q", ["a"]))
    one["attributes"].append(attribute)
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}) + "\n")
    records, _ = import_and_count([path], format="otlp")
    assert [record["query"] for record in records] == ["q"]
