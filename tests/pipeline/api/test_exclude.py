"""Excluded documents (SPEC 8): worked by hand, and equal to traces that never had them."""

import json
import random

import pandas as pd
import pytest
from msgspec.structs import asdict

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.finished_run import read_dataset
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.runs import manifest, run, write_jsonl


def result(name, gain=None):
    return {"ids": {"doc_id": name}, "gain": gain}


# x is the document that the question was made from.
CALLS = [
    {
        "conversation_id": "q1",
        "iteration": 1,
        "results": [result("a", 3), result("x", 4), result("b", 0)],
    },
    {
        "conversation_id": "q1",
        "iteration": 2,
        "results": [result("x", 4), result("c", 2), result("a", 3)],
    },
    {"conversation_id": "q2", "iteration": 1, "results": [result("x", 4)]},
]
QRELS = {"q1": {"a": 3, "x": 4, "c": 2, "d": 2}, "q2": {"x": 4}}
METRICS = ["ndcg@3", "recall@10", "cg"]
FORMS = {
    "dict": {"q1": ["x"], "q3": ["y"]},
    "dict of names": {"q1": "x", "q3": "y"},
    "rows": [{"topic": "q1", "document_id": "x"}, {"topic": "q3", "document_id": "y"}],
    "frame": pd.DataFrame({"query-id": ["q1", "q3"], "corpus-id": ["x", "y"]}),
}
FILES = {
    "lines.txt": "q1 x\nq3\ty\n\nq1  x\n",
    "beir.tsv": "query-id\tcorpus-id\nq1\tx\nq3\ty\n",
    "table.csv": "topic,docno\nq1,x\nq3,y\n",
    "rows.jsonl": '{"topic": "q1", "docid": "x"}\n{"query_id": "q3", "corpus_id": "y"}\n',
}


def assert_by_hand(evaluated):
    q1, q2 = evaluated.conversations
    # a and b, then c and a: four results, three documents, one of them met again.
    assert (q1["R"], q1["UR"], q1["CG"], q1["GR"]) == (4, 3, 5, 2)
    assert q1["ndcg@3"] == pytest.approx((3 + 2 / 2) / (3 + 2 / 1.5849625007211562 + 0))
    assert q1["recall@10"] == 1
    assert (q2["R"], q2["CG"]) == (1, 4)
    assert asdict(evaluated.manifest.exclude) == {
        "digest": evaluated.manifest.exclude.digest,
        "pairs": 2,
        "topics": 2,
        "results": 2,
        "judgments": 0,
    }


@pytest.mark.parametrize("form", FORMS)
def test_worked_by_hand_as_python_values(form):
    assert_by_hand(gg.evaluate(CALLS, exclude=FORMS[form], metrics=METRICS))


@pytest.mark.parametrize("name", FILES)
def test_worked_by_hand_from_files(tmp_path, name):
    (tmp_path / name).write_text(FILES[name])
    assert_by_hand(gg.evaluate(CALLS, exclude=tmp_path / name, metrics=METRICS))


def test_judgments_of_excluded_documents_are_in_no_ideal():
    judged = gg.evaluate(CALLS, qrels=QRELS, exclude={"q1": ["x"]}, metrics=METRICS)
    q1, q2 = judged.conversations
    # a, b, c with gains 3, 0, 2; the ideal is 3, 2, 2.
    assert q1["ndcg@3"] == pytest.approx(4 / (3 + 2 / 1.5849625007211562 + 2 / 2))
    assert q1["recall@10"] == pytest.approx(2 / 3)
    assert q2["ndcg@3"] == 1
    assert judged.manifest.exclude.judgments == 1
    assert judged.manifest.qrels.judgments == 4


