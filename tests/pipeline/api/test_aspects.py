"""Aspects from traces and judgments to outputs; the page about them says what runs compute."""

import json
import re
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import manifest, run, write_jsonl

PAGE = Path(__file__).parents[3] / "docs" / "aspects.md"
QRELS = "c x a 1\nc y d 1\nc z never 1\nc x d 0\n"


def result(name, aspects=None):
    return {"ids": {"doc_id": name}, "gain": 2, "aspects": aspects}


CALLS = [
    {"conversation_id": "c", "iteration": 1, "results": [result("a", ["x"]), result("b", [])]},
    {"conversation_id": "c", "iteration": 2, "results": [result("d", ["x", "y"])]},
]
PLAIN = [
    {**call, "results": [{**result, "aspects": None} for result in call["results"]]}
    for call in CALLS
]
COLUMNS = {"new_aspects_i", "aspects_at_i", "aspect_recall_at_i"}


def judgments(folder, text=QRELS):
    path = folder / "aspects.qrels"
    path.write_text(text)
    return str(path)


def test_the_numbers_of_the_page():
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.M)
    variables = {}
    exec(code, variables)
    shown = re.findall(r"^(\S.*)  # (.+)$", code, re.MULTILINE)
    assert len(shown) == 6
    for expression, value in shown:
        assert repr(eval(expression, variables)) == value


def test_a_run_without_aspects_has_no_column_more():
    found, plain = gg.evaluate(CALLS), gg.evaluate(PLAIN)
    more = set(found.iterations[0]) - set(plain.iterations[0])
    assert more == COLUMNS
    assert {row["metric"] for row in found.means} - {row["metric"] for row in plain.means} == {
        *COLUMNS, "aspects", "aspect_recall", "iterations_for_all_aspects",
    }  # fmt: skip


@pytest.mark.slow
def test_judgments_of_aspects_reach_every_output(tmp_path, capsys):
    traces, given = write_jsonl(tmp_path / "traces.jsonl", PLAIN), judgments(tmp_path)
    options = ("--aspect-qrels", given, "--metrics", "strec@1", "alpha_ndcg@10")
    assert run(tmp_path / "out", [traces], *options) == 0
    rows = list(read_dataset(str(tmp_path / "out"), "iterations"))
    assert [(row["new_aspects_i"], row["aspect_recall_at_i"]) for row in rows] == [
        (1, 1 / 3),
        (1, 2 / 3),
    ]
    (row,) = read_dataset(str(tmp_path / "out"), "conversations")
    assert (row["topic_aspects"], row["strec@1"]) == (3, 1 / 3)
    assert manifest(tmp_path / "out")["aspect_qrels"] == {
        "digest": manifest(tmp_path / "out")["aspect_qrels"]["digest"],
        "judgments": 4,
        "topics": 1,
    }
    in_process = gg.evaluate(PLAIN, aspect_qrels=given, metrics=["strec@1", "alpha_ndcg@10"])
    assert in_process.conversations[0]["alpha_ndcg@10"] == row["alpha_ndcg@10"]
    capsys.readouterr()
    assert main(["explain", "c", "--input", traces, *options, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    assert [iteration["aspects_at_i"] for iteration in explained["iterations"]] == [1, 2]
    assert explained["conversation"]["alpha_ndcg@10"] == row["alpha_ndcg@10"]
    assert main(["explain", "c", "--input", traces, *options]) == 0
    assert "1 new aspect, 2 so far, recall 66.7 %" in capsys.readouterr().out
    assert "aspects_at_i" in (tmp_path / "out" / "report.html").read_text("utf-8")


@pytest.mark.slow
def test_verdicts_on_aspects_need_the_same_judgments(tmp_path, capsys):
    traces, given = write_jsonl(tmp_path / "traces.jsonl", CALLS), judgments(tmp_path)
    metrics = ("--metrics", "strec@1")
    assert run(tmp_path / "own", [traces], *metrics) == 0
    assert run(tmp_path / "judged", [traces], *metrics, "--aspect-qrels", given) == 0
    rows = {}
    for name in ("own", "judged"):
        output = str(tmp_path / name)
        capsys.readouterr()
        main(["compare", output, output, "--metrics", "strec@1", "--json"])
        (rows[name],) = [
            row for row in json.loads(capsys.readouterr().out)["rows"] if row["i"] is None
        ]
    assert "use the same judgments (--aspect-qrels)" in rows["own"]["reason"]
    assert rows["judged"]["reason"] is None
    assert main(["compare", str(tmp_path / "own"), str(tmp_path / "judged")]) == 2
    assert "aspect_qrels (none against 4 judgments with the digest" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c x a\n", "line 1: judgments of aspects have four fields"),
        ("\nc x a one\n", "line 2: judgments of aspects have four fields"),
        ("c x a 1\nc x a 2\n", "has the label 2 for aspect x here, but 1 at"),
    ],
)
def test_judgments_that_cannot_be_used_are_named(tmp_path, text, message):
    with pytest.raises(UsageError, match=message):
        gg.evaluate(PLAIN, aspect_qrels=judgments(tmp_path, text))


def test_judgments_are_equal_however_they_are_written(tmp_path):
    """Equal lines count once, and a negative label is none."""
    found = [
        gg.evaluate(PLAIN, aspect_qrels=judgments(tmp_path, text))
        for text in (QRELS, "\n".join([*QRELS.splitlines()[::-1], "c x a 1", "c y b -1", ""]))
    ]
    assert list(found[0].iterations) == list(found[1].iterations)
    assert found[0].manifest.aspect_qrels == found[1].manifest.aspect_qrels


def test_judgments_that_are_missing_are_named():
    with pytest.raises(UsageError, match="aspect_qrels"):
        gg.evaluate(PLAIN, aspect_qrels="nowhere.qrels")
