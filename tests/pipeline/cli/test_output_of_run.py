"""What `goodgain run` prints as JSON, and with --quiet."""

import json
from importlib.resources import files

import pytest

from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.cli.test_quiet import documented_keys

SAMPLE = str(files("goodgain.configs").joinpath("data/sample.avro"))
pytestmark = pytest.mark.slow


def run(tmp_path, *options):
    return main(["run", "--input", SAMPLE, "--output", str(tmp_path / "out"), *options])


def test_json_has_manifest_means_and_gate(tmp_path, capsys):
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - SRE >= 0.9\n")
    assert run(tmp_path, "--json", "--gate", str(gate)) == 4
    printed = json.loads(capsys.readouterr().out)
    assert documented_keys("run") == printed.keys()
    assert printed["manifest"]["records"]["balance_holds"]
    assert {row["metric"] for row in printed["means"]} >= {"CG", "SRE", "ndcg@10"}
    assert [rule["verdict"] for rule in printed["gate"]] == ["failed"]


def test_quiet_prints_only_warnings_about_the_data(tmp_path, capsys):
    assert run(tmp_path, "--quiet") == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    (warning,) = captured.err.splitlines()
    assert warning.startswith("Warning (beyond_cutoff): ")
    assert (tmp_path / "out" / "manifest.json").is_file()


def test_quiet_still_reports_a_failed_rule(tmp_path, capsys):
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - SRE >= 0.9\n")
    assert run(tmp_path, "--quiet", "--gate", str(gate)) == 4
    assert "Good and new results (SRE): it is not at least 90 %" in capsys.readouterr().out


def test_metrics_name_what_the_table_shows(tmp_path, capsys):
    assert run(tmp_path, "--metrics", "GR", "SRE", "ndcg@5") == 0
    printed = capsys.readouterr().out
    shown = ("Gain (CG)", "Good and new results (SRE)", "Good results (GR)", "ndcg@5")
    assert all(printed.count(name) >= 1 for name in shown)
    assert "ndcg@10" not in printed
    again = [
        "compare",
        str(tmp_path / "out"),
        "--by",
        "arm",
        "--base",
        "A",
        "--metrics",
        "GR",
        "--json",
    ]
    assert main(again) == 0
    found = json.loads(capsys.readouterr().out)["rows"]
    assert {row["metric"] for row in found if row["i"] is None} == {"GR"}


def test_words_left_for_beam_are_named_when_an_input_is_missing(capsys):
    """A misspelt option may have taken the path as its value."""
    assert main(["run", "--no-such-option", "f.avro", "--output", "o"]) == ExitCode.USAGE
    message = capsys.readouterr().err
    assert "--input is missing" in message
    assert "left for Beam: --no-such-option f.avro" in message
