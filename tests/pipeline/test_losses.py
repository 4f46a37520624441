"""Where records are lost between reading and scoring, the run fails and says so (SPEC 3)."""

import re
from pathlib import Path

import pytest

from goodgain.pipeline.exit_codes import ExitCode
from goodgain.pipeline.outputs.sinks import _WriteShard
from goodgain.transforms.labels import _Join, _ReadFile
from goodgain.transforms.read import PlanShards
from goodgain.transforms.read_payloads import ReadShardPayloads
from tests.pipeline.runs import SAMPLE, manifest, run, write_jsonl

pytestmark = pytest.mark.slow


def a_payload(process):
    lost = []

    def losing(self, shard):
        for found in process(self, shard):
            if type(found) is tuple and not lost:
                lost.append(found)
                continue
            yield found

    return losing


def all_payloads_of_a_bundle(process):
    return lambda self, shard: (found for found in process(self, shard) if type(found) is not tuple)


def a_shard_with_its_counts(process):
    return lambda self, shard: process(self, shard) if shard.start else iter(())


def the_plan_of_a_file(_):
    return lambda self, file: iter(())


def what_was_scored(write):
    """After it was counted."""
    return lambda self, shard: write(self, (shard[0], list(shard[1])[:-1]))


def a_payload_given_twice(process):
    twice = []

    def repeating(self, shard):
        for found in process(self, shard):
            yield found
            if type(found) is tuple and not twice:
                twice.append(found)
                yield ("another " + found[0], found[1])

    return repeating


# What is lost: the step that loses it, and the beginning of the message.
DIFFERENT = "goodgain: 269 records were read but "
UNREAD = "goodgain: 0 of [0-9,]+ bytes of input were read; "
LOSSES = {
    a_payload: (ReadShardPayloads, DIFFERENT),
    all_payloads_of_a_bundle: (ReadShardPayloads, DIFFERENT),
    a_shard_with_its_counts: (ReadShardPayloads, UNREAD),
    the_plan_of_a_file: (PlanShards, UNREAD),
    what_was_scored: (_WriteShard, "goodgain: [0-9]+ of 60 conversations were written; "),
    a_payload_given_twice: (ReadShardPayloads, DIFFERENT),
}
GATHERED = {
    "through files": (),
    "by the engine": ("--runner=PortableRunner", "--job_endpoint=embed"),
}


@pytest.mark.parametrize("gathered", GATHERED)
@pytest.mark.parametrize("loss", LOSSES)
def test_it_fails_and_publishes_nothing(loss, gathered, tmp_path, monkeypatch, capsys):
    step, said = LOSSES[loss]
    monkeypatch.setattr(step, "process", loss(step.process))
    assert run(tmp_path / "out", [SAMPLE], *GATHERED[gathered]) == ExitCode.FAILED
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert re.match(said, last)
    assert last.endswith("the engine lost or repeated some, so nothing was published: run again.")
    assert not (tmp_path / "out" / "manifest.json").exists()


def a_label(process):
    """After it was counted as read."""

    def losing(self, element):
        found = list(process(self, element))
        return found[:1] + found[2:]

    return losing


def labels_of_a_conversation(_):
    return lambda self, grouped: iter(())


@pytest.mark.parametrize(
    ("step", "loss"), [(_ReadFile, a_label), (_Join, labels_of_a_conversation)]
)
def test_labels_that_are_lost_fail_the_run(step, loss, tmp_path, monkeypatch, capsys):
    record = {"conversation_id": "c", "iteration": 1, "results": [{"id": "a"}, {"id": "b"}]}
    traces = write_jsonl(tmp_path / "in.jsonl", [record])
    labels = tmp_path / "labels.csv"
    labels.write_text("conversation_id,iteration,rank,gain\nc,1,1,3\nc,1,2,2\n")
    options = ("--labels", str(labels))
    assert run(tmp_path / "whole", [traces], *options) == ExitCode.DONE
    monkeypatch.setattr(step, "process", loss(step.process))
    assert run(tmp_path / "out", [traces], *options) == ExitCode.FAILED
    left = 1 if step is _ReadFile else 0
    assert (
        f"2 labels were read but their outcomes are {left} joined + 0 repeated + 0 empty + 0 "
        "rejected; the engine lost or repeated some, so nothing was published: run again."
    ) in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_file_that_changes_meanwhile_is_told(tmp_path, monkeypatch, capsys):
    content = Path(SAMPLE).read_bytes()
    for name in ("shorter", "longer", "gone", "same"):
        (tmp_path / f"{name}.avro").write_bytes(content)
    from goodgain.pipeline import run as run_module

    pipeline = run_module._run_pipeline

    def changing(*arguments):
        (tmp_path / "shorter.avro").write_bytes(content[:-1000])
        (tmp_path / "longer.avro").write_bytes(content + b"x")
        pipeline(*arguments)
        (tmp_path / "gone.avro").unlink()

    monkeypatch.setattr(run_module, "_run_pipeline", changing)
    code = run(tmp_path / "out", [tmp_path / "*.avro"], "--max-rejected=100%")
    assert code == ExitCode.DONE
    found = {Path(file["path"]).stem: file for file in manifest(tmp_path / "out")["inputs"]}
    size = len(content)
    assert {name: file.get("size_after", size) for name, file in found.items()} == {
        "shorter": size - 1000,
        "longer": size + 1,
        "gone": None,
        "same": size,
    }
    assert manifest(tmp_path / "out")["records"]["rejected"] >= 1
    said = capsys.readouterr().out
    assert f"had {size:,} bytes before the run and has {size - 1000:,} now" in said
    assert "before the run and is gone now" in said
