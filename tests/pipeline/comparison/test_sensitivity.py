"""`goodgain compare --sensitivity`: nobody wins by repeating itself without it being seen."""

import json
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.comparison.traces import base_arm, output_of

pytestmark = pytest.mark.slow


def repeating_arm():
    """The base arm, with each first iteration's results once more at the end of the last."""
    conversations = base_arm()
    for records in conversations:
        records[-1]["results"] += records[0]["results"]
    return conversations


@pytest.fixture(scope="module")
def repeated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeated")
    return output_of(folder / "base", base_arm()), output_of(folder / "again", repeating_arm())


def test_a_win_by_repeating_shows_only_without_deduplication(repeated, capsys):
    assert main(["compare", *repeated, "--metrics", "CG", "--sensitivity", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["sensitivity"]
    verdicts = {row["policy"]: row["verdict"] for row in found if row["metric"] == "CG"}
    assert verdicts == {
        "as run": "not shown",
        "hold_slot": "not shown",
        "no de-duplication": "better",
        "exact ids only": "not shown",
        "threshold 1": "not shown",
        "threshold 3": "not shown",
    }
    assert [row["policy"] for row in found if row["turns"] and row["metric"] == "CG"] == [
        "no de-duplication"
    ]


def test_runs_whose_inputs_have_changed_are_refused(tmp_path, capsys):
    output = output_of(tmp_path / "out", base_arm())
    path = Path(f"{output}.jsonl")
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert main(["compare", output, output, "--sensitivity"]) == 2
    assert "inputs" in capsys.readouterr().err


def test_table_says_which_verdicts_turn(repeated, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", *repeated, "--metrics", "CG", "SRE", "--sensitivity"]) == 0
    said = capsys.readouterr().out
    assert "Verdicts that change: CG" in said
    lines = said.splitlines()
    assert all(len(line) <= 80 for line in lines if "goodgain explain" not in line)
