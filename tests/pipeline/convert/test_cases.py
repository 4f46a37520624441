"""Small traces of kinds that people have, and what must come out of each."""

import pytest

from tests.pipeline.convert.importing import FIXTURES, actions, imported_files

CASES = FIXTURES / "cases"


def shape(records):
    return [
        (one["tool"], one["iteration"], [result.get("url") for result in one["results"]])
        for one in records
    ]


def test_a_tool_message_holds_the_documents():
    records, _ = imported_files([CASES / "langgraph_tool_message.jsonl"], format="otlp")
    assert shape(records) == [("web_search", 1, ["https://ex.org/a"]), ("kb", 2, [None])]
    assert [record["costs"]["tokens"] for record in records] == [10, 20]


def test_a_block_of_mcp_is_no_document():
    records, counts = imported_files([CASES / "mcp_content_blocks.jsonl"], format="otlp")
    assert shape(records) == [("search", 1, ["https://ex.org/a", "https://ex.org/b"])]
    assert actions(counts) == {"add": ("neither", 1), "search": ("search", 1)}
    assert counts.unconverted == {}


@pytest.mark.parametrize(
    ("name", "found_nothing"), [("tool_works.jsonl", 0), ("tool_always_empty.jsonl", 2)]
)
def test_a_search_that_finds_nothing_is_a_search(name, found_nothing):
    records, counts = imported_files([CASES / name], format="otlp")
    assert [record["iteration"] for record in records] == [1, 2, 3]
    assert counts.found_nothing == found_nothing


def test_links_of_a_text_are_results():
    records, _ = imported_files([CASES / "markdown_results.jsonl"], format="otlp")
    (record,) = records
    assert record["query"] == "red kites"
    assert [(one["url"], one["title"], one["snippet"]) for one in record["results"]] == [
        ("https://ex.org/a", "Red kite", "Kites nest in tall trees near open country in spring."),
        ("https://ex.org/b", "Black kite", "It is seen near water in most summers."),
    ]
