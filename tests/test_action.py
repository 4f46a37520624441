"""The steps of action.yml, as a runner of GitHub would run them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.pipeline.init_commands import with_programs_of

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
SAMPLE = ROOT / "configs/data/sample.avro"
# The command line that a runner uses for `shell: bash`.
BASH = ("bash", "--noprofile", "--norc", "-eo", "pipefail")

pytestmark = pytest.mark.slow


class Job:
    """A job in a folder, whose workflow uses the action with some inputs."""

    def __init__(self, folder):
        self.folder = folder
        self.uploaded = None
        programs = folder / "programs"
        programs.mkdir()
        pip = programs / "pip"  # which only notes what it is asked to install
        pip.write_text(f'#!/bin/sh\necho "$*" >> {folder}/installed\n')
        pip.chmod(0o755)
        (folder / "temp").mkdir()
        environment = with_programs_of(Path(sys.executable).parent, os.environ)
        self.environment = {
            **with_programs_of(programs, environment),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "RUNNER_TEMP": str(folder / "temp"),
        }

    def run(self, **inputs):
        """The exit code of the first step that fails, else 0."""
        given = {name: input_.get("default") for name, input_ in ACTION["inputs"].items()} | inputs
        failed = 0
        for step in ACTION["runs"]["steps"]:
            condition = step.get("if", "")
            names = re.findall(r"inputs\.(\w+) != ''", condition)
            if not all(given[name] for name in names) or (failed and "always()" not in condition):
                continue
            if "run" in step:
                failed = failed or self._shell(step, given)
            elif "upload" in step["uses"]:
                self.uploaded = fill(step["with"]["path"], given)
        return failed

    def _shell(self, step, given):
        assert step["shell"] == "bash"
        script = self.folder / "script.sh"
        script.write_text(step["run"])
        variables = {name: fill(value, given) for name, value in step.get("env", {}).items()}
        done = subprocess.run(
            [*BASH, str(script)], cwd=self.folder, env=self.environment | variables, check=False
        )
        return done.returncode

    def text(self, name):
        return (self.folder / name).read_text()


def fill(text, given):
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], text)


@pytest.fixture
def job(tmp_path):
    return Job(tmp_path)


def test_a_run_that_passes_has_a_summary_and_uploads_its_outputs(job):
    (job.folder / "gate.yaml").write_text("rules:\n- SRE >= 10 %\n")
    options = "--slice market --metrics ndcg@10 --cluster market --pass 'CG >= 5'"
    assert job.run(traces=str(SAMPLE), options=options, rules="gate.yaml") == 0
    assert job.text("summary.md").startswith("### Gate passed: goodgain")
    assert job.text("outputs") == "passed=true\n"
    assert (job.folder / job.uploaded / "report.html").exists()
    assert str(ROOT) in job.text("installed")


def test_a_broken_rule_fails_the_job_and_still_uploads(job):
    (job.folder / "gate.yaml").write_text("rules:\n- SRE >= 90 %\n- CG drop <= 2 %\n")
    names = job.folder / "day one" / "traces"
    names.mkdir(parents=True)
    (names / "sample.avro").write_bytes(SAMPLE.read_bytes())
    assert job.run(traces="day*/traces/*.avro", rules="gate.yaml", output="out put") == 4
    assert "Gate failed" in job.text("summary.md")
    assert job.text("outputs") == "passed=false\n"
    assert job.uploaded == "out put"


def test_a_run_of_another_step_is_compared_with_a_baseline(job):
    (job.folder / "gate.yaml").write_text("rules:\n- CG drop <= 2 %\n")
    assert job.run(traces=str(SAMPLE), rules="gate.yaml", output="release") == 4  # no baseline
    assert job.run(traces=str(SAMPLE), output="candidate", rules="goodgain:gate") == 0
    code = job.run(output="candidate", rules="gate.yaml", baseline="release", artifact="")
    assert code == 0
    assert job.text("outputs").splitlines() == ["passed=false", "passed=true", "passed=true"]


def test_a_baseline_that_is_missing_fails_the_job_and_the_summary_says_so(job):
    assert job.run(traces=str(SAMPLE), baseline="last release") == 2
    assert "Gate not checked" in job.text("summary.md")
    assert job.text("outputs") == "passed=false\n"
    assert job.uploaded == "goodgain"


@pytest.mark.parametrize("empty", ['""', "''"])
def test_an_empty_word_at_the_end_reaches_the_run(job, empty):
    """A shell drops blank lines at the end of what a command prints."""
    program = job.folder / "programs" / "goodgain"
    program.write_text('#!/bin/sh\nfor word; do echo "<$word>" >> "words of $1"; done\n')
    program.chmod(0o755)
    assert job.run(traces="a.avro", options=f"--slice {empty}", output="out put") == 0
    words = ["run", "--input", "a.avro", "--slice", "", "--output", "out put"]
    assert job.text("words of run") == "".join(f"<{word}>\n" for word in words)


def test_inputs_reach_scripts_only_as_variables():
    """As text of a script they could run commands."""
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    assert all(input_["description"] for input_ in ACTION["inputs"].values())
