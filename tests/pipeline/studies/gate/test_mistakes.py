"""Mistakes in a gate file are reported with their lines before any rule is judged."""

import json
import shutil

import pytest

from goodgain.pipeline.__main__ import main

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("warnings: none", "warnings are not a rule: next to `rules:`"),
        ({"warnings": "none"}, "write `warnings: none`"),
        ("no_labels <= 0", "warnings are not a rule"),
        (
            {"metric": "SRR", "population": "everyone", "rise_at_most": 0.1},
            "SRR is better when lower and has no value without a search",
        ),
        (
            {"metric": "SRR", "population": "everyone", "at_most": 0.3},
            "SRR is better when lower and has no value without a search: a bound on it cannot use "
            "population everyone",
        ),
        (
            {"metric": "DupR_at_i", "i": 2, "population": "everyone", "at_most": 1},
            "DupR_at_i is better when lower and has no value without a search",
        ),
        (
            {"metric": "CG_per.usd", "population": "everyone", "at_least": 1},
            "CG_per.usd has no value without a search",
        ),
        (
            "SRR rise <= 1 pp",
            "a percentage like 2 %, not '1 pp'; in points 2 pp is written 0.02",
        ),
        ("CG >= 5 %", "rule 1: CG is not a share, so its bound must be a number"),
        ("hits@5 >= 5 %", "rule 1: hits@5 is not a share"),
        ("CG >= -1", "CG is never below 0, so its bound must not be"),
        ("rejected <= -1 %", "rejected is never below 0"),
        ("conversations >= -1", "conversations is never below 0"),
        ("outcome.score drop <= -0.1", "a drop or rise of it is never below 0"),
    ],
)
def test_unusable_rules_are_refused_with_a_hint(rule, message, tmp_path, capsys):
    path = tmp_path / "gate.yaml"
    path.write_text(json.dumps({"rules": [rule]}))
    assert main(["gate", str(tmp_path), "--config", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_all_mistakes_are_reported_at_once_with_their_lines(tmp_path, runs, capsys):
    gate = tmp_path / "gate.yaml"
    gate.write_text(
        "least_n: many\n"
        "treshold: 2\n"
        "rules:\n"
        "  - SRE > 0.2\n"
        "  - {metric: CGG, at_least: 1}\n"
        "  - {metric: CG, at_least: 1, drop_at_most: 2 %}\n"
        "  - {metric: CG, at_lest: 1}\n"
        "  - {metric: CG, drop_at_most: some}\n"
        "  - {metric: CG_at_i, at_least: 1}\n"
        "  - {share: rejected, metric: CG, at_most: 1}\n"
        "  - {metric: CG, drop_at_most: 1, proof: of_compliance, confidence: 5 %}\n"
        "  - {share: undefined, at_most: 1}\n"
        "  - {metric: CG}\n"
        "  - {metric: gauc, drop_at_most: 1}\n"
        "  - SRR <= 40\n"
        "  - rejected <= 2\n"
        "  - SRE drop <= 2\n"
        "  - ndcg@10 >= 120 %\n"
        "  - SRE rise <= 150 %\n"
        "  - {metric: CG, share: undefined, at_most: 5}\n"
    )
    assert main(["gate", runs[1], "--config", str(gate)]) == 2
    error = capsys.readouterr().err
    for line, message in (
        (1, "least_n must be a whole number"),
        (2, "treshold is not an option"),
        (4, "rule 1: write a rule like `SRE >= 0.2`"),
        (5, "rule 2: "),
        (6, "rule 3: a bound on the value and one on its change"),
        (7, "rule 4: at_lest is not an option; did you mean at_least?"),
        (8, "rule 5: drop_at_most must be a number like 0.2"),
        (9, "rule 6: CG_at_i is a metric of iterations"),
        (10, "rule 7: a rule needs exactly one of"),
        (11, "rule 8: confidence must be from 50 %"),
        (12, "rule 9: share: undefined needs metric"),
        (13, "rule 10: a rule needs a bound"),
        (14, "rule 11: gauc has no value per conversation"),
        (15, "rule 12: SRR is a share: its values are at most 1; 40 % is written 40 % or 0.4"),
        (16, "rule 13: rejected is a share: its values are at most 1; 2 % is written 2 % or 0.02"),
        (17, "rule 14: SRE is a share: a change of it is at most 1; 2 % is"),
        (18, "rule 15: ndcg@10 is a share: its values are at most 1\n"),
        (20, "rule 17: undefined is a share: its values are at most 1; 5 %"),
    ):
        assert f"gate.yaml:{line}: {message}" in error
    assert "gate.yaml:19: " not in error  # a relative change may be that large
    assert "Traceback" not in error


def test_a_run_that_lost_its_conversations_is_refused(tmp_path, runs, capsys):
    """Its means are still there, and would pass."""
    run, gate = tmp_path / "run", tmp_path / "gate.yaml"
    shutil.copytree(runs[1], run)
    shutil.rmtree(run / "conversations")
    gate.write_text("rules: [CG >= 0]")
    assert main(["gate", runs[1], "--config", str(gate)]) == 0
    assert main(["gate", str(run), "--config", str(gate)]) == 2
    error = capsys.readouterr().err
    assert f"{run}/conversations has no files, but manifest.json counts " in error
    assert "conversations: it was removed since the run; run it again." in error


@pytest.mark.parametrize("text", ["", "rules: []", "[", "rules: {}", "a: 1\na: 2", "- 1"])
def test_files_without_valid_rules_are_refused(tmp_path, runs, capsys, text):
    gate = tmp_path / "gate.yaml"
    gate.write_text(text)
    assert main(["gate", runs[1], "--config", str(gate)]) == 2
    assert "gate.yaml" in capsys.readouterr().err
