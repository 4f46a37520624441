"""Small traces of kinds that people have, and what must come out of each."""

import csv
import json
import sys

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.importing.mapping_file import read_shipped_mapping
from goodgain.pipeline.results.pool_store import read_pool
from tests.pipeline.convert.importing import FIXTURES, actions, import_and_count

CASES = FIXTURES / "cases"


def shape(records):
    return [
        (record["tool"], record["iteration"], [result.get("url") for result in record["results"]])
        for record in records
    ]


def test_a_tool_message_holds_the_documents():
    records, _ = import_and_count([CASES / "langgraph_tool_message.jsonl"], format="otlp")
    assert shape(records) == [("web_search", 1, ["https://ex.org/a"]), ("kb", 2, [None])]
    assert [record["costs"]["tokens"] for record in records] == [10, 20]


def test_a_block_of_mcp_is_no_document():
    records, counts = import_and_count([CASES / "mcp_content_blocks.jsonl"], format="otlp")
    assert shape(records) == [("search", 1, ["https://ex.org/a", "https://ex.org/b"])]
    assert actions(counts) == {"add": ("neither", 1), "search": ("search", 1)}
    assert counts.unconverted == {}


@pytest.mark.parametrize(
    ("name", "found_nothing"), [("tool_works.jsonl", 0), ("tool_always_empty.jsonl", 2)]
)
def test_a_search_that_finds_nothing_is_a_search(name, found_nothing):
    records, counts = import_and_count([CASES / name], format="otlp")
    assert [record["iteration"] for record in records] == [1, 2, 3]
    assert counts.found_nothing == found_nothing


def test_links_of_a_text_are_results():
    records, _ = import_and_count([CASES / "markdown_results.jsonl"], format="otlp")
    (record,) = records
    assert record["query"] == "red kites"
    assert [
        (result["url"], result["title"], result["snippet"]) for result in record["results"]
    ] == [
        ("https://ex.org/a", "Red kite", "Kites nest in tall trees near open country in spring."),
        ("https://ex.org/b", "Black kite", "It is seen near water in most summers."),
    ]


def test_documents_without_a_kind_are_a_search():
    (record,), counts = import_and_count([CASES / "no_kind_but_documents.jsonl"], format="otlp")
    assert [result["id"] for result in record["results"]] == ["d1", "d2"]
    assert (record["query"], counts.calls) == ("kites", 1)


def test_langfuse_spans_have_their_kind_in_metadata():
    (record,), _ = import_and_count([CASES / "langfuse_span_tool.jsonl"], format="langfuse")
    assert shape([record]) == [("duckduckgo_search", 1, ["https://ex.org/a"])]
    assert record["results"][0]["snippet"].startswith("Kites nest in tall trees")
    assert record["query"] == "red kites"


def convert_cases(capsys, tmp_path, *words):
    """The exit code, what is said, and the records, of a conversion of cases."""
    output = tmp_path / "o.jsonl"
    paths = [str(CASES / word) if (CASES / word).is_file() else word for word in words]
    code = main(["convert", *paths, "--output", str(output)])
    records = output.read_text().splitlines() if output.exists() else []
    captured = capsys.readouterr()
    return code, captured.out + captured.err, list(map(json.loads, records))


OUT_OF_RANGE = "a span whose start time is out of range (nanoseconds? see time_unit)"


def test_times_out_of_range_skip_their_span(tmp_path, capsys):
    name = "nanoseconds_as_milliseconds"
    words = ["--from", "custom", f"{name}.jsonl", "--mapping", f"{name}.yaml"]
    code, said, _ = convert_cases(capsys, tmp_path, *words)
    assert (code, said.count("\n")) == (2, 1)
    assert OUT_OF_RANGE in said
    code, said, records = convert_cases(capsys, tmp_path, "--from", "otlp", "time_too_large.jsonl")
    assert code == 0
    assert f"1  skipped: {OUT_OF_RANGE}" in said
    assert len(records) == 1


@pytest.mark.parametrize("name", ["first_line_torn.jsonl", "last_line_torn.jsonl"])
def test_a_torn_line_costs_itself(tmp_path, capsys, name):
    code, said, records = convert_cases(capsys, tmp_path, "--from", "otlp", name)
    assert (code, len(records)) == (0, 4)
    assert "1  skipped: text that is not JSON" in said


@pytest.mark.parametrize("first", [b"INFO starting\n", b"\xff\xfe{\n", b'{"a": \xff}\n', b"[[1\n"])
def test_an_odd_first_line_costs_itself(tmp_path, first):
    lines = (CASES / "last_line_torn.jsonl").read_bytes().splitlines(keepends=True)[:4]
    path = tmp_path / "odd.jsonl"
    path.write_bytes(first + b"".join(lines))
    records, counts = import_and_count([path], format="otlp")
    assert len(records) == 4
    assert counts.skipped["text that is not JSON"].count == 1


def test_a_run_with_an_answer_only_has_no_calls(tmp_path, capsys):
    words = ["--from", "browsecomp-plus", "union_only_with_answer.json"]
    code, said, _ = convert_cases(capsys, tmp_path, *words)
    assert code == 2
    assert "a run with only retrieved_docids: a set" in said


def test_each_that_finds_nothing_is_said(tmp_path, capsys):
    (tmp_path / "m.yaml").write_text(read_shipped_mapping("custom"))
    words = ["--from", "custom", "each_finds_nothing.jsonl", "--mapping", str(tmp_path / "m.yaml")]
    code, said, _ = convert_cases(capsys, tmp_path, *words)
    assert code == 2
    assert "2 records were read; `each` found nothing in them" in said


