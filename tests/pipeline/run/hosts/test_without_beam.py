"""Python calls and commands that need no pipeline run without Beam, whose import takes a second."""

import json
import subprocess
import sys

import pytest

from goodgain.pipeline.__main__ import main
from tests.pipeline.runs import SAMPLE, run

GATE = "{rules: [CG >= 0, CG drop <= 50 %, conversations >= 5]}"
CONVERSATION = "40b47410-079c-50a6-2357-d1cb69bb3806"

# An import of Beam fails, and its traceback shows who asked.
REFUSED = """
import sys

class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "apache_beam":
            raise AssertionError(f"{name} is imported")

sys.meta_path.insert(0, Refusing())
"""

CALLS = """
import warnings
import goodgain as gg

warnings.simplefilter("ignore", gg.GoodGainWarning)
sample, run_folder, folder = sys.argv[1:]
run = gg.evaluate(sample, metrics=["ndcg@10"], slices=["market"], per_call=True)
for name in ("conversations", "iterations", "means", "duplicates", "calls", "rejected"):
    assert list(getattr(run, name))
assert run.warnings is not None and repr(run) and repr(run.means)
run.report(f"{folder}/report.html")
run.save(f"{folder}/saved")
assert run.explain(run.conversations[0]["conversation_id"])
other = gg.load(f"{folder}/saved")
assert list(other.means) == list(run.means)
for base in (run, other, f"{folder}/saved", run_folder):
    found = gg.compare(base, other, force=True)
    assert found.summary and len(list(found.rows)) > 10
    found.report(f"{folder}/comparison.html")
assert gg.load(run_folder).explain(run.conversations[0]["conversation_id"])
assert "apache_beam" not in sys.modules
"""

COMMANDS = """
import json
from goodgain.pipeline.__main__ import main

for words in json.loads(sys.argv[1]):
    assert main(words) == 0, words
sys.stderr.write("all done")
"""


def python(script, *words):
    return subprocess.run(
        [sys.executable, "-c", REFUSED + script, *map(str, words)], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """A finished run in each format."""
    folder = tmp_path_factory.mktemp("outputs")
    for file_format in ("parquet", "jsonl"):
        assert run(folder / file_format, [SAMPLE], f"--format={file_format}") == 0
    return folder


def test_the_refusal_shows_who_imports_beam():
    done = python("import goodgain.transforms.score")
    assert done.returncode == 1
    assert "score.py" in done.stderr
    assert "apache_beam is imported" in done.stderr


@pytest.mark.slow
def test_python_without_beam(outputs, tmp_path):
    done = python(CALLS, SAMPLE, outputs / "parquet", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_commands_without_beam(outputs, tmp_path):
    gate = tmp_path / "gate.yaml"
    gate.write_text(GATE)
    both = (outputs / "parquet", outputs / "jsonl")
    assert_done(
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["completion", "bash"],
        ["metrics"],
        ["validate", SAMPLE],
        ["explain", CONVERSATION, "--input", SAMPLE],
        ["compare", *both, "--json"],
        ["compare", *both, "--output", tmp_path / "comparison"],
        ["gate", both[0], "--config", gate, "--baseline", both[1]],
        ["report", both[0]],
        ["report", tmp_path / "comparison"],
        ["export", both[0], "--to", "otlp", "--output", tmp_path / "otlp.jsonl"],
    )


@pytest.mark.slow
def test_commands_on_a_pool_without_beam(tmp_path):
    pool = tmp_path / "pool"
    assert main(["pool", "build", "--run", f"a={SAMPLE}", "--output", str(pool)]) == 0
    outputs = [tmp_path / name for name in ("base", "candidate")]
    for folder in outputs:
        assert run(folder, [SAMPLE], "--pool", str(pool), "--run-name", "a") == 0
    assert_done(
        ["compare", *outputs, "--pool", pool, "--json"],
        ["explain", CONVERSATION, "--input", SAMPLE, "--pool", pool, "--run-name", "a"],
        ["pool", "show", pool],
        ["pool", "todo", pool, "--output", tmp_path / "todo.csv"],
        ["pool", "agree", pool, "votes", "votes"],
    )


def assert_done(*commands):
    """Run commands one after another in one process, in which none can import Beam."""
    done = python(COMMANDS, json.dumps([list(map(str, words)) for words in commands]))
    assert (done.returncode, done.stderr) == (0, "all done")
