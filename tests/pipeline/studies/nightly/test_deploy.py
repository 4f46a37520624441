"""The files in configs/deploy, as far as they can be checked without their services."""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from goodgain.pipeline.cli.commands import load_command, parse_arguments

ROOT = Path(__file__).parents[4]
DEPLOY = ROOT / "configs/deploy"
FILES = sorted(path.name for path in DEPLOY.iterdir() if path.is_file())
FIRST_WORDS = {
    "Dockerfile": "docker build -f configs/deploy/Dockerfile",
    "airflow_dag.py": "cp airflow_dag.py",
    "crontab": "crontab ./crontab",
    "github-workflow.yaml": "cp github-workflow.yaml",
    "goodgain-nightly.service": "cp goodgain-nightly.* /etc/systemd/system/",
    "goodgain-nightly.timer": "cp goodgain-nightly.* /etc/systemd/system/",
    "kubernetes-cronjob.yaml": "kubectl apply -f kubernetes-cronjob.yaml",
}


def text(name):
    return (DEPLOY / name).read_text()


def yaml_of(name):
    return yaml.safe_load(text(name))


def test_each_file_starts_with_the_command_that_uses_it():
    assert {name: text(name).startswith(f"# {FIRST_WORDS[name]}") for name in FILES} == (
        dict.fromkeys(FIRST_WORDS, True)
    )


@pytest.mark.parametrize("name", FILES)
def test_the_first_command_names_no_path_of_a_checkout(name):
    """Except that for the image, which is built from the source."""
    first, *_ = text(name).splitlines()
    assert ("configs/" in first) is (name == "Dockerfile")


def test_the_command_of_the_page_copies_the_files(tmp_path):
    page = (ROOT / "docs/nightly.md").read_text()
    (commands,) = re.findall(r"```sh\n([^`]*^cp -r .+\n)```", page, re.MULTILINE)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    subprocess.run(["sh", "-e", "-c", commands], check=True, cwd=tmp_path, env=environment)
    assert set(FILES) <= {path.name for path in (tmp_path / "deploy").iterdir()}


def check_words(words):
    """Parse the arguments after `goodgain nightly`, and check them."""
    args = parse_arguments(load_command("nightly"), words)
    assert args.config == "nightly.yaml"
    assert args.beam_arguments == []
    return args


@pytest.mark.parametrize("name", ["crontab", "goodgain-nightly.service"])
def test_crontab_and_service_have_valid_arguments(name):
    (command,) = re.findall(r"^[^#].*goodgain nightly (.*?)(?: >>|$)", text(name), re.MULTILINE)
    assert check_words(shlex.split(command)).rerun_late


def test_crontab_line_is_valid_shell_at_half_past_two():
    (line,) = (line for line in text("crontab").splitlines() if re.match(r"[0-9*]", line))
    *fields, command = line.split(maxsplit=5)
    assert fields == ["30", "2", "*", "*", "*"]
    assert "%" not in command  # cron would end the line there
    subprocess.run(["sh", "-n", "-c", command], check=True)


def test_crontab_runs_with_and_without_the_environment_file(tmp_path):
    (line,) = (line for line in text("crontab").splitlines() if line.startswith("30 "))
    command = line.split(maxsplit=5)[5].replace("/opt/goodgain", str(tmp_path))
    fake = tmp_path / "goodgain"
    fake.write_text('#!/bin/sh\necho "$GOODGAIN_WEBHOOK $*"\n')
    fake.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", command], check=True, env=environment)
    (tmp_path / "nightly.env").write_text("GOODGAIN_WEBHOOK=http://hook\n")
    subprocess.run(["sh", "-c", command], check=True, env=environment)
    words = "nightly --config nightly.yaml --rerun-late"
    assert (tmp_path / "nightly.log").read_text() == f" {words}\nhttp://hook {words}\n"


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_units_are_valid(tmp_path):
    for name in ("goodgain-nightly.service", "goodgain-nightly.timer"):
        # systemd-analyze checks that the program exists.
        unit = text(name).replace("/opt/goodgain/.venv/bin/goodgain", "/bin/true")
        (tmp_path / name).write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_kubernetes_cron_job_is_consistent():
    job = yaml_of("kubernetes-cronjob.yaml")
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "CronJob")
    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"][0] == "nightly"
    check_words(container["args"][1:])
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    # A pod failure policy needs restartPolicy: Never, and names the container.
    (rule,) = job["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert pod["restartPolicy"] == "Never"
    assert rule["onExitCodes"]["containerName"] == container["name"]


def test_dockerfile_copies_existing_files():
    lines = text("Dockerfile").splitlines()
    # Files copied from another stage are made there.
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ")]
    sources = [word for words in copies if not words[0].startswith("--from") for word in words]
    assert sources
    assert all((ROOT / source).exists() for source in sources)
    assert 'ENTRYPOINT ["goodgain"]' in lines


def test_github_workflow_has_valid_commands():
    workflow = yaml_of("github-workflow.yaml")
    on = workflow[True]  # YAML reads the key `on` as true
    assert on["schedule"] == [{"cron": "30 2 * * *"}]
    steps = workflow["jobs"]["nightly"]["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    (command,) = (step["run"] for step in steps if "goodgain nightly" in step.get("run", ""))
    words = command.removeprefix("goodgain nightly ").replace('${DAY:+--date "$DAY"}', "")
    check_words(shlex.split(words))
    for step in steps:
        if "run" in step:
            subprocess.run(["sh", "-n", "-c", step["run"]], check=True)


def test_airflow_dag_has_valid_arguments():
    tree = ast.parse(text("airflow_dag.py"))
    calls = {
        call.func.id: {keyword.arg: keyword.value for keyword in call.keywords}
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }
    assert ast.literal_eval(calls["DAG"]["max_active_runs"]) == 1
    command = ast.literal_eval(calls["BashOperator"]["bash_command"])
    words = command.replace("{{ data_interval_start | ds }}", "2025-03-04").split()
    assert words[:2] == ["goodgain", "nightly"]
    assert check_words(words[2:]).date == "2025-03-04"
