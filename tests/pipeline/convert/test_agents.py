"""Traces that the instrumentations of real libraries wrote, all of the same agent, are equal.

`fixtures/agents/told.py` says what the agent does; `make_fixtures.py` beside it writes the traces.
"""

import pytest

from tests.core.direct import score
from tests.pipeline.convert.fixtures.agents import told
from tests.pipeline.convert.importing import FIXTURES, actions, import_and_count

TRACES = {
    "openinference_langgraph": "otlp",
    "traceloop_langgraph": "otlp",
    "pydantic_ai_2": "otlp",
    "pydantic_ai_5": "otlp",
    "langsmith_langgraph": "langsmith",
    "langfuse_langgraph": "langfuse",
    "mlflow_autolog": "mlflow",
    "smolagents": "otlp",
    "llama_index": "otlp",
    "strands": "otlp",
    "haystack": "otlp",
    "ai_sdk": "otlp",
}
RED, KITES, BLACK = (told.PAGES[name][0] for name in ("red", "kites", "black"))
# Iteration, call, action, tool, query, URLs, and tokens: those of the step that asks for the call,
# and of a step that only opened a page since the last search.
CALLS = [
    (1, 0, "search", "web_search", "red kites", [RED, KITES], 120),
    (1, 1, "search", "web_search", "black kites", [BLACK, KITES], 0),
    (2, 0, "search", "web_search", "kite food", [], 210),
    (3, 0, "search", "web_search", "Red kites", [RED, KITES], 315),
    (4, 0, "open", "fetch_page", None, [RED], None),
    (5, 0, "search", "web_search", "nests", [], 410 + 510),
]


@pytest.fixture(params=TRACES)
def converted(request):
    path = FIXTURES / "agents" / f"{request.param}.jsonl.gz"
    return import_and_count([path], format=TRACES[request.param])


def test_calls_of_all_libraries_are_equal(converted):
    records, _ = converted
    assert {(record["conversation_id"], record["turn"]) for record in records} == {
        (told.CONVERSATION, 1)
    }
    assert [
        (
            record["iteration"],
            record["call"],
            record["action"],
            record["tool"],
            record["query"],
            [result["url"] for result in record["results"]],
            record["costs"].get("tokens"),
        )
        for record in records
    ] == CALLS
    assert all(record["costs"]["milliseconds"] > 0 for record in records)


def test_texts_and_errors_are_read(converted):
    records, _ = converted
    first, *_, opened, failed = records
    assert [result["title"] for result in first["results"]] == ["Red kite", "Kites"]
    assert [result["snippet"] for result in first["results"]] == [
        told.PAGES["red"][2],
        told.PAGES["kites"][2],
    ]
    assert [result["snippet"] for result in opened["results"]] == [told.PAGES["red"][2]]
    assert [record["error"] is None for record in records] == [True] * 5 + [False]
    assert "the index is not reachable" in failed["error"]
    assert "Traceback" not in failed["error"]


def test_tools_are_classified_and_nothing_is_left_out(converted):
    _, counts = converted
    found = actions(counts)
    found.pop("final_answer", None)  # a tool of smolagents
    assert found == {"web_search": ("search", 5), "fetch_page": ("open", 1), "add": ("neither", 1)}
    assert counts.unconverted == {}
    assert counts.skipped == {}


def test_metrics_are_those_of_the_agent(converted):
    records, _ = converted
    row = score(records)[told.CONVERSATION].conversation
    assert (row.N, row.calls, row.R, row.UR, row.R - row.UR) == (4, 5, 6, 3, 3)
    assert sum(record["costs"].get("tokens", 0) for record in records) == 1565
