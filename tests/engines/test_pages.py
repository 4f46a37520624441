"""The commands of the pages about Flink and Kafka, as a shell runs them in the repository."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from goodgain.pipeline.__main__ import main
from tests.engines.cluster import PATIENCE, Cluster
from tests.engines.flink import worker_environment
from tests.engines.kafka import Kafka
from tests.engines.processes import wait_until
from tests.engines.settings import REPOSITORY, Settings
from tests.engines.stream_rows import conversations_in

DOCS = REPOSITORY / "docs"
ON_THIS_MACHINE, OF_YOUR_OWN = "on this machine", "of your own"
COMMANDS = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'src'}"}
SAMPLE = ("--conversations=20", "--bad-share=0", "--turns-share=0")

pytestmark = pytest.mark.engines


def commands(page: str, where: str = ON_THIS_MACHINE) -> list[str]:
    """The blocks of commands of a section, without those that start or stop an engine."""
    text = (DOCS / page).read_text(encoding="utf-8")
    (section,) = (part for part in text.split("\n## ") if part.splitlines()[0].endswith(where))
    blocks: list[str] = COMMANDS.findall(section)
    return [block for block in blocks if not block.startswith(("make ", "mvn ", "java ", "pip "))]


@pytest.fixture
def checkout(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the commands find what they name, and write beside it."""
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / ".cache").symlink_to(settings.folder.parent)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def at_this_cluster(block: str, cluster: Cluster, others: Mapping[str, str]) -> str:
    """A command for a cluster of one's own, with addresses of this one and other replacements."""
    ports = cluster.settings.ports
    addresses = {
        "jobs:8099": f"localhost:{ports.job}",
        "jobs:8098": f"localhost:{ports.artifact}",
        "localhost:20000": f"localhost:{ports.worker_pool}",
    }
    for name, value in (addresses | dict(others)).items():
        assert name in block, name
        block = block.replace(name, value)
    return block


def run_in_shell(block: str, environment: Mapping[str, str] = ENVIRONMENT) -> None:
    subprocess.run(["bash", "-e", "-c", block], env=environment, check=True)


@contextmanager
def running_in_shell(
    block: str, cluster: Cluster, environment: Mapping[str, str] = ENVIRONMENT
) -> Iterator[None]:
    """Run a stream, and cancel its job afterwards."""
    client = subprocess.Popen(["bash", "-c", f"exec {block}"], env=environment)
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
    (checkout / "traces").mkdir()
    assert main(["sample", *SAMPLE, "--output=traces/sample.jsonl"]) == 0
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


def test_flink_of_your_own(cluster: Cluster, checkout: Path) -> None:
    (run,) = commands("flink.md", OF_YOUR_OWN)
    (checkout / "traces").mkdir()
    assert main(["sample", *SAMPLE, "--output=traces/sample.avro"]) == 0
    block = at_this_cluster(run, cluster, {"--parallelism 8": "--parallelism 2"})
    run_in_shell(block, worker_environment(cluster.settings))
    assert (checkout / "out" / "report.html").exists()


def test_kafka_of_your_own(cluster: Cluster, kafka: Kafka, checkout: Path) -> None:
    (stream,) = commands("kafka.md", OF_YOUR_OWN)
    (checkout / "client.properties").write_text(kafka.client_settings("PLAIN"))
    topics = {name: f"{name}-{uuid.uuid4().hex[:8]}" for name in ("more-traces", "traces")}
    for topic in topics.values():
        record = {"conversation_id": topic, "iteration": 1, "timestamp": 1_740_000_000_000}
        (checkout / topic).write_text(f"0 {json.dumps({**record, 'results': []})}\n")
        kafka.ask("create", topic, "LogAppendTime")
        kafka.ask("send", topic, str(checkout / topic))
    changed = {
        "/traces,more-traces": f"/{','.join(topics.values())} --gap 1m --flush 1s",
        "broker:9092": kafka.secure_address,
        "localhost:8097": kafka.expansion_address,
    }
    block = at_this_cluster(stream, cluster, changed)
    with running_in_shell(block, cluster, worker_environment(cluster.settings)):
        output = checkout / "out"
        wait_until(
            lambda: conversations_in(output) == set(topics.values()), PATIENCE, "all conversations"
        )
