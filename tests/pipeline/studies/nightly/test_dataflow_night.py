"""configs/deploy/dataflow-night.sh with a fake `gcloud` on its PATH."""

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from tests.pipeline.studies.nightly.world import World

ROOT = Path(__file__).parents[4]
SCRIPT = ROOT / "configs/deploy/dataflow-night.sh"
DAY = "2025-03-01"
# Records its arguments; the state of a job is the next line of the file `states`.
GCLOUD = """
echo "gcloud $*" >> calls
case "$1 $2 $3" in
  "storage ls "*) test -e "$3" ;;
  "storage rm "*) rm "$3" ;;
  "dataflow flex-template run") eval "$LAUNCH" ;;
  "dataflow jobs describe")
    state=$(head -n 1 states)
    sed -i 1d states
    [ "$state" != no-answer ] || exit 1
    echo "$state" ;;
  *) exit 9 ;;
esac
"""


class Cloud:
    """A folder in which the script is started, with the fake programs that it calls."""

    def __init__(self, folder):
        self.folder = folder
        self.bucket = folder / "bucket"
        self.bucket.mkdir()
        self.environment = {
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "BUCKET": str(self.bucket),
            "REGION": "us-central1",
            "IMAGE": "host/image:tag",
            "POLL_SECONDS": "0",
            "LAUNCH": "echo job-1",
        }
        (folder / "bin").mkdir()
        self.program("gcloud", GCLOUD)
        self.program("goodgain", 'echo "goodgain $*" >> calls; exit ${CODE:-0}')

    def program(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def states(self, *states):
        (self.folder / "states").write_text("".join(f"{state}\n" for state in states))

    def night(self, *words, **environment):
        return subprocess.run(
            ["sh", str(SCRIPT), *words],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def calls(self):
        return [shlex.split(line) for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def cloud(tmp_path):
    return Cloud(tmp_path)


def test_the_script_starts_a_job_waits_for_it_and_runs_nightly(cloud):
    cloud.states("JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING", "JOB_STATE_DONE")
    done = cloud.night(DAY)
    assert (done.returncode, done.stderr) == (0, "")
    list_bucket, list_manifest, launch, *describe, nightly = cloud.calls()
    output = f"{cloud.bucket}/goodgain/date={DAY}"
    assert list_bucket == ["gcloud", "storage", "ls", str(cloud.bucket)]
    assert list_manifest == ["gcloud", "storage", "ls", f"{output}/manifest.json"]
    assert launch[:7] == [
        *("gcloud", "dataflow", "flex-template", "run", f"goodgain-{DAY}"),
        *("--region", "us-central1"),
    ]
    given = ",".join(value for word, value in pairwise(launch) if word == "--parameters")
    assert dict(one.split("=", 1) for one in given.split(",")) == {
        "command": "run",
        "config": "/template/configs/run.yaml",
        "input": f"{cloud.bucket}/traces/date={DAY}/*",
        "output": output,
        "overwrite": "true",
        "sdk_container_image": "host/image:tag",
    }
    poll = "gcloud dataflow jobs describe job-1 --region us-central1 --format value(currentState)"
    assert describe == [poll.split()] * 4
    assert nightly == f"goodgain nightly --config nightly.yaml --date {DAY}".split()


@pytest.mark.parametrize("code", [0, 1, 4])
@pytest.mark.parametrize("state", ["JOB_STATE_FAILED", "JOB_STATE_CANCELLED"])
def test_a_failed_job_fails_the_script_after_nightly_has_run(state, code, cloud):
    cloud.states("JOB_STATE_RUNNING", state)
    done = cloud.night(DAY, CODE=str(code))
    assert done.returncode == (code or 1)
    assert done.stderr == f"dataflow-night: the job of {DAY} (job-1) is {state}.\n"
    assert cloud.calls()[-1][:2] == ["goodgain", "nightly"]  # which sends the notifications


def test_a_job_that_does_not_start_fails_the_script_after_nightly_has_run(cloud):
    done = cloud.night(DAY, LAUNCH="exit 1")
    assert (done.returncode, done.stderr) == (
        1,
        f"dataflow-night: the job of {DAY} is not started.\n",
    )
    assert [words[:2] for words in cloud.calls()[-2:]] == [
        ["gcloud", "dataflow"],
        ["goodgain", "nightly"],
    ]


def test_the_script_exits_with_the_code_of_nightly(cloud):
    cloud.states("JOB_STATE_DONE")
    assert cloud.night(DAY, CODE="4").returncode == 4


def test_the_script_gives_up_after_ten_polls_without_an_answer(cloud):
    cloud.states(*["no-answer"] * 9, "JOB_STATE_RUNNING", *["no-answer"] * 9, "JOB_STATE_DONE")
    assert cloud.night(DAY).returncode == 0
    cloud.states(*["no-answer"] * 10)
    done = cloud.night(DAY)
    assert done.returncode == 1
    assert done.stderr.endswith("(job-1) is unknown, since gcloud does not answer.\n")


def test_the_manifest_of_an_earlier_job_is_deleted(cloud):
    manifest = cloud.bucket / f"goodgain/date={DAY}/manifest.json"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("{}")
    cloud.states("JOB_STATE_FAILED")
    assert cloud.night(DAY).returncode == 1
    assert not manifest.exists()


def test_an_unreachable_bucket_ends_the_script_before_a_job(cloud):
    cloud.bucket.rmdir()
    assert cloud.night(DAY).returncode == 1
    assert [words[:3] for words in cloud.calls()] == [["gcloud", "storage", "ls"]]


def test_the_default_day_is_yesterday_in_utc(cloud):
    cloud.states("JOB_STATE_DONE")
    before = datetime.now(UTC)
    assert cloud.night().returncode == 0
    yesterdays = {f"{now - timedelta(days=1):%Y-%m-%d}" for now in (before, datetime.now(UTC))}
    assert cloud.calls()[-1][-1] in yesterdays


@pytest.mark.parametrize(
    ("words", "environment", "code", "message"),
    [
        (["today"], {}, 2, "'today' is not a day"),
        ([DAY], {"BUCKET": ""}, 2, "give gs://BUCKET"),
        ([DAY], {"IMAGE": ""}, 2, "give the image of the workers"),
    ],
)
def test_wrong_usage_is_refused_before_any_call(words, environment, code, message, cloud):
    done = cloud.night(*words, **environment)
    assert done.returncode == code
    assert message in done.stderr
    assert not (cloud.folder / "calls").exists()


def test_the_configuration_in_the_comments_of_the_script_matches_its_paths():
    lines = re.findall(r"^#   (\w+: .*)$", SCRIPT.read_text(), re.MULTILINE)
    in_comments = yaml.safe_load("\n".join(lines))
    text = SCRIPT.read_text()
    for name, pattern in (("input", in_comments["input"]), ("output", in_comments["scored"])):
        written = pattern.replace("gs://my-bucket", "$BUCKET").replace("{date}", "$day")
        assert f"{name}={written}" in text


@pytest.mark.slow
def test_a_night_with_the_real_goodgain(cloud):
    """The launcher, the run of the job, and the nightly job that publishes its outputs."""
    world = World(cloud.folder)
    world.make_traces(DAY, 12, seed=1)
    world.configure()
    assert world.nightly("--date", DAY) == 0
    direct = world.entry(DAY)
    options = json.loads(world.config.read_text())
    del options["run"]
    (world.folder / "traces").rename(cloud.bucket / "traces")
    notification = cloud.folder / "notification.json"
    options |= {
        "input": f"{cloud.bucket}/traces/date={{date}}/*",
        "scored": f"{cloud.bucket}/goodgain/date={{date}}",
        "output": f"{cloud.folder}/taken",
        "command": ["sh", "-c", f"cat > {notification}"],
    }
    world.config.write_text(json.dumps(options))
    world.output = cloud.folder / "taken"
    python = f"cd {ROOT} && {sys.executable}"
    cloud.program("goodgain", f'config={world.config}; {python} -m goodgain "$@"')
    cloud.program(
        "job",
        f"""
        folder=$PWD
        for word in "$@"; do
          [ "$before" != --parameters ] || all=$all,$word
          before=$word
        done
        IFS=,; set -f; set --; for one in $all; do set -- "$@" "--$one"; done
        shift
        {python} configs/dataflow/launch.py "$@" --template_location=gs://bucket/job 1>&2 &&
          state=DONE || state=FAILED
        echo JOB_STATE_RUNNING > "$folder/states"
        echo "JOB_STATE_$state" >> "$folder/states"
        echo job-1""",
    )
    given = {
        "LAUNCH": 'job "$@"',
        "RUN": str(world.folder / "run.yaml"),
        "CONFIG": str(world.config),
        "PYTHONPATH": str(ROOT),
    }
    done = cloud.night(DAY, **given)
    assert done.returncode == 0, done.stderr
    taken = world.entry(DAY)
    assert {**taken, "started": 0, "seconds": 0} == {**direct, "started": 0, "seconds": 0}
    assert not notification.exists()

    done = cloud.night("2025-03-02", **given)  # there are no traces
    assert done.returncode == 1
    assert "the job of 2025-03-02 (job-1) is JOB_STATE_FAILED" in done.stderr
    assert world.verdicts() == {DAY: "passed", "2025-03-02": "failed"}
    assert "2025-03-02 is not finished yet" in json.loads(notification.read_text())["text"]
