"""The commands of the pages about Flink and Kafka, as a shell runs them in the repository."""

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.engines.cluster import PATIENCE, Cluster
from tests.engines.kafka import Kafka
from tests.engines.processes import wait_until
from tests.engines.settings import REPOSITORY, Settings
from tests.engines.stream_rows import conversations_in

DOCS = REPOSITORY / "docs"
ON_THIS_MACHINE = re.compile(r"^## .*on this machine$(.*?)^## ", re.DOTALL | re.MULTILINE)
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'src'}"}

pytestmark = pytest.mark.engines


def commands(page: str) -> list[str]:
    """The blocks of commands for this machine, without those that start or stop an engine."""
    (section,) = ON_THIS_MACHINE.findall((DOCS / page).read_text(encoding="utf-8"))
    blocks: list[str] = COMMANDS.findall(section)
    return [block for block in blocks if not block.startswith("make ")]


@pytest.fixture
def checkout(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the commands find what they name, and write beside it."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / ".cache").symlink_to(settings.folder.parent)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_in_shell(block: str) -> None:
    subprocess.run(["bash", "-e", "-c", block], env=ENVIRONMENT, check=True)


@contextmanager
def running_in_shell(block: str, cluster: Cluster) -> Iterator[None]:
    """Run a stream, and cancel its job afterwards."""
    client = subprocess.Popen(["bash", "-c", f"exec {block}"], env=ENVIRONMENT)
    try:
        yield
    finally:
        for job in cluster.rest.jobs():
            if job.state == "RUNNING":
                cluster.rest.cancel(job.id)
        client.terminate()
        client.wait()


def test_flink(cluster: Cluster, checkout: Path) -> None:
    batch, stream = commands("flink.md")
    sample = ["sample", "--conversations=20", "--bad-share=0", "--turns-share=0"]
    (checkout / "traces").mkdir()
    assert main([*sample, "--output=traces/sample.jsonl"]) == 0
    run_in_shell(batch)
    assert (checkout / "out" / "traces" / "report.html").exists()

    (checkout / "incoming").mkdir()
    (checkout / "traces" / "sample.jsonl").rename(checkout / "incoming" / "sample.jsonl")
    expected = conversations_in(checkout / "out" / "traces")
    output = checkout / "out" / "stream"
    with running_in_shell(stream, cluster):
        wait_until(lambda: conversations_in(output) >= expected, 2 * PATIENCE, "all conversations")


def test_kafka(cluster: Cluster, kafka: Kafka, checkout: Path) -> None:
    # Under a name of its own, since the broker keeps its topics.
    topic = f"traces-{uuid.uuid4().hex[:8]}"
    sent, stream = (re.sub(r"\btraces\b", topic, block) for block in commands("kafka.md"))
    run_in_shell(sent)
    with running_in_shell(stream, cluster):
        output = checkout / "out-stream"
        wait_until(lambda: conversations_in(output) == {"c"}, PATIENCE, "the conversation")
