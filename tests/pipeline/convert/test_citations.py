"""Citations in the outputs of models, from each format of spans."""

import json

import pytest

from goodgain.pipeline.convert.importing.answers.citations import cited_documents
from tests.pipeline.convert.importing import imported

A, B = "https://ex.org/a", "https://ex.org/b"
ANTHROPIC = {
    "content": [
        {"type": "text", "text": "Kites", "citations": [{"url": A, "cited_text": "Kites nest"}]},
        {"type": "text", "text": "fly.", "citations": [{"url": B}, {"url": A, "title": "A"}]},
    ]
}
CITATIONS = [{"type": "url_citation", "url": A}, {"type": "url_citation", "url": B}]
RESPONSES = {"output": [{"content": [{"type": "output_text", "annotations": CITATIONS}]}]}
COMPLETION = {
    "choices": [{"message": {"content": "x", "annotations": [{"url_citation": {"url": A}}]}}]
}
GEMINI = {
    "candidates": [
        {
            "groundingMetadata": {
                "groundingChunks": [
                    {"web": {"uri": A}},
                    {"web": {"uri": "x"}},
                    {"web": {"uri": B}},
                ],
                "groundingSupports": [
                    {"groundingChunkIndices": [2]},
                    {"groundingChunkIndices": [0, 2, 9]},
                ],
            }
        }
    ]
}
LANGCHAIN = {"generations": [[{"message": {"kwargs": ANTHROPIC}}]]}
OUTPUTS = {
    "anthropic": (ANTHROPIC, [A, B, A]),  # two passages of one page
    "responses": (RESPONSES, [A, B]),
    "completion": (COMPLETION, [A]),
    "gemini": (GEMINI, [B, A]),
    "langchain": (LANGCHAIN, [A, B, A]),
}
FOUND = [{"url": A, "text": "Kites nest"}]


def otlp(kind, id_, parent, start, given, output):
    kinds = {"model": "LLM", "tool": "TOOL"}
    attributes = {
        "openinference.span.kind": kinds.get(kind, "AGENT"), "tool.name": "search",
        "input.value": json.dumps(given), "output.value": json.dumps(output),
    }  # fmt: skip
    span = {"trace_id": "1" * 32, "span_id": f"{id_:016}", "name": kind, "start_time": start}
    above = {} if parent is None else {"parent_span_id": f"{parent:016}"}
    return span | above | {"end_time": start + 9, "attributes": attributes}


def langfuse(kind, id_, parent, start, given, output):
    types = {"model": "GENERATION", "tool": "TOOL"}
    return {
        "traceId": "t", "id": f"{id_}", "type": types.get(kind, "SPAN"), "name": "search",
        "parentObservationId": None if parent is None else f"{parent}", "startTime": start,
        "endTime": start + 9, "input": given, "output": output,
    }  # fmt: skip


def langsmith(kind, id_, parent, start, given, output):
    types = {"model": "llm", "tool": "tool"}
    return {
        "trace_id": "t", "id": f"{id_}", "run_type": types.get(kind, "chain"), "name": "search",
        "parent_run_id": None if parent is None else f"{parent}", "start_time": start,
        "end_time": start + 9, "inputs": given, "outputs": output,
    }  # fmt: skip


def mlflow(kind, id_, parent, start, given, output):
    types = {"model": "LLM", "tool": "TOOL"}
    attributes = {
        "mlflow.traceRequestId": '"t"', "mlflow.spanType": json.dumps(types.get(kind, "AGENT")),
        "mlflow.spanInputs": json.dumps(given), "mlflow.spanOutputs": json.dumps(output),
    }  # fmt: skip
    return {
        "trace_id": "t", "span_id": f"{id_}", "name": "search", "attributes": attributes,
        "parent_span_id": None if parent is None else f"{parent}", "start_time_unix_nano": start,
        "end_time_unix_nano": start + 9,
    }  # fmt: skip


def traced(writer, output, folder):
    """The records of an agent whose second step cites, inside a framework's span of a model."""
    second = 10**12
    spans = [
        writer("agent", 1, None, second, {}, {"answer": "x"}),
        writer("model", 2, 1, 2 * second, {}, {"content": "no"}),
        writer("tool", 3, 1, 3 * second, {"query": "kites"}, FOUND),
        writer("model", 4, 1, 4 * second, {}, output),
        writer("model", 5, 4, 4 * second + 100, {}, output),
    ]
    if writer is mlflow:
        spans = [{"info": {"trace_id": "t"}, "data": {"spans": spans}}]
    return imported(folder, spans, None, writer.__name__)


@pytest.mark.parametrize("writer", [otlp, langfuse, langsmith, mlflow])
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_output_of_a_model_cites(writer, output, tmp_path):
    given, urls = OUTPUTS[output]
    found, counts = traced(writer, given, tmp_path)
    assert [(one["action"], one["iteration"]) for one in found] == [("search", 1), ("cite", 2)]
    assert [one["url"] for one in found[1]["results"]] == urls
    assert found[1]["costs"] == {}
    assert counts.cites == 1
    if output == "anthropic":
        assert [one.get("snippet") for one in found[1]["results"]] == ["Kites nest", None, None]


@pytest.mark.parametrize(
    "output",
    [
        None,
        "a text about citations and grounding",
        {"citations": "three", "annotations": [1, {}], "groundingMetadata": []},
        {"groundingMetadata": {"groundingChunks": [{}], "groundingSupports": [1, {}]}},
        {"grounding_metadata": {"grounding_chunks": {}, "grounding_supports": 1}},
        {"groundingMetadata": {"groundingSupports": [{"groundingChunkIndices": 1}]}},
    ],
)
def test_outputs_that_cite_nothing(output):
    assert cited_documents(output) == []


def test_a_text_holds_the_response():
    assert cited_documents(json.dumps(json.dumps(RESPONSES))) == [{"url": A}, {"url": B}]
