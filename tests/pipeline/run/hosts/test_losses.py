"""A run that loses or repeats records or labels fails, and its message has the counts (SPEC 3)."""

import gzip
import json
import re
from pathlib import Path

import pytest
from msgspec.structs import asdict

import goodgain as gg
from goodgain.pipeline.__main__ import main
from goodgain.pipeline.results.exit_codes import ExitCode
from goodgain.pipeline.results.sinks import _WriteShard
from goodgain.pipeline.run.hosts.joins_in_memory import _JoinRows
from goodgain.transforms.read import PlanShards
from goodgain.transforms.read_payloads import ReadShardPayloads
from goodgain.transforms.side_table_join import JoinKey, ReadFile
from tests.pipeline.runs import SAMPLE, manifest, rows, run, write_jsonl

pytestmark = pytest.mark.slow


def lose_a_payload(process):
    lost = []

    def losing(self, shard):
        for found in process(self, shard):
            if type(found) is tuple and not lost:
                lost.append(found)
                continue
            yield found

    return losing


def lose_all_payloads_of_a_bundle(process):
    return lambda self, shard: (found for found in process(self, shard) if type(found) is not tuple)


def lose_a_shard_with_its_counts(process):
    return lambda self, shard: process(self, shard) if shard.start else iter(())


def lose_the_shards_of_a_file(_):
    return lambda self, file: iter(())


def lose_a_score(write):
    """The score is lost after it was counted."""
    return lambda self, shard: write(self, (shard[0], list(shard[1])[:-1]))


def repeat_a_payload(process):
    twice = []

    def repeating(self, shard):
        for found in process(self, shard):
            yield found
            if type(found) is tuple and not twice:
                twice.append(found)
                yield ("another " + found[0], found[1])

    return repeating


# By loss: the step to break, and the beginning of the message.
DIFFERENT = "goodgain: [0-9]+ records were read but "
UNREAD = "goodgain: 0 of [0-9,]+ bytes of input were read; "
LOSSES = {
    lose_a_payload: (ReadShardPayloads, DIFFERENT),
    lose_all_payloads_of_a_bundle: (ReadShardPayloads, DIFFERENT),
    lose_a_shard_with_its_counts: (ReadShardPayloads, UNREAD),
    lose_the_shards_of_a_file: (PlanShards, UNREAD),
    lose_a_score: (_WriteShard, "goodgain: [0-7] of 8 conversations were written; "),
    repeat_a_payload: (ReadShardPayloads, DIFFERENT),
}
# The local engine groups payloads through files; others group them in the engine.
ENGINES = {
    "local": (),
    "portable": ("--runner=PortableRunner", "--job_endpoint=embed"),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("loss", LOSSES)
def test_loss_fails_the_run_and_publishes_nothing(loss, engine, few, tmp_path, monkeypatch, capsys):
    step, message = LOSSES[loss]
    monkeypatch.setattr(step, "process", loss(step.process))
    assert run(tmp_path / "out", [few], *ENGINES[engine]) == ExitCode.FAILED
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert re.match(message, last)
    assert last.endswith("the engine lost or repeated some, so nothing was published: run again.")
    assert not (tmp_path / "out" / "manifest.json").exists()


def lose_a_label(process):
    """The label is lost after it was counted as read."""

    def losing(self, element):
        found = list(process(self, element))
        return found[:1] + found[2:]

    return losing


def lose_labels_of_a_conversation(_):
    return lambda self, grouped: iter(())


def lose_joined_labels(process):
    return lambda self, grouped: (
        output for output in process(self, grouped) if type(output) is not tuple
    )


@pytest.mark.parametrize(
    ("engine", "step", "loss"),
    [
        ("portable", ReadFile, lose_a_label),
        ("portable", JoinKey, lose_labels_of_a_conversation),
        ("local", _JoinRows, lose_joined_labels),
    ],
)
def test_lost_labels_fail_the_run(engine, step, loss, tmp_path, monkeypatch, capsys):
    record = {"conversation_id": "c", "iteration": 1, "results": [{"id": "a"}, {"id": "b"}]}
    traces = write_jsonl(tmp_path / "in.jsonl", [record])
    labels = tmp_path / "labels.csv"
    labels.write_text("conversation_id,iteration,rank,gain\nc,1,1,3\nc,1,2,2\n")
    options = ("--labels", str(labels), *ENGINES[engine])
    assert run(tmp_path / "whole", [traces], *options) == ExitCode.DONE
    monkeypatch.setattr(step, "process", loss(step.process))
    assert run(tmp_path / "out", [traces], *options) == ExitCode.FAILED
    left = 1 if step is ReadFile else 0
    assert (
        f"2 labels were read but their outcomes are {left} joined + 0 repeated + 0 empty + 0 "
        "rejected; the engine lost or repeated some, so nothing was published: run again."
    ) in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_reports_files_that_change_during_the_run(tmp_path, monkeypatch, capsys):
    content = Path(SAMPLE).read_bytes()
    for name in ("shorter", "longer", "gone", "same"):
        (tmp_path / f"{name}.avro").write_bytes(content)
    from goodgain.pipeline.run.hosts import batch as run_module

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
    printed = capsys.readouterr().out
    assert f"had {size:,} bytes before the run and has {size - 1000:,} now" in printed
    assert "before the run and is gone now" in printed


@pytest.fixture
def cut(tmp_path):
    """A compressed file without its end, so that nobody knows how many records are lost."""
    line = json.dumps({"conversation_id": "c", "iteration": 1, "results": [{"id": "x", "gain": 3}]})
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(f"{line}\n".encode() * 500)[:-12])
    return path


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ((), ExitCode.DONE),
        (("--max-rejected=100%",), ExitCode.DONE),
        (("--max-rejected=50%",), ExitCode.DATA_QUALITY),
        (("--max-rejected=5",), ExitCode.DATA_QUALITY),
    ],
)
def test_a_loss_of_unknown_size_exceeds_a_limit_that_is_given(limit, code, cut, tmp_path, capsys):
    lost = "an unknown number more is lost at 1 place, which may exceed --max-rejected"
    assert run(tmp_path / "out", [cut], *limit) == code
    assert (lost in " ".join(capsys.readouterr().out.split())) is (code != ExitCode.DONE)
    (row,) = rows(tmp_path / "out", "rejected")
    assert (row["records"], row["at_least"]) == (1, True)
    assert main(["validate", str(cut), *limit]) == code
    assert (lost in " ".join(capsys.readouterr().out.split())) is (code != ExitCode.DONE)
    given = {"max_rejected": limit[0].partition("=")[2]} if limit else {}
    evaluated = gg.evaluate(str(cut), **given).manifest.records
    assert asdict(evaluated) == manifest(tmp_path / "out")["records"]
    assert evaluated.unknown_losses == 1
    assert evaluated.too_many_rejected is (code != ExitCode.DONE)


def test_a_gate_on_rejected_records_fails_after_a_loss_of_unknown_size(cut, tmp_path, capsys):
    (tmp_path / "gate.yaml").write_text("rules: [rejected <= 50 %]")
    assert run(tmp_path / "out", [cut]) == ExitCode.DONE
    capsys.readouterr()
    code = main(["gate", str(tmp_path / "out"), "--config", str(tmp_path / "gate.yaml")])
    assert code == ExitCode.REGRESSION
    assert "an unknown number more is lost at 1 place" in " ".join(capsys.readouterr().out.split())
