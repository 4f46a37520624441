"""Tools are classified once for an import: as searches, as openings of documents, or neither."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.convert.importing import SPANS, actions, import_records

TOOLS = SPANS.replace("results: d\n", "arguments: a\nanswer: o\nerror: x\n")
DOCUMENTS = [{"id": "d1", "url": "https://ex.org/1"}, {"id": "d2", "url": "https://ex.org/2"}]
TEXT = "[One](https://ex.org/1)\nFirst.\n[Two](https://ex.org/2)\nSecond."


def calls_of(tool, *calls):
    """The spans of a trace whose calls have these arguments, answers and errors."""
    spans = [{"i": "R", "s": 0, "e": 99}]
    for at, (arguments, answer, *error) in enumerate(calls, 1):
        span = {"i": f"c{at}", "p": "R", "s": at, "e": at, "k": "tool", "n": tool}
        spans.append({**span, "a": arguments, "o": answer, "x": error[0] if error else None})
    return spans


def convert(folder, tool, *calls, mapping=TOOLS):
    """The action of the tool, and the numbers of results by call."""
    records, counts = import_records(folder, calls_of(tool, *calls), mapping)
    sizes = [(record["action"], len(record["results"])) for record in records]
    return actions(counts)[tool][0], sizes


@pytest.mark.parametrize(
    ("tool", "calls", "expected"),
    [
        ("kb", [({"query": "a"}, DOCUMENTS)], [2]),
        ("kb", [({"query": "a"}, DOCUMENTS), ({"query": "b"}, [])], [2, 0]),
        ("kb", [({"query": "a"}, json.dumps(DOCUMENTS)), ({"query": "b"}, "?")], [2, 0]),
        ("kb", [({"query": "a"}, [])], [0]),
        ("web_search", [({"query": "a"}, "No results found")], [0]),
        ("web_search", [({"query": "a"}, "Error: no network")], [0]),
        ("web_search", [({"query": "a"}, None, "no network")], [0]),
        ("WebSearchTool", [({"args": [], "kwargs": {"query": "a"}}, TEXT)], [2]),
        ("ask", [({"question": "a"}, TEXT)], [2]),
        ("list_events", [({"start": "2025"}, DOCUMENTS)], [2]),
        ("unknown", [(None, DOCUMENTS)], [2]),
        ("find_similar", [({"url": "https://ex.org"}, DOCUMENTS)], [2]),
        ("search_and_fetch", [({"query": "a", "url": "https://ex.org"}, DOCUMENTS)], [2]),
    ],
)
def test_searches(tmp_path, tool, calls, expected):
    action, sizes = convert(tmp_path, tool, *calls)
    assert (action, sizes) == ("search", [("search", size) for size in expected])


@pytest.mark.parametrize(
    ("tool", "calls", "expected"),
    [
        ("get_document", [({"docid": "d1"}, {"docid": "d1", "text": "long"})], [1]),
        ("fetch_url", [({"url": "https://ex.org/1"}, TEXT)], [1]),
        ("http", [({"url": "https://ex.org/1"}, "a page")], [1]),
        ("tavily_extract", [({"urls": ["https://a", "https://b"]}, {"results": DOCUMENTS})], [2]),
        ("extract", [({"urls": ["https://a"], "query": "q"}, {"results": DOCUMENTS[:1]})], [1]),
        ("exa_contents", [({"ids": ["https://a", "https://b"]}, {"results": DOCUMENTS})], [2]),
        ("read_page", [({"url": "https://ex.org/1", "query": "a"}, "a page")], [1]),
        ("lookup_by_id", [({"ids": ["d1", "d2"]}, DOCUMENTS)], [2]),
        ("fetch", [({"url": "https://ex.org/1"}, None, "404")], [0]),
        ("browser.open", [({"id": 3}, "a page")], [1]),
    ],
)  # fmt: skip
def test_openings(tmp_path, tool, calls, expected):
    records, counts = import_records(tmp_path, [*calls_of(tool, *calls), search_span()], TOOLS)
    opened = [record for record in records if record["action"] == "open"]
    assert actions(counts)[tool][0] == "open"
    assert [len(record["results"]) for record in opened] == expected
    assert counts.opens == len(opened)
    assert counts.calls == 1


def search_span():
    return {"i": "s", "p": "R", "s": 50, "e": 51, "k": "tool", "n": "kb", "a": {"query": "q"},
            "o": DOCUMENTS}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "calls"),
    [
        ("add", [({"a": 1}, "The sum is 3")]),
        ("add", [({"a": 1}, [{"type": "text", "text": "The sum is 3"}])]),
        ("calculator", [({"expression": "1+2"}, 3)]),
        ("write_file", [({"path": "a.txt", "content": "x"}, "done")]),
        ("list_names", [({}, [{"name": "Bob"}])]),
        ("report", [({"query": "a"}, "A long text without links.")]),
        ("send", [({"to": "x"}, "See https://ex.org/1 for more")]),
    ],
)
def test_neither(tmp_path, tool, calls):
    records, counts = import_records(tmp_path, [*calls_of(tool, *calls), search_span()], TOOLS)
    assert actions(counts)[tool][0] == "neither"
    assert [record["tool"] for record in records] == ["kb"]


def test_an_error_is_said_in_the_record(tmp_path):
    calls = [({"query": "a"}, DOCUMENTS), ({"query": "b"}, {"error": "rate limit"})]
    records, counts = import_records(
        tmp_path, calls_of("kb", *calls, ({"query": "c"}, [], "gone")), TOOLS
    )
    assert [record["error"] for record in records] == [None, "rate limit", "gone"]
    assert (counts.failed, counts.found_nothing) == (2, 0)


def test_an_opened_page_has_the_url_of_the_call_and_its_text(tmp_path):
    spans = [*calls_of("fetch", ({"url": "https://ex.org/1"}, "a page")), search_span()]
    records, _ = import_records(
        tmp_path,
        spans,
        TOOLS.replace("{id: id, url: url,", "{url: url_of(@), snippet: text_of(@),"),
    )
    assert records[0]["results"] == [{"url": "https://ex.org/1", "snippet": "a page"}]


def test_an_opening_is_in_the_iteration_of_its_step_and_leaves_costs_to_the_search(tmp_path):
    def at(start, kind, **more):
        return {"i": f"{start}", "p": "R", "s": start, "e": start, "k": kind, **more}

    spans = [
        {"i": "R", "s": 0, "e": 99},
        at(1, "model", tokens=5),
        at(2, "tool", n="kb", a={"query": "q"}, o=DOCUMENTS),
        at(3, "model", tokens=7),
        at(4, "tool", n="fetch", a={"url": "https://ex.org/1"}, o="page"),
        at(5, "model", tokens=9),
        at(6, "tool", n="kb", a={"query": "r"}, o=DOCUMENTS),
    ]
    records, counts = import_records(tmp_path, spans, TOOLS)
    assert [(record["iteration"], record["action"]) for record in records] == [
        (1, "search"), (2, "open"), (3, "search"),
    ]  # fmt: skip
    assert [record["costs"].get("tokens") for record in records] == [5, None, 16]
    assert (counts.iterations, counts.calls, counts.opens) == (2, 2, 1)


def test_wildcards_name_tools_and_say_what_they_matched(tmp_path):
    spans = [*calls_of("tool.search.web", ({"query": "a"}, DOCUMENTS)), search_span()]
    spans.append({**search_span(), "i": "o", "n": "page.get", "a": {"query": "q"}})
    mapping = TOOLS + "search_tools: [tool.search.*, nothing]\nopen_tools: ['page.*']\n"
    records, counts = import_records(tmp_path, spans, mapping)
    assert {record["tool"]: record["action"] for record in records} == {
        "tool.search.web": "search",
        "page.get": "open",
    }
    assert counts.tools["tool.search.web"].why == "search_tools: tool.search.*"
    assert counts.unmatched_patterns == ["search_tools: nothing"]
    assert counts.unconverted == {}


LISTS = [*calls_of("names", ({"query": "a"}, [{"name": "Bob"}])), search_span()]


def test_lists_that_are_left_out_end_with_3_and_a_remedy_that_works(tmp_path, capsys):
    (tmp_path / "spans.jsonl").write_text("".join(json.dumps(list_) + "\n" for list_ in LISTS))
    (tmp_path / "m.yaml").write_text(TOOLS)
    words = ["convert", "--from", "custom", str(tmp_path / "spans.jsonl"), "--output"]
    words += [str(tmp_path / "t.jsonl"), "--mapping", str(tmp_path / "m.yaml")]
    assert main(words) == 3
    captured = capsys.readouterr()
    assert "names" in captured.out
    assert "neither" in captured.out
    assert "1 call of tools that answered with lists was left out (names)" in captured.err
    assert "search_tools: [names]" in captured.err
    assert main([*words, "--allow-unconverted"]) == 0
    (tmp_path / "m.yaml").write_text(TOOLS.replace("{id: id,", "{snippet: text_of(@), id: id,")
                                     + "search_tools: [names, kb]\n")  # fmt: skip
    assert main(words) == 0
    records = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert [(record["tool"], record["results"][0].get("snippet")) for record in records] == [
        ("names", '{"name":"Bob"}'),
        ("kb", None),
    ]
