"""Outcomes from a file: formats, joining, what is refused, and the same in Python and Beam."""

import json

import pandas as pd
import polars as pl
import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.outcomes import OutcomesOfRow, join_outcomes
from tests.pipeline.runs import manifest, rows, run, write_jsonl

RECORDS = [
    {
        "conversation_id": identity,
        "iteration": 1,
        "results": [{"gain": 3}],
        "outcomes": {"correct": 0, "seen": 7},
    }
    for identity in ("a", "b", "c", "d")
]
CSV = """conversation_id,correct,rating
a,true,0.5
b,0,
a,1,0.5
b,1,
x,1,1
c,,
d,maybe,1
,1,1
"""
OUTCOMES = {"a": (1, 0.5), "b": (0, None), "c": (0, None), "d": (0, None)}
REASONS = {
    "line 5": "An earlier row gives the conversation another correct, which counts:",
    "line 6": "No record has this conversation_id.",
    "line 8": "correct must be a number, or true or false; name the columns with outcomes",
    "line 9": "The row has no conversation_id.",
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("traces") / "traces.jsonl", RECORDS)


@pytest.fixture
def given(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text(CSV)
    return path


def outcomes_of(conversations):
    return {
        row["conversation_id"]: (row["outcome.correct"], row["outcome.rating"])
        for row in conversations
    }


def test_from_the_command_line(traces, given, tmp_path, capsys):
    output = tmp_path / "out"
    assert run(output, [traces], f"--outcomes={given}", "--max-i=1") == 0
    assert outcomes_of(rows(output, "conversations")) == OUTCOMES
    counts = manifest(output)["outcome_rows"]
    del counts["files"]
    assert counts == {"read": 8, "joined": 2, "repeated": 1, "empty": 1, "rejected": 4}
    rejected = {row["position"]: row["reason"] for row in rows(output, "rejected_outcomes")}
    assert rejected.keys() == REASONS.keys()
    for position, reason in REASONS.items():
        assert rejected[position].startswith(reason)
    assert rejected["line 5"].endswith("judged.csv, line 3.")
    assert manifest(output)["outcomes"] == ["correct", "rating", "seen"]
    out = capsys.readouterr().out
    assert "Outcomes: 8 rows read = 2 joined + 1 repeated + 1 empty + 4 rejected" in out


def test_from_python(traces, given, tmp_path):
    scored = gg.evaluate(traces, outcomes=str(given))
    assert outcomes_of(scored.conversations) == OUTCOMES
    assert [row["position"] for row in scored.rejected_outcomes] == list(REASONS)
    in_memory = gg.evaluate(RECORDS, outcomes=given, outcome="rating,correct")
    assert outcomes_of(in_memory.conversations) == OUTCOMES
    assert "outcome.seen" not in in_memory.conversations[0]
    without = gg.evaluate(RECORDS)
    with pytest.raises(UsageError, match="no table of rejected outcomes"):
        _ = without.rejected_outcomes


TABLE = [
    {"conversation_id": "a", "correct": True, "rating": 0.5},
    {"conversation_id": "b", "correct": 0, "rating": None},
    {"conversation_id": "x", "correct": 1, "rating": 1.0},
]
BY_CONVERSATION = {"a": {"correct": 1, "rating": 0.5}, "b": {"correct": False}, "x": {"correct": 1}}
HELD = {
    "rows": TABLE,
    "by conversation": BY_CONVERSATION,
    "pandas": pd.DataFrame(TABLE),
    "polars": pl.DataFrame([{**row, "correct": int(row["correct"])} for row in TABLE]),
    "pyarrow": pl.DataFrame(TABLE[::2]).to_arrow(),
}


@pytest.mark.parametrize("kind", HELD)
def test_in_memory(kind, tmp_path):
    scored = gg.evaluate(RECORDS, outcomes=HELD[kind])
    of_b = OUTCOMES["b"] if kind != "pyarrow" else (0, None)
    assert outcomes_of(scored.conversations) == OUTCOMES | {"b": of_b}
    assert [row["reason"] for row in scored.rejected_outcomes] == [
        "No record has this conversation_id."
    ]
    assert scored.rejected_outcomes[0]["source"] == "outcomes"
    assert scored.manifest.outcome_rows.joined == (1 if kind == "pyarrow" else 2)
    assert "correct = 1, rating = 0.500" in scored.explain("a")
    scored.save(tmp_path / "saved")
    assert list(gg.load(tmp_path / "saved").rejected_outcomes) == list(scored.rejected_outcomes)


def test_what_is_refused_in_memory():
    for wrong, message in (
        ({"a": 1}, "outcomes of the conversation 'a' are not given by name"),
        (3, "outcomes must be a path, a table or rows"),
    ):
        with pytest.raises(UsageError, match=message):
            gg.evaluate(RECORDS, outcomes=wrong)
    scored = gg.evaluate(RECORDS, outcomes=[{"id": "a", "correct": 1}, 7])
    assert [row["reason"] for row in scored.rejected_outcomes] == [
        "The row has no conversation_id.",
        "The row is not an object with named fields.",
    ]


def test_explained(traces, given, capsys):
    assert main(["explain", "a", "--input", str(traces), "--outcomes", str(given)]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "outcomes correct = 1, rating = 0.500, seen = 7" in out
    scored = gg.evaluate(traces, outcomes=given, outcome="correct")
    assert "correct = 0\n" in scored.explain("b")
    assert "outcomes" not in gg.evaluate(traces, outcome="none").explain("b")


def test_formats(tmp_path):
    table = [
        {"conversation_id": "a", "correct": True, "comment": "fine"},
        {"conversation_id": "b", "correct": 0.25, "comment": None},
    ]
    paths = [tmp_path / "o.jsonl", tmp_path / "o.parquet", tmp_path / "o.csv"]
    paths[0].write_text("".join(json.dumps(row) + "\n" for row in table))
    frame = pl.DataFrame([{**row, "correct": float(row["correct"])} for row in table])
    frame.write_parquet(paths[1])
    frame.write_csv(paths[2])
    for path in paths:
        scored = gg.evaluate(RECORDS, outcomes=path, outcome="correct")
        found = {row["conversation_id"]: row["outcome.correct"] for row in scored.conversations}
        assert found == {"a": 1, "b": 0.25, "c": 0, "d": 0}
        assert len(scored.rejected_outcomes) == 0


def test_tables_of_judges_name_the_query(tmp_path):
    path = tmp_path / "detailed_judge_results.csv"
    path.write_text(
        'query_id,predicted_answer,judge_correct,confidence\na,"x, y",True,85.0\nb,,,\n'
    )
    scored = gg.evaluate(RECORDS, outcomes=path, outcome="judge_correct,confidence")
    row = scored.conversations[0]
    assert (row["outcome.judge_correct"], row["outcome.confidence"]) == (1, 85)
    assert scored.manifest.outcome_rows.empty == 1


def test_what_is_refused(tmp_path):
    nothing = tmp_path / "nothing.csv"
    with pytest.raises(UsageError, match="No file matches"):
        gg.evaluate(RECORDS, outcomes=nothing)
    nothing.write_text("id,correct\na,1\n")
    with pytest.raises(UsageError, match=r"no outcomes .* line 2: The row has no conversation_id"):
        gg.evaluate(RECORDS, outcomes=nothing)


def row_of(number, **values):
    return OutcomesOfRow(0, number, "a", values)


def test_each_row_is_joined_repeated_or_unused():
    given = [
        row_of(4, correct=0.0),
        row_of(1, correct=1.0),
        row_of(2, correct=1.0),
        row_of(3, correct=1.0, rating=2.0),
    ]
    for ordered in (given, given[::-1]):
        joined = join_outcomes(ordered, exists=True)
        assert joined.values == {"correct": 1, "rating": 2}
        assert (joined.joined, joined.repeated) == (2, 1)
        assert [(row.place.row, row.other.row) for row in joined.unused] == [(4, 1)]
    assert join_outcomes(given, exists=False).values == {}
    assert len(join_outcomes(given, exists=False).unused) == 4