@pytest.mark.slow
def test_a_run_says_what_it_excludes(tmp_path, capsys):
    traces = write_jsonl(tmp_path / "traces.jsonl", CALLS)
    lines = "".join(f"{t} 0 {d} {gain}\n" for t, of in QRELS.items() for d, gain in of.items())
    (tmp_path / "qrels.txt").write_text(lines)
    (tmp_path / "exclude.txt").write_text(FILES["lines.txt"])
    options = ("--exclude", str(tmp_path / "exclude.txt"), "--metrics", *METRICS)
    given = (*options, "--qrels", str(tmp_path / "qrels.txt"))
    assert run(tmp_path / "out", [traces], *given) == 0
    assert "Excluded (--exclude): 2 results and 1 judgment, by 2 documents of 2 topics." in (
        capsys.readouterr().out
    )
    here = gg.evaluate(CALLS, qrels=QRELS, exclude=FORMS["dict"], metrics=METRICS)
    assert manifest(tmp_path / "out")["exclude"] == asdict(here.manifest.exclude)
    assert list(read_dataset(str(tmp_path / "out"), "conversations")) == list(here.conversations)
    assert run(tmp_path / "all", [traces], "--qrels", str(tmp_path / "qrels.txt")) == 0
    assert main(["compare", str(tmp_path / "all"), str(tmp_path / "out")]) == 2
    assert "exclude (none against 2 documents with the digest" in capsys.readouterr().err
    assert main(["explain", "q1", "--input", traces, *given]) == 0
    assert "1 result is excluded" in capsys.readouterr().out
    assert main(["explain", "q1", "--input", traces, *given, "--json"]) == 0
    explained = json.loads(capsys.readouterr().out)
    calls = [call for iteration in explained["iterations"] for call in iteration["search_calls"]]
    assert [call["excluded"] for call in calls] == [1, 1]
    assert [[result["id"] for result in call["results"]] for call in calls] == [
        ["doc_id=a", "doc_id=b"],
        ["doc_id=c", "doc_id=a"],
    ]


def drawn(seed):
    draw = random.Random(seed)
    calls = []
    for name in "pqrs":
        for iteration in range(1, draw.randint(1, 4) + 1):
            found = [
                result(draw.choice("abcdefg"), draw.choice([None, 0, 2, 4]))
                for _ in range(draw.randint(0, 6))
            ]
            action = draw.choice(["search", "search", "open"])
            call = {"conversation_id": name, "iteration": iteration, "action": action}
            calls.append({**call, "attributes": {"topic": name.upper()}, "results": found})
    pairs = {(draw.choice("PQRS"), draw.choice("abcdefg")) for _ in range(draw.randint(0, 8))}
    return calls, pairs


@pytest.mark.slow
@pytest.mark.parametrize("with_qrels", [False, True])
def test_the_numbers_are_those_of_traces_and_judgments_without_the_documents(with_qrels):
    for seed in range(15):
        calls, pairs = drawn(seed)
        left = [
            {
                **call,
                "results": [
                    result
                    for result in call["results"]
                    if (call["attributes"]["topic"], result["ids"]["doc_id"]) not in pairs
                ],
            }
            for call in calls
        ]
        excluded = [{"topic": topic, "docno": name} for topic, name in pairs]
        options = {"qrels_topic": "topic", "usage": True, "per_call": True}
        judged = [
            {"topic": topic, "docno": name, "gain": ord(name) % 4}
            for topic in "PQRS"
            for name in "abdfz"
        ]
        kept = [
            judgment for judgment in judged if (judgment["topic"], judgment["docno"]) not in pairs
        ]
        known = {"qrels": judged} if with_qrels else {}
        never_had = {"qrels": kept} if with_qrels else {}
        here = gg.evaluate(calls, exclude=excluded, **options, **known)
        there = gg.evaluate(left, **options, **never_had)
        for dataset in ("conversations", "iterations", "calls", "means"):
            assert list(getattr(here, dataset)) == list(getattr(there, dataset)), (seed, dataset)


def test_a_named_document_is_excluded_under_each_of_its_names():
    calls = [
        {
            "conversation_id": "q",
            "iteration": 1,
            "results": [{"ids": {"doc_id": ["a", "b"]}}, {"id": "b"}, {"id": " c "}, {"id": "d"}],
        }
    ]
    assert gg.evaluate(calls, exclude={"q": ["b"]}).conversations[0]["R"] == 2
    assert gg.evaluate(calls, exclude={"q": ["b", "c"]}).conversations[0]["R"] == 1
    assert gg.evaluate(calls, exclude={"other": ["b", "c"]}).conversations[0]["R"] == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q1\n", "exclude.txt:1: A line of exclusions is `topic docno`"),
        ("q1 x\nq1 0 x 1\n", "exclude.txt:2: .*this one has 4 fields"),
        ('{"topic": "q1"}\n', "The row has no document_id"),
    ],
)
def test_lines_that_cannot_be_used_are_named(tmp_path, text, message):
    (tmp_path / "exclude.txt").write_text(text)
    with pytest.raises(UsageError, match=message):
        gg.evaluate(CALLS, exclude=tmp_path / "exclude.txt")


def test_values_that_cannot_be_used_are_named(tmp_path):
    with pytest.raises(UsageError, match="exclude, row 1: The row has no topic"):
        gg.evaluate(CALLS, exclude=[{"docno": "x"}])
    with pytest.raises(UsageError, match="exclude must be a path"):
        gg.evaluate(CALLS, exclude=5)
    with pytest.raises(UsageError, match="nowhere"):
        gg.evaluate(CALLS, exclude="nowhere.txt")
