"""`goodgain run --qrels`: what is wrong with judgments is said with its place, and exits with 2."""

import json
import subprocess
import sys

import pytest

from goodgain.pipeline.judgments import describe
from goodgain.pipeline.local import open_local
from goodgain.pipeline.qrels import check_beginnings, find_qrels
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, QrelsProblem

pytestmark = pytest.mark.slow


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "traces.jsonl"
    results = [{"ids": {"doc_id": name}, "gain": 1} for name in "ab"]
    path.write_text(json.dumps({"conversation_id": "c", "iteration": 1, "results": results}))
    return path


def failing_run(traces, qrels):
    output = traces.parent / "out"
    words = ["--input", str(traces), "--output", str(output), "--qrels", str(qrels)]
    script = "import sys; from goodgain.pipeline.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, "run", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    error = done.stderr
    said = [line for line in error.splitlines() if line.startswith("goodgain: ")][-1]
    assert "Traceback" not in error
    return said.removeprefix("goodgain: ")


def test_a_wrong_line_stops_the_run_before_it_begins(traces, tmp_path):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("c 0 a 2\nc 0 b 7\n")
    assert failing_run(traces, qrels).startswith(f"{qrels}:2: The label is 7, but")
    assert not (tmp_path / "out").exists()


def test_a_wrong_line_far_down_publishes_nothing(traces, tmp_path):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"t 0 d{n} 1\n" for n in range(10_000)) + "c 0 a\n")
    assert failing_run(traces, qrels).startswith(f"{qrels}:10001: A line of qrels is")
    assert not any((tmp_path / "out").rglob("*"))


def test_two_labels_for_one_document_name_both_lines(traces, tmp_path):
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("c 0 a 2\nc 0 b 2\nc 0 a 1\n")
    assert failing_run(traces, qrels) == (
        f"{qrels}:3: Document a of topic c has the label 1 here, but 2 at {qrels}:1."
    )


def test_no_such_file(traces, tmp_path):
    said = failing_run(traces, tmp_path / "no.txt")
    assert said.startswith("The file of judgments")
    assert "--qrels" in said


def test_places_in_words(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("1\n2\n3\n")
    files = find_qrels(str(text))
    problems = [
        QrelsProblem(JudgmentPlace(0, 4), "wrong."),
        QrelsProblem(JudgmentPlace(0, 9, "line 7"), "wrong."),
        QrelsProblem(
            JudgmentPlace(0, 9, "row group 0, row 2"), "differs from", JudgmentPlace(0, 0)
        ),
        QrelsProblem(JudgmentPlace(0, 0, "file"), "gone."),
    ]
    assert describe(problems, files, open_local).splitlines() == [
        f"{text}:3: wrong.",
        f"{text}:7: wrong.",
        f"{text}, row group 0, row 2: differs from {text}:1.",
        f"{text}: gone.",
    ]


def test_every_file_is_looked_into(tmp_path):
    (tmp_path / "a.txt").write_text("t 0 d 1\n")
    (tmp_path / "b.txt").write_text("t d 1\n")
    with pytest.raises(UsageError, match=r"b\.txt:1: A line of qrels"):
        check_beginnings(find_qrels(str(tmp_path / "*.txt")))
