"""Every file under examples does what it says."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"

pytestmark = pytest.mark.slow


@pytest.fixture
def said_by(monkeypatch, capsys):
    """Runs a script without arguments in this process, which has imported Beam already."""

    def said_by(script):
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", [script])
        runpy.run_path(script, run_name="__main__")
        return capsys.readouterr().out

    return said_by


def test_evaluate(said_by):
    said = said_by("examples/evaluate.py")
    assert "Run of 60 conversations, 57 in the means" in said
    assert "Iteration i = 1" in said


def test_beam_pipeline(said_by):
    said = said_by("examples/beam_pipeline.py")
    assert "{} CG: 30.3158 (n = 57)" in said
    assert "repeats itself: " in said


def test_beam_yaml():
    yaml = ("--yaml_pipeline_file=examples/beam.yaml", "--runner=FnApiRunner")
    done = subprocess.run(
        [sys.executable, "-m", "apache_beam.yaml.main", *yaml],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = done.stdout + done.stderr
    assert said.count("'SRE'") + said.count('"SRE"') >= 2


def test_nightly(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES / "nightly", tmp_path / "night")
    monkeypatch.chdir(tmp_path / "night")
    for day, seed in (("2025-03-03", "1"), ("2025-03-04", "2")):
        folder = Path("traces") / day
        folder.mkdir(parents=True)
        sample = ["sample", "--output", str(folder / "a.avro"), "--start", f"{day}T06:00:00+00:00"]
        assert main([*sample, "--seed", seed, "--conversations", "40"]) == 0
        assert main(["nightly", "--config", "nightly.yaml", "--date", day]) == 0
    assert (Path("nights") / "date=2025-03-04" / "report.html").is_file()


def test_every_example_is_run_here():
    names = {path.name for path in EXAMPLES.iterdir()}
    assert names == {"evaluate.py", "beam_pipeline.py", "beam.yaml", "nightly"}
