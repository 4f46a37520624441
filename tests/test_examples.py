"""Every example runs, and prints or writes what it promises."""

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
def output_of(monkeypatch, capsys):
    """Runs a script in this process, which has imported Beam already; returns what it prints."""

    def output_of(script):
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", [script])
        runpy.run_path(script, run_name="__main__")
        return capsys.readouterr().out

    return output_of


def test_evaluate_prints_the_summary_of_a_run(output_of):
    printed = output_of("examples/evaluate.py")
    assert "Run of 60 conversations, 57 in the means" in printed
    assert "Iteration i = 1" in printed


def test_beam_pipeline_prints_means_and_repeating_conversations(output_of):
    printed = output_of("examples/beam_pipeline.py")
    assert "{} CG: 30.4737 (n = 57)" in printed
    assert "repeats itself: " in printed


def test_beam_yaml_prints_metrics():
    yaml = ("--yaml_pipeline_file=examples/beam.yaml", "--runner=FnApiRunner")
    done = subprocess.run(
        [sys.executable, "-m", "apache_beam.yaml.main", *yaml],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    printed = done.stdout + done.stderr
    assert printed.count("'SRE'") + printed.count('"SRE"') >= 2


def test_the_test_of_an_agent_passes():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "examples/test_agent.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("..")


def test_nightly_writes_a_report_of_the_second_day(tmp_path, monkeypatch):
    shutil.copytree(EXAMPLES / "nightly", tmp_path / "night")
    monkeypatch.chdir(tmp_path / "night")
    for day, seed in (("2025-03-03", "1"), ("2025-03-04", "2")):
        folder = Path("traces") / day
        folder.mkdir(parents=True)
        sample = ["sample", "--output", str(folder / "a.avro"), "--start", f"{day}T06:00:00+00:00"]
        every = ["--seed", seed, "--conversations", "40", "--unlabelled-share", "0"]
        assert main([*sample, *every]) == 0
        assert main(["nightly", "--config", "nightly.yaml", "--date", day]) == 0
    assert (Path("nights") / "date=2025-03-04" / "report.html").is_file()


def test_every_example_has_a_test():
    names = {path.name for path in EXAMPLES.iterdir()} - {"__pycache__"}
    assert names == {"evaluate.py", "test_agent.py", "beam_pipeline.py", "beam.yaml", "nightly"}
