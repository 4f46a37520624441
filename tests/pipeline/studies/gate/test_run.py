"""The gate as a step of `goodgain run`."""

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.runs import run, write_jsonl
from tests.pipeline.studies.comparison.traces import conversation

pytestmark = pytest.mark.slow


@pytest.fixture
def traces(tmp_path):
    records = [record for at in range(6) for record in conversation(f"c{at}", [[4, 0]])]
    return write_jsonl(tmp_path / "traces.jsonl", records)


def gate(tmp_path, *rules):
    path = tmp_path / "gate.yaml"
    path.write_text("least_n: 6\nrules:\n" + "".join(f"  - {rule}\n" for rule in rules))
    return str(path)


def test_run_ends_with_the_verdict_of_the_gate(tmp_path, traces, capsys):
    passing, failing = gate(tmp_path, "CG >= 4", "rejected <= 0 %"), tmp_path / "failing.yaml"
    assert run(tmp_path / "good", [traces], "--gate", passing) == 0
    assert "The gate passed: 2 rules" in capsys.readouterr().out
    failing.write_text("least_n: 6\nrules: [CG >= 5, CG drop <= 1 %]")
    words = ("--gate", str(failing), "--baseline", str(tmp_path / "good"))
    assert run(tmp_path / "bad", [traces], *words) == 4
    printed = capsys.readouterr().out
    assert "failed: Gain (CG): it is not at least 5" in printed
    assert "The gate failed: 1 of 2 rules" in printed
    assert (tmp_path / "bad" / "report.html").exists()


def test_too_many_rejected_records_take_precedence_over_the_gate(tmp_path, traces):
    with open(traces, "a") as file:
        file.write("broken\n" * 5)
    assert run(tmp_path / "out", [traces], "--gate", gate(tmp_path, "CG >= 99")) == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--gate", "none.yaml"], "none.yaml cannot be read"),
        (["--gate", "GATE", "--baseline", "none"], "no output of a run in none,"),
        (["--baseline", "none"], "add --gate"),
    ],
)
def test_unusable_gates_are_refused_before_the_run(tmp_path, traces, capsys, words, message):
    words = [gate(tmp_path, "CG >= 4") if word == "GATE" else word for word in words]
    assert run(tmp_path / "out", [traces], *words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_run_as_its_own_baseline_is_refused(tmp_path, traces, capsys):
    output, rules = tmp_path / "out", gate(tmp_path, "CG drop <= 1 %")
    assert run(output, [traces]) == 0
    before = (output / "manifest.json").read_bytes()
    words = ("--overwrite", "--gate", rules, "--baseline", f"{output}/")
    assert run(output, [traces], *words) == 2
    assert (output / "manifest.json").read_bytes() == before
    assert main(["gate", str(output), "--config", rules, "--baseline", str(output)]) == 2
    assert "is the baseline itself" in capsys.readouterr().err


def test_percentages_are_accepted_as_bounds_of_shares(tmp_path, traces, capsys):
    rules = gate(tmp_path, "SRE >= 50 %", "ndcg@10 >= 20 %", "hit_rate@10 >= 100 %")
    assert run(tmp_path / "out", [traces], "--gate", rules) == 0
