"""The record for BrowseComp-Plus's leaderboard, from trajectories, judgments and judged answers."""

import json
from datetime import date
from pathlib import Path
from random import Random

import numpy as np
import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.convert.leaderboard import calibration_error, write_leaderboard
from goodgain.transforms.core.errors import UsageError
from tests.pipeline.convert.importing import FIXTURES
from tests.pipeline.convert.steps import goodgain

PAGE = Path(__file__).parents[3] / "docs" / "browsecomp-plus.md"


def row(at, correct, **more):
    base = {"conversation_id": f"q{at}", "rejected_records": 0, "attributes": {"model": "m"}}
    counts = {"N": 1, "calls": 2, "recall": 0.5, "qrels_best": 1}
    return {**base, **counts, "outcome.judge_correct": correct, **more}


def write_rows(tmp_path, rows):
    path = tmp_path / "summary.json"
    found = write_leaderboard(rows, str(path), date(2026, 1, 2))
    return found, json.loads(path.read_text())


def test_by_hand(tmp_path):
    # The second query was not judged, which is wrong; the third never searched; the fourth has no
    # evidence, so that recall is (1/2 + 1 + 0) / 3.
    rows = [
        row(1, 1.0, calls=4, opens=1),
        row(2, None, recall=1.0, opens=0),
        row(3, 0.0, N=0, calls=0, recall=None, opens=0),
        row(4, 1.0, recall=None, qrels_best=None, opens=3),
    ]
    found, record = write_rows(tmp_path, rows)
    assert record == {
        "LLM": "m",
        "Accuracy (%)": 50.0,
        "Recall (%)": 50.0,
        "avg_tool_stats": {"search": 2.0, "get_document": 1.0},
        "Calibration Error (%)": 0.0,
        "Retriever": "change me when submitting",
        "Link": "change me when submitting",
        "Evaluation Date": "2026-01-02",
        "per_query_metrics": [
            {"query_id": "q1", "correct": True, "recall": 50.0},
            {"query_id": "q2", "correct": False, "recall": 100.0},
            {"query_id": "q3", "correct": False, "recall": 0.0},
            {"query_id": "q4", "correct": True, "recall": None},
        ],
    }
    assert (found.queries, found.accuracy, found.calibration) == (4, 50.0, None)


def in_bins(confidence, correct):
    """The calibration error straight from its definition, with numpy."""
    order = np.argsort(confidence, kind="stable")
    confidence, correct = np.array(confidence)[order] / 100, np.array(correct)[order]
    bins = [slice(at * 100, at * 100 + 100) for at in range(len(order) // 100)][:-1]
    squares = sum(
        100 / len(order) * (confidence[bin_].mean() - correct[bin_].mean()) ** 2 for bin_ in bins
    )
    return np.sqrt(squares)


@pytest.mark.parametrize("size", [100, 199, 200, 250, 830])
def test_calibration(size, tmp_path):
    random = Random(size)
    confidence = [random.choice([50.0, 80.0, random.random() * 100]) for _ in range(size)]
    correct = [float(random.random() * 100 < value / 2) for value in confidence]
    error = calibration_error(list(zip(confidence, correct, strict=True)))
    assert error == pytest.approx(in_bins(confidence, correct), abs=1e-12)
    assert (error > 0.05) == (size >= 200)
    judged = zip(confidence, correct, strict=True)
    rows = [
        row(at, right, **{"outcome.confidence": value}) for at, (value, right) in enumerate(judged)
    ]
    found, record = write_rows(tmp_path, rows)
    assert found.calibration == record["Calibration Error (%)"] == round(100 * error, 2)


def test_what_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no conversations"):
        write_rows(tmp_path, [])
    without = row(1, None)
    del without["outcome.judge_correct"]
    with pytest.raises(UsageError, match="no outcome correct or judge_correct"):
        write_rows(tmp_path, [without])


@pytest.mark.slow
def test_from_trajectories_to_the_record(tmp_path, capsys):
    traces, output = tmp_path / "traces.parquet", tmp_path / "out"
    files = sorted((FIXTURES / "browsecomp_plus").iterdir())
    goodgain("convert", "--from", "browsecomp-plus", *files, "--output", traces)
    (tmp_path / "qrels.txt").write_text("769 0 m1 1\n769 0 m9 1\n770 0 x9 1\n")
    (tmp_path / "judged.csv").write_text(
        "query_id,predicted_answer,judge_correct,confidence\n769,Rome,True,90\n770,,False,40\n"
    )
    words = ["run", "--input", traces, "--output", output, "--qrels", tmp_path / "qrels.txt"]
    words += ["--good-gain-threshold", "1", "--metrics", "recall", "--max-i", "1"]
    words += ["--outcomes", tmp_path / "judged.csv", "--outcome", "judge_correct,confidence"]
    assert main(list(map(str, words))) == 0
    out = capsys.readouterr().out
    assert "judge_correct = 1" in out
    assert "reading failed" in out
    record = tmp_path / "summary.json"
    goodgain("export", output, "--to", "browsecomp-plus", "--output", record)
    assert "accuracy 50.0 %, recall 25.0 %" in capsys.readouterr().out
    found = json.loads(record.read_text())
    assert (found["LLM"], found["Accuracy (%)"], found["Recall (%)"]) == ("some-model", 50.0, 25.0)
    assert found["avg_tool_stats"]["search"] == 3.0
    assert [metric["recall"] for metric in found["per_query_metrics"]] == [50.0, 0.0]
