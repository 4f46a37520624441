"""The first queries of the conversations that are worth looking at, in terminal and report."""

import re

import pytest

import goodgain as gg
from goodgain.pipeline.results.finished_run import read_run
from goodgain.pipeline.run.plan import first_queries as module
from goodgain.pipeline.run.plan.first_queries import find_first_queries, find_queries_of_run
from goodgain.transforms.core.records.search_call import Result, SearchCall
from tests.pipeline.runs import run, write_jsonl


def search(name, iteration, query, results, **more):
    """A search that found these documents, which are good if their names are capital letters."""
    return {
        "conversation_id": name,
        "iteration": iteration,
        "query": query,
        "results": [{"id": result, "gain": 3 * result.isupper()} for result in results],
        **more,
    }


HOSTILE = "<img src=x onerror=alert(1)>\n  two\tlines \u202eback"
LONG = "ברירת מחדל " * 40
# By metric, the conversation that goes worst: no good result, most repetition, most waste.
CALLS = [
    search("bad", 1, HOSTILE, "abcde"),
    search("repeats", 1, LONG, "Aa"),
    search("repeats", 2, "later", "Aa"),
    search("wastes", 1, None, "ABC"),
    *(search("wastes", i, " ", "A" + "defghijk"[i]) for i in range(2, 6)),
    search("good", 1, "fine", "ABC"),
]


def texts(page):
    return re.findall(r"First query: &#34;(.*?)&#34;", page)


def test_in_the_report_of_an_evaluation(tmp_path):
    gg.evaluate(CALLS).report(tmp_path / "report.html")
    hostile, long = texts((tmp_path / "report.html").read_text("utf-8"))
    assert hostile == "&lt;img src=x onerror=alert(1)&gt; two lines \\u202eback"
    assert long.startswith("ברירת מחדל ברירת")
    assert (long[-1], len(long)) == ("…", 120)


@pytest.mark.slow
def test_in_terminal_and_report_of_a_run(tmp_path, capsys, monkeypatch):
    traces = write_jsonl(tmp_path / "traces.jsonl", CALLS)
    assert run(tmp_path / "out", [traces]) == 0
    printed = capsys.readouterr().out
    assert 'first query "<img src=x onerror=alert(1)> two lines \\u202eback"' in printed
    assert printed.count("first query") == 2  # the third has none
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert len(texts(page)) == 2
    of_run = read_run(str(tmp_path / "out"))
    assert find_queries_of_run(of_run, ["good", "wastes", "unknown"]) == {"good": "fine"}
    monkeypatch.setattr(module, "_MOST_BYTES", 10)
    monkeypatch.setattr(module, "_MOST_BYTES_IN_PYTHON", 10)
    assert find_queries_of_run(of_run, ["good"]) == {}


def test_files_that_are_gone_have_no_queries(tmp_path):
    traces = tmp_path / "traces.jsonl"
    write_jsonl(traces, CALLS)
    evaluated = gg.evaluate(traces)
    assert find_queries_of_run(evaluated.manifest, ["bad"]) == {"bad": HOSTILE}
    traces.unlink()
    assert find_queries_of_run(evaluated.manifest, ["repeats"]) == {}
    evaluated.report(tmp_path / "report.html")
    assert texts((tmp_path / "report.html").read_text("utf-8")) == []


def test_the_first_query_is_that_of_the_last_turn_in_order():
    def call(query, turn=1, iteration=1, **more):
        return SearchCall("c", iteration, turn, query=query, results=[Result()], **more)

    records = [
        call("an earlier turn", turn=1),
        call("second", turn=2, iteration=2),
        call("later", turn=2, call=1),
        call("first", turn=2, call=0, timestamp=5),
        call(" ", turn=2, call=0, timestamp=1),
        call("opened", turn=2, call=0, timestamp=2, action="open"),
        call("an empty turn", turn=3, action="cite"),
    ]
    for several in (records, records[::-1]):
        assert find_first_queries(several, {"c"}) == {"c": "first"}
    assert find_first_queries(records, {"d"}) == {}