def test_redirects_are_no_urls(tmp_path, capsys):
    name = "grounding_redirects"
    words = ["--from", "custom", f"{name}.jsonl", "--mapping", f"{name}.yaml"]
    code, said, records = convert_cases(capsys, tmp_path, *words)
    assert code == 0
    assert "9  URLs are redirects with tokens of their own, which never repeat: left out" in said
    assert [result for record in records for result in record["results"]] == [
        {"title": f"site{number}.org"} for _ in range(3) for number in range(3)
    ]


@pytest.fixture
def ids_only(tmp_path):
    """A run whose documents have nothing but ids, as traces."""
    traces = tmp_path / "t.jsonl"
    words = ["--from-run", str(CASES / "ids_only.run"), "--to-traces", str(traces)]
    assert main(["convert", *words]) == 0
    return traces


def test_documents_with_ids_only_show_them_and_are_labelled_by_them(tmp_path, ids_only, capsys):
    pool, todo = str(tmp_path / "pool"), tmp_path / "todo.csv"
    assert main(["pool", "build", "--run", f"a={ids_only}", "--output", pool]) == 0
    assert main(["pool", "todo", pool, "--output", str(todo)]) == 0
    rows = list(csv.DictReader(todo.open()))
    assert [row["ids"] for row in rows] == ["doc_id docA", "doc_id docB"]
    (tmp_path / "judge.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    print(json.dumps({'gain': 3 if 'docB' in asked['ids'] else 0}), flush=True)\n"
    )
    command = f"{sys.executable} {tmp_path / 'judge.py'}"
    assert main(["pool", "judge", pool, "--command", command]) == 0
    labels = tmp_path / "qrels"
    labels.write_text("1 0 docA 2\n1 0 docX 2\n")
    capsys.readouterr()
    assert main(["pool", "label", pool, "--from", str(labels), "--annotator", "ann"]) == 3
    assert "The pool has no document docX." in "".join(capsys.readouterr())
    given = {
        document.evidence[0].ids["doc_id"]: document.given
        for document in read_pool(pool).documents()
    }
    assert given["docA"]["ann"] == 2
    assert 3 in given["docB"].values()


@pytest.mark.parametrize("tool", ["langfuse", "otlp", "mlflow"])
def test_an_unlabelled_run_exports_no_scores_of_gains(tmp_path, ids_only, capsys, tool):
    out, scores = tmp_path / "out", tmp_path / "scores.jsonl"
    words = ["--input", str(ids_only), "--output", str(out), "--allow-unlabelled"]
    assert main(["run", *words, "--metrics", "precision@10"]) == 0
    metrics = ["CG", "GR", "SRE", "precision@10"]
    words = ["--to", tool, "--output", str(scores), "--metric", *metrics]
    assert main(["export", str(out), *words]) == 0
    assert scores.read_text() == ""
    assert "0 scores of 1 conversation; 4 values are undefined" in capsys.readouterr().out


def sub_agent_spans():
    """A planner that searches, and calls a researcher with a conversation of its own."""
    found = json.dumps([{"url": "https://ex.org/a"}])

    def span(number, parent, **attributes):
        pairs = [
            {"key": key.replace("__", "."), "value": {"stringValue": value}}
            for key, value in attributes.items()
        ]
        return {
            "traceId": "a" * 32, "spanId": f"{number:016x}", "attributes": pairs,
            "parentSpanId": f"{parent:016x}" if parent else "",
            "startTimeUnixNano": f"17000000000000000{number:02}",
            "endTimeUnixNano": "1700000000000000099",
        }  # fmt: skip

    def agent(number, parent, conversation, name):
        return span(number, parent, gen_ai__operation__name="invoke_agent",
                    gen_ai__conversation__id=conversation, gen_ai__agent__name=name)  # fmt: skip

    def search(number, parent, query):
        return span(
            number, parent, gen_ai__operation__name="execute_tool", gen_ai__tool__name="web",
            gen_ai__tool__call__arguments=json.dumps({"query": query}),
            gen_ai__tool__call__result=found,
        )  # fmt: skip

    return [
        agent(1, 0, "c1", "planner"), search(2, 1, "one"),
        agent(3, 1, "c2", "researcher"), search(4, 3, "two"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "expected", "said"),
    [
        ([], [("c1", "one", "planner"), ("c1", "two", "researcher")],
         "1  sub-agent's conversation belongs to its caller's"),
        (["--conversation-of", "span"], [("c1", "one", "planner"), ("c2", "two", "researcher")],
         "1  trace holds several conversations: split"),
    ],
)  # fmt: skip
def test_sub_agents_belong_to_their_callers(tmp_path, capsys, words, expected, said):
    path = tmp_path / "spans.jsonl"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": sub_agent_spans()}]}]}))
    code, printed, records = convert_cases(capsys, tmp_path, "--from", "otlp", str(path), *words)
    assert code == 0
    assert said in printed
    assert [
        (record["conversation_id"], record["query"], record["attributes"]["agent"])
        for record in records
    ] == expected


CHAT_MAPPING = """
unit: call
each:
  - message: messages
  - call: tool_calls
conversation: document.id
iteration: message_number
query: from_json(call.function.arguments).query
tool: call.function.name
results: >-
  present(documents(lookup(document.messages, 'tool_call_id', call.id).content),
          links(lookup(document.messages, 'tool_call_id', call.id).content))
result: {url: url}
"""


def test_a_mapping_joins_the_calls_and_answers_of_a_transcript():
    records, _ = import_and_count([CASES / "chat_messages.jsonl"], CHAT_MAPPING)
    assert [record["query"] for record in records] == ["red kites", "black kites", "kite food"]
    assert [record["iteration"] for record in records] == [2, 2, 5]
    assert [result["url"] for record in records for result in record["results"]] == [
        "https://ex.org/a", "https://ex.org/b", "https://ex.org/food",
    ]  # fmt: skip
