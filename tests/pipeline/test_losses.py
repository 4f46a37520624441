"""Where records are lost between reading and scoring, the run fails and says so (SPEC 3)."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from goodgain.pipeline.exit_codes import ExitCode
from tests.pipeline.runs import SAMPLE, manifest, run

pytestmark = pytest.mark.slow

# By name, what is lost: patched into every process of the run, as it starts.
LOSSES = {
    "a payload": """
import goodgain.transforms.read_payloads as reading
process, lost = reading.ReadShardPayloads.process, []
def losing(self, shard):
    for found in process(self, shard):
        if type(found) is tuple and not lost:
            lost.append(found)
            continue
        yield found
reading.ReadShardPayloads.process = losing
""",
    "all payloads of a bundle": """
import goodgain.transforms.read_payloads as reading
process = reading.ReadShardPayloads.process
def losing(self, shard):
    return (found for found in process(self, shard) if type(found) is not tuple)
reading.ReadShardPayloads.process = losing
""",
    "a shard with its counts": """
import goodgain.transforms.read_payloads as reading
process = reading.ReadShardPayloads.process
def losing(self, shard):
    return process(self, shard) if shard.start else iter(())
reading.ReadShardPayloads.process = losing
""",
    "the plan of a file": """
import goodgain.transforms.read as planning
planning.PlanShards.process = lambda self, file: iter(())
""",
    "what was scored, after it was counted": """
import goodgain.pipeline.outputs.sinks as sinks
write = sinks._WriteShard.process
sinks._WriteShard.process = lambda self, shard: write(self, (shard[0], list(shard[1])[:-1]))
""",
    "a payload given twice": """
import goodgain.transforms.read_payloads as reading
process, twice = reading.ReadShardPayloads.process, []
def repeating(self, shard):
    for found in process(self, shard):
        yield found
        if type(found) is tuple and not twice:
            twice.append(found)
            yield ("another " + found[0], found[1])
reading.ReadShardPayloads.process = repeating
""",
}
SAID = {
    "a shard with its counts": "goodgain: 0 of [0-9,]+ bytes of input were read; ",
    "the plan of a file": "goodgain: 0 of [0-9,]+ bytes of input were read; ",
    "what was scored, after it was counted": "goodgain: [0-9]+ of 60 conversations were written; ",
}
GATHERED = {
    "in state": (),
    "by a grouping": ("--runner=PortableRunner", "--job_endpoint=embed"),
}


@pytest.mark.parametrize("gathered", GATHERED)
@pytest.mark.parametrize("loss", LOSSES)
def test_it_fails_and_publishes_nothing(loss, gathered, tmp_path):
    # Every Python process imports this module when it starts.
    (tmp_path / "sitecustomize.py").write_text(patch_of(loss))
    words = ["run", "--input", SAMPLE, "--output", str(tmp_path / "out"), *GATHERED[gathered]]
    done = subprocess.run(
        [sys.executable, "-m", "goodgain", *words],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.FAILED, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert re.match(SAID.get(loss, "goodgain: 269 records were read but "), last)
    assert last.endswith("the engine lost or repeated some, so nothing was published: run again.")
    assert not (tmp_path / "out" / "manifest.json").exists()


def patch_of(loss):
    module = next(iter(re.findall(r"import ([\w.]+) as", LOSSES[loss])))
    return _WHEN_IMPORTED.format(patch=LOSSES[loss], module=module)


# The patch is applied when the module that it changes has been imported, since Beam must not be
# imported by every process that starts.
_WHEN_IMPORTED = '''
import importlib.abc, importlib.util, sys

PATCH = """{patch}"""
NAME = "{module}"


class Patching(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name != NAME:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def patched(module):
            load(module)
            exec(PATCH, {{}})

        spec.loader.exec_module = patched
        return spec


sys.meta_path.insert(0, Patching())
'''


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
