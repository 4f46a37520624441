"""Citations in the outputs of models, from each format of spans."""

import json

import pytest

from goodgain.pipeline.convert.importing.answers.citations import find_cited_documents
from tests.pipeline.convert.importing import import_records
from tests.pipeline.convert.written_spans import WRITERS, agent

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


def trace(format, output, folder):
    """The records of an agent whose second step cites, inside a framework's span of a model."""
    steps = [
        ("model", 2, 1, {}, {"content": "no"}), ("tool", 3, 1, {"query": "kites"}, FOUND),
        ("model", 4, 1, {}, output), ("model", 5, 4, {}, output),
    ]  # fmt: skip
    return import_records(folder, agent(format, steps), None, format)


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("output", OUTPUTS)
def test_the_output_of_a_model_cites(format, output, tmp_path):
    given, urls = OUTPUTS[output]
    found, counts = trace(format, given, tmp_path)
    # Grounding is a search by the provider, too.
    searched = [("search", 2)] if output == "gemini" else []
    assert [(record["action"], record["iteration"]) for record in found] == [
        ("search", 1), *searched, ("cite", 2),
    ]  # fmt: skip
    cited = found[-1]
    assert [result["url"] for result in cited["results"]] == urls
    assert cited["costs"] == {}
    assert counts.cites == 1
    if output == "anthropic":
        assert [result.get("snippet") for result in cited["results"]] == ["Kites nest", None, None]


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
    assert find_cited_documents(output) == []


def test_a_text_holds_the_response():
    assert find_cited_documents(json.dumps(json.dumps(RESPONSES))) == [{"url": A}, {"url": B}]
