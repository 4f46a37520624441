"""Langfuse's observations of frameworks: kinds in the metadata, events of calls, nested usage."""

import pytest

from goodgain.pipeline.convert.importing.mapping_file import read_shipped_mapping
from tests.pipeline.convert.importing import actions, import_records

FOUND = [{"url": "https://ex.org/a", "title": "A", "content": "text"}]
QUERY = {"query": "kites"}
MODEL = {"usageDetails": {"input": 10, "output": 2, "total": 12}}


def observation(id_, parent, name, start, end, kind=None, tool=None, **rest):
    """A row of type SPAN, whose kind stands in the attributes in its metadata."""
    attributes = {"openinference.span.kind": kind, "tool.name": tool}
    return {
        "id": id_,
        "traceId": "t",
        "parentObservationId": parent,
        "type": "SPAN",
        "name": name,
        "startTime": f"2026-01-01T00:00:{start:02}.000Z",
        "endTime": f"2026-01-01T00:00:{end:02}.000Z",
        "sessionId": "s",
        "metadata": {"attributes": {k: v for k, v in attributes.items() if v}},
        **rest,
    }


def convert(folder, *rows):
    agent = observation("r", None, "agent", 0, 20, "AGENT")
    step = observation("m", "r", "chat", 1, 2, "LLM", **MODEL)
    return import_records(
        folder, [agent, step, *rows], read_shipped_mapping("langfuse"), "langfuse"
    )


EVENTS = {
    "inside the call": [
        observation("c", "r", "web_search", 3, 7, "TOOL", input=QUERY, output=FOUND),
        observation("e1", "c", "web_search.start", 3, 3, "TOOL", input=QUERY),
        observation("e2", "c", "web_search.update", 5, 5, "TOOL", output=FOUND),
        observation("e3", "c", "web_search.finish", 7, 7, "TOOL", input=QUERY, output=FOUND),
    ],
    "beside each other": [
        observation("e1", "r", "web_search.start", 3, 3, "TOOL", input=QUERY),
        observation("e2", "r", "web_search.update", 5, 5, "TOOL", output=FOUND),
        observation("e3", "r", "web_search.finish", 7, 7, "TOOL"),
    ],
    "numbered": [
        observation("e1", "r", "start-1", 3, 3, "tool", "web_search", input=QUERY),
        observation("e2", "r", "success-1", 5, 5, "tool", "web_search", output=FOUND),
        observation("e3", "r", "finish-1", 7, 7, "tool", "web_search"),
    ],
}


@pytest.mark.parametrize("events", EVENTS.values(), ids=EVENTS)
def test_events_of_a_call_count_once(tmp_path, events):
    again = [
        observation("f1", "r", "web_search.start", 9, 9, "TOOL", input={"query": "food"}),
        observation("f2", "r", "web_search.finish", 10, 10, "TOOL", output=[]),
    ]
    records, counts = convert(tmp_path, *events, *again)
    assert actions(counts) == {"web_search": ("search", 2)}
    assert [(record["query"], record["tool"], len(record["results"])) for record in records] == [
        ("kites", "web_search", 1),
        ("food", "web_search", 0),
    ]
    assert records[0]["costs"] == {"milliseconds": 1000 + 4000, "tokens": 12}


def test_tools_that_are_named_like_events_stay_apart(tmp_path):
    rows = [
        observation("c", "r", "docs.search", 3, 4, "TOOL", input=QUERY, output=FOUND),
        observation("d", "r", "docs.update", 5, 6, "TOOL", input={"id": "a"}, output="done"),
    ]
    _, counts = convert(tmp_path, *rows)
    assert actions(counts) == {"docs.search": ("search", 1), "docs.update": ("neither", 1)}


@pytest.mark.parametrize(
    "outer", [{}, {"usageDetails": {"total": 15}, "costDetails": {"total": 3}}]
)
def test_usage_of_nested_generations_is_the_inner_one(tmp_path, outer):
    inner = {"usageDetails": {"total": 12}, "costDetails": {"total": 2}}
    rows = [
        observation("r", None, "agent", 0, 20),
        observation("o", "r", "ChatOpenAI", 1, 3) | {"type": "GENERATION", **outer},
        observation("i", "o", "OpenAI-generation", 1, 3) | {"type": "GENERATION", **inner},
        observation("c", "r", "web_search", 3, 4, "TOOL", input=QUERY, output=FOUND),
    ]
    (record,), _ = import_records(tmp_path, rows, read_shipped_mapping("langfuse"), "langfuse")
    assert (record["iteration"], record["costs"]) == (
        1,
        {"milliseconds": 3000, "tokens": 12, "usd": 2},
    )


@pytest.mark.parametrize(
    ("usage", "tokens", "cached"),
    [
        ({"usage": {"input": 10, "output": 2, "total": 12, "unit": "TOKENS"}}, 12, None),
        ({"usageDetails": {"input": 10, "output": 2}}, 12, None),
        ({"usageDetails": {"input": 1, "output": 2, "cache_read_input_tokens": 9}}, 12, 9),
        ({"usageDetails": {"input": 1, "output": 2, "total": 12, "input_cached_tokens": 9}}, 12, 9),
    ],
)
def test_usage_in_the_shapes_of_langfuse(tmp_path, usage, tokens, cached):
    rows = [
        observation("r", None, "agent", 0, 20),
        observation("m", "r", "chat", 1, 2, "LLM", **usage),
        observation("c", "r", "web_search", 3, 4, "TOOL", input=QUERY, output=FOUND),
    ]
    (record,), _ = import_records(tmp_path, rows, read_shipped_mapping("langfuse"), "langfuse")
    assert (record["costs"]["tokens"], record["costs"].get("tokens_cached")) == (tokens, cached)
