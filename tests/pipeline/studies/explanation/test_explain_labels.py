"""`goodgain explain` with external labels shows the numbers of a run with the same labels."""

import json

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from tests.pipeline.runs import run, write_jsonl

OPTIONS = ("--metrics", "ndcg@3", "map", "recall@2", "--qrels-topic", "query_id", "--g-max", "4")
QRELS = """
q1 0 a 3
q1 0 b 0
q1 0 d -1
q1 0 never 4
q2 0 a 1
"""


def traces(folder):
    """One conversation for each of two queries; all labels in the traces are wrong."""
    return write_jsonl(
        folder / "traces.jsonl",
        [
            {
                "conversation_id": f"c{query}",
                "iteration": iteration,
                "attributes": {"query_id": query},
                "results": [{"ids": {"doc_id": name}, "gain": 4} for name in names],
            }
            for query in ("q1", "q2")
            for iteration, names in ((1, "xab"), (2, "dab"))
        ],
    )


def qrels(folder, text=QRELS):
    path = folder / "qrels.txt"
    path.write_text(text.lstrip())
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("duplicates", ["compact", "hold_slot"])
def test_numbers_equal_those_of_the_run(tmp_path, capsys, duplicates):
    options = (*OPTIONS, "--qrels", qrels(tmp_path), "--duplicates", duplicates)
    paths = [traces(tmp_path)]
    assert run(tmp_path / "out", paths, *options) == 0
    rows = list(read_dataset(str(tmp_path / "out"), "conversations"))
    assert [(row["CG"], row["GR"]) for row in rows] == [(3, 1), (0, 0)]
    for row in rows:
        capsys.readouterr()
        assert main(["explain", row["conversation_id"], "--input", *paths, *options, "--json"]) == 0
        output = json.loads(capsys.readouterr().out)
        numbers = output["conversation"]
        assert {name: numbers[name] for name in row if name in numbers} == {
            name: value for name, value in row.items() if name in numbers
        }
        assert {"CG", "ndcg@3", "map", "unlabelled"} <= numbers.keys()


def test_each_result_shows_the_label_that_counts(tmp_path, capsys):
    words = ["cq1", "--input", traces(tmp_path), *OPTIONS, "--qrels", qrels(tmp_path), "--json"]
    assert main(["explain", *words]) == 0
    output = json.loads(capsys.readouterr().out)
    results = output["iterations"][0]["search_calls"][0]["results"]
    assert [(result["gain"], result["outcome"]) for result in results] == [
        (None, "other"),
        (3, "good"),
        (0, "other"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1 0 a 3\nq1 0 a 2\n",
            "qrels.txt:2: Document a of topic q1 has the label 2 here, but 3 at",
        ),
        ("q1 0 a 7\n", "qrels.txt:1: The label is 7"),
    ],
)
def test_unusable_judgments_are_reported_with_file_and_line(tmp_path, capsys, text, message):
    words = ["cq1", "--input", traces(tmp_path), *OPTIONS, "--qrels", qrels(tmp_path, text)]
    assert main(["explain", *words]) == 2
    assert message in capsys.readouterr().err


def test_rejects_a_missing_qrels_file(tmp_path, capsys):
    words = ["cq1", "--input", traces(tmp_path), "--qrels", str(tmp_path / "none")]
    assert main(["explain", *words]) == 2
    assert "No file matches" in capsys.readouterr().err


def test_a_judgment_met_again_names_the_document_that_used_it(tmp_path, capsys):
    """Two documents, by their file ids, have the doc_id d1 (METRIC_TRAPS 24)."""
    results = [
        {"entity_type": "File", "ids": {"file_id": name, "doc_id": "d1"}, "title": name}
        for name in "AB"
    ]
    path = write_jsonl(
        tmp_path / "traces.jsonl",
        [{"conversation_id": "c", "iteration": at, "results": [result]}
         for at, result in enumerate(results, start=1)],
    )  # fmt: skip
    words = ["explain", "c", "--input", path, "--qrels", qrels(tmp_path, "c 0 d1 2\nc 0 d2 0\n")]
    assert main([*words, "--json"]) == 0
    output = json.loads(capsys.readouterr().out)
    first, second = (
        iteration["search_calls"][0]["results"][0] for iteration in output["iterations"]
    )
    assert (first["gain"], second["gain"]) == (2, None)
    assert "judged_at" not in first
    assert second["judged_at"] == {"i": 1, "iteration": 1, "call_position": 0, "rank": 1}
    assert output["conversation"]["judgments_met_again"] == 1
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "its judgment labels 1.1.1, another document, and counts once" in text


def test_explain_omits_a_label_that_fits_two_conversations(tmp_path, capsys):
    records = [
        {"conversation_id": name, "iteration": 1, "record_id": "r1", "results": [{"id": "a"}]}
        for name in ("a", "b")
    ]
    path = write_jsonl(tmp_path / "t.jsonl", records)
    labels = tmp_path / "labels.csv"
    labels.write_text("record_id,rank,gain\nr1,1,3\n")
    assert main(["explain", "a", "--input", path, "--labels", str(labels), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["conversation"]["CG"] == 0
    found = gg.evaluate(path, labels=str(labels))
    assert found.conversations[0]["CG"] == 0
    assert "CG 3" not in found.explain("a")
