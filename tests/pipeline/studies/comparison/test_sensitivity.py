"""`goodgain compare --sensitivity` reveals wins that come only from repeated results."""

import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.studies.comparison import sensitivity
from tests.pipeline.runs import write_jsonl
from tests.pipeline.studies.comparison.traces import base_arm, output_of

pytestmark = pytest.mark.slow

LABEL = {"conversation_id": "none", "iteration": 1, "rank": 1, "gain": 4}


def repeating_arm():
    """The base arm, with the results of the first iteration appended to those of the last."""
    conversations = base_arm()
    for records in conversations:
        records[-1]["results"] += records[0]["results"]
    return conversations


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """The JSON and the tables, 80 columns wide, of one analysis."""
    folder = tmp_path_factory.mktemp("repeated")
    runs = output_of(folder / "base", base_arm()), output_of(folder / "again", repeating_arm())
    analyse, rows = sensitivity.measure_sensitivity, []

    def analyse_once(*arguments):
        # Without this, the second command would score both runs under each policy again.
        if not rows:
            rows.extend(analyse(*arguments))
        return rows

    def printed(*words):
        with redirect_stdout(StringIO()) as output:
            assert main(["compare", *runs, "--metrics", "CG", "SRE", "--sensitivity", *words]) == 0
        return output.getvalue()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sensitivity, "measure_sensitivity", analyse_once)
        patch.setenv("COLUMNS", "80")
        return json.loads(printed("--json"))["sensitivity"], printed()


def test_a_repeating_candidate_is_better_only_without_deduplication(analysed):
    found, _ = analysed
    verdicts = {row["policy"]: row["verdict"] for row in found if row["metric"] == "CG"}
    assert verdicts == {
        "as run": "not shown",
        "hold_slot": "not shown",
        "no de-duplication": "better",
        "exact ids only": "not shown",
        "threshold 1": "not shown",
        "threshold 3": "not shown",
    }
    assert [row["policy"] for row in found if row["verdict_changes"] and row["metric"] == "CG"] == [
        "no de-duplication"
    ]


def test_table_names_metrics_whose_verdict_changes(analysed):
    _, text = analysed
    assert "Verdicts that change: Gain (CG)" in text
    lines = text.splitlines()
    assert all(len(line) <= 80 for line in lines if "goodgain explain" not in line)


def test_table_has_the_policies_of_one_metric_after_the_other(analysed):
    found, text = analysed
    policies = list(dict.fromkeys(row["policy"] for row in found))
    metrics = list(dict.fromkeys(row["metric"] for row in found))
    lines = text.partition("Under other policies")[2].splitlines()
    told = [(policy, line) for line in lines for policy in policies if f" {policy} " in line]
    assert [policy for policy, _ in told] == policies * len(metrics)
    named = [policy for policy, line in told if not line.startswith(" ")]
    assert named == ["as run"] * len(metrics)


def test_runs_whose_inputs_have_changed_are_refused(tmp_path, capsys):
    output = output_of(tmp_path / "out", base_arm())
    path = Path(f"{output}.jsonl")
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert main(["compare", output, output, "--sensitivity"]) == 2
    assert "inputs" in capsys.readouterr().err


def test_runs_of_which_something_was_in_memory_are_not_scored_again(tmp_path, capsys):
    records = [record for conversation in base_arm() for record in conversation]
    for name, given in (("traces", {}), ("labels", {"labels": [LABEL]})):
        traces = write_jsonl(tmp_path / "traces.jsonl", records) if given else records
        gg.evaluate(traces, **given).save(tmp_path / name)
        folder = str(tmp_path / name)
        assert main(["compare", folder, folder, "--sensitivity"]) == 2
        assert f"since its {name} were in memory" in capsys.readouterr().err
