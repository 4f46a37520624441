"""Runs that only submit their job, as a Dataflow template does: the job publishes the outputs."""

import json

import pytest

from goodgain.pipeline.results.exit_codes import ExitCode
from tests.pipeline.runs import FULL, contents, manifest, names_in, run, write_jsonl

pytestmark = pytest.mark.slow

# The local runner ignores the option, and so runs the job that would be submitted.
SUBMIT_ONLY = "--template_location=gs://bucket/templates/one"
GOOD = {"conversation_id": "good", "iteration": 1, "results": [{"gain": 3, "ids": {"doc_id": "d"}}]}


def manifest_without_times(output):
    found = manifest(output)
    assert found.pop("started") <= found.pop("finished")
    del found["parameters"]["output"]
    return found


def test_publishes_the_outputs_of_an_ordinary_run(tmp_path, capsys, few):
    assert run(tmp_path / "ordinary", [few], *FULL, "--shards=3") == ExitCode.DONE
    capsys.readouterr()
    output = tmp_path / "submitted"
    assert run(output, [few], *FULL, "--shards=3", SUBMIT_ONLY) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[-1] == (
        f"goodgain: the job is submitted; it publishes its outputs to {output} itself, "
        "manifest.json last."
    )
    assert names_in(output) == names_in(tmp_path / "ordinary")
    assert contents(output) == contents(tmp_path / "ordinary")
    assert manifest_without_times(output) == manifest_without_times(tmp_path / "ordinary")
    report = (output / "report.html").read_text()
    assert manifest(output)["finished"][:16].replace("T", " ") in report


def test_replaces_an_earlier_run(tmp_path, few):
    output = tmp_path / "out"
    assert run(output, [few], *FULL, "--shards=3") == ExitCode.DONE
    assert run(output, [few], SUBMIT_ONLY) == ExitCode.USAGE
    assert run(output, [few], "--overwrite", SUBMIT_ONLY) == ExitCode.DONE
    assert run(tmp_path / "fresh", [few], "--overwrite") == ExitCode.DONE
    assert contents(output) == contents(tmp_path / "fresh")
    assert manifest_without_times(output) == manifest_without_times(tmp_path / "fresh")


def test_manifest_flags_too_many_rejected_records(tmp_path):
    (tmp_path / "bad.jsonl").write_text("{broken\n")
    assert run(tmp_path / "out", [tmp_path / "bad.jsonl"], SUBMIT_ONLY) == ExitCode.DONE
    assert manifest(tmp_path / "out")["records"]["too_many_rejected"]


def test_unusable_judgments_fail_the_job(tmp_path, capsys):
    good = write_jsonl(tmp_path / "good.jsonl", [GOOD])
    lines = [f"good 0 d{number} 1\n" for number in range(20_000)] + ["good 0 d many\n"]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    qrels = f"--qrels={tmp_path}/qrels.txt"
    assert run(tmp_path / "ordinary", [good], qrels) == ExitCode.USAGE
    message = capsys.readouterr().err.splitlines()[-1].removeprefix("goodgain: ")
    assert message.startswith(f"{tmp_path}/qrels.txt:20001: ")
    assert run(tmp_path / "out", [good], qrels, SUBMIT_ONLY) == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_rejects_a_gate(tmp_path, capsys, few):
    (tmp_path / "gate.yaml").write_text(json.dumps({"rules": ["SRE >= 0.2"]}))
    gate = f"--gate={tmp_path}/gate.yaml"
    assert run(tmp_path / "out", [few], gate, SUBMIT_ONLY) == ExitCode.USAGE
    assert "--gate checks finished outputs" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
