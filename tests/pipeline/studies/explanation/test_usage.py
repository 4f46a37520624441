"""Explanations say what the agent opened and cited, and which calls brought nothing (SPEC 11)."""

import json

import pytest

from goodgain.pipeline.__main__ import main
from tests.core.scoring.test_usage import EXAMPLE


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in EXAMPLE))
    return str(path)


def explain(capsys, *words):
    assert main(["explain", "c", *words]) == 0
    return capsys.readouterr().out


def test_documents_are_marked_where_search_found_them(path, capsys):
    content = json.loads(explain(capsys, "--input", path, "--json"))
    calls = [call for iteration in content["iterations"] for call in iteration["search_calls"]]
    used = [result.get("used", []) for call in calls for result in call["results"]]
    assert used == [["open", "cite"], [], ["open"], [], ["cite"]]
    assert [call["error"] for call in calls] == [None, None, "timeout"]
    assert [call["repeats"] for call in calls] == [None, {"i": 1, "call_position": 0}, None]
    assert [usage["action"] for usage in content["usages"]] == ["open", "open", "cite"]
    cited = content["usages"][2]["results"]
    assert [(document["label"], document["good"]) for document in cited] == [
        (3, True),
        (4, True),
        (2, True),  # its label is that of the record that opened it
        (None, False),
    ]
    ranks = [
        document["found"] and (document["found"]["i"], document["found"]["rank"])
        for document in cited
    ]
    assert ranks == [(1, 1), (2, 2), None, None]


def test_texts_name_places_failures_and_repeated_queries(path, capsys):
    text = explain(capsys, "--input", path)
    for part in (
        "new, good, opened, cited",
        "repeats the query of call 1.1",
        "failed: timeout",
        "Opened in iteration 3 of the trace",
        "by no search",
        "Of 3 good documents found, 2 (66.7 %) were never opened and 1 (33.3 %) was never cited.",
        "2 cited documents were never opened.",
    ):
        assert part in text


def test_failed_calls_that_are_left_out_are_not_explained(path, capsys):
    content = json.loads(explain(capsys, "--input", path, "--json", "--without-failed"))
    assert [len(iteration["search_calls"]) for iteration in content["iterations"]] == [1, 1]
    assert content["conversation"]["calls_failed"] == 0


def test_usage_is_refused_for_passages(path, capsys):
    assert main(["explain", "c", "--input", path, "--unit", "passage", "--usage"]) == 2
    assert "--unit cannot be passage" in capsys.readouterr().err
    content = json.loads(explain(capsys, "--input", path, "--unit", "passage", "--json"))
    assert content["usages"] == []
    assert "opened" not in content["conversation"]
