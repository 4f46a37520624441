"""`goodgain run --qrels` reports unusable judgments with file and line, and exits with 2."""

import json

import pytest

from goodgain.pipeline.inputs.local_files import LOCAL, open_local
from goodgain.pipeline.run.plan.judgments import check_beginnings, describe, find_judgments
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, QrelsProblem
from tests.forked import command_in_process

pytestmark = pytest.mark.slow


@pytest.fixture
def traces(tmp_path):
    path = tmp_path / "traces.jsonl"
    results = [{"ids": {"doc_id": name}, "gain": 1} for name in "ab"]
    path.write_text(json.dumps({"conversation_id": "c", "iteration": 1, "results": results}))
    return path


def failing_run(traces, qrels):
    """The message of a run that exits with 2."""
    output = traces.parent / "out"
    done = command_in_process("run", "--input", traces, "--output", output, "--qrels", qrels)
    assert done.returncode == 2
    error = done.stderr
    message = [line for line in error.splitlines() if line.startswith("goodgain: ")][-1]
    assert "Traceback" not in error
    return message.removeprefix("goodgain: ")


def test_a_wrong_line_near_the_beginning_stops_the_run_before_it_starts(traces, tmp_path):
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


def test_reports_a_missing_file(traces, tmp_path):
    message = failing_run(traces, tmp_path / "no.txt")
    assert message.startswith("The file of judgments")
    assert "--qrels" in message


def test_describes_places_as_line_row_or_file(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("1\n2\n3\n")
    files = find_judgments(str(text), LOCAL)
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


def test_checks_the_beginning_of_every_file(tmp_path):
    (tmp_path / "a.txt").write_text("t 0 d 1\n")
    (tmp_path / "b.txt").write_text("t d 1\n")
    with pytest.raises(UsageError, match=r"b\.txt:1: A line of qrels"):
        check_beginnings(find_judgments(str(tmp_path / "*.txt"), LOCAL), open_local)
