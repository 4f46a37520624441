"""Beam's Kafka source on the Flink cluster."""

import json
import uuid
from pathlib import Path

import pytest

from tests.engines.cluster import LOSSLESS, PATIENCE, Cluster
from tests.engines.kafka import PASSWORD, Kafka
from tests.engines.processes import EngineError, wait_until
from tests.engines.programs.counting import expected_rows, written_rows
from tests.engines.stream_rows import conversations_in

POSITIONS = 2000

pytestmark = pytest.mark.engines


def test_every_record_of_a_topic_is_read_with_its_event_time(
    cluster: Cluster, kafka: Kafka, tmp_path: Path
) -> None:
    topic = f"positions-{uuid.uuid4().hex[:8]}"
    kafka.ask("create", topic)
    kafka.ask("fill", topic, str(POSITIONS))
    at = (f"--brokers={kafka.address}", f"--topic={topic}")
    arguments = (*at, f"--output={tmp_path}", f"--java_expansion={kafka.expansion_address}")
    module = "tests.engines.programs.kafka_stream"
    with cluster.streaming(module, *arguments, *LOSSLESS, folder=tmp_path):
        wait_until(
            lambda: len(written_rows(tmp_path)) == len(expected_rows(POSITIONS)), 60, "all windows"
        )
    assert written_rows(tmp_path) == expected_rows(POSITIONS)


def test_traces_of_a_topic_are_read_with_partition_and_offset(
    cluster: Cluster, kafka: Kafka, tmp_path: Path
) -> None:
    start = 1_740_000_000_000
    values = [
        json.dumps({"conversation_id": "a", "iteration": 1 + at, "timestamp": start + at})
        for at in range(50)
    ]
    values[7:7] = ["garbage", ""]
    messages = "".join(f"{start + 1000 + at} {value}\n" for at, value in enumerate(values))
    (tmp_path / "messages").write_text(messages)
    topic = f"traces-{uuid.uuid4().hex[:8]}"
    kafka.ask("create", topic)
    kafka.ask("send", topic, str(tmp_path / "messages"))
    output = tmp_path / "output"
    output.mkdir()
    module = "tests.engines.programs.kafka_traces"
    at = (f"--brokers={kafka.address}", f"--topic={topic}", f"--output={output}")
    expansion = f"--java_expansion={kafka.expansion_address}"
    with cluster.streaming(module, *at, expansion, *LOSSLESS, folder=tmp_path):
        wait_until(lambda: len(list(output.glob("*.json"))) == len(values), 60, "all messages")
    written = {file.stem: json.loads(file.read_text()) for file in output.glob("*.json")}
    source = f"kafka://{topic}"
    assert written.pop("partition 0, offset 7") == [
        source,
        "Not valid JSON: JSON is malformed: invalid character (byte 0).",
        "garbage",
        start + 1007,
    ]
    assert written.pop("partition 0, offset 8") == [
        source,
        "The message is empty.",
        "",
        start + 1008,
    ]
    times = {f"a-{1 + at}": start + at for at in range(50)}
    assert {name: at for name, (at, _) in written.items()} == times
    # Calls of a bundle share a payload, with the time of the first of them.
    assert all(emitted <= at and emitted in times.values() for at, emitted in written.values())


@pytest.mark.parametrize(
    ("mechanism", "timestamps", "of_topic"),
    [("SCRAM-SHA-512", "create", "CreateTime"), ("PLAIN", "append", "LogAppendTime")],
)
def test_the_command_reads_topics_over_tls_without_revealing_the_password(
    mechanism: str, timestamps: str, of_topic: str, cluster: Cluster, kafka: Kafka, tmp_path: Path
) -> None:
    (tmp_path / "client.properties").write_text(kafka.client_settings(mechanism))
    start = 1_740_000_000_000
    topics = [f"{name}-{uuid.uuid4().hex[:8]}" for name in ("one", "more")]
    for at, topic in enumerate(topics):
        call = {"conversation_id": topic, "iteration": 1, "results": [{"id": "a", "gain": 3}]}
        (tmp_path / topic).write_text(f"{start} {json.dumps({**call, 'timestamp': start + at})}\n")
        kafka.ask("create", topic, of_topic)
        kafka.ask("send", topic, str(tmp_path / topic))
    output = tmp_path / "output"
    words = (
        *("stream", f"--input=kafka://{kafka.secure_address}/{','.join(topics)}"),
        *(f"--kafka-consumer={tmp_path / 'client.properties'}", f"--output={output}"),
        *(f"--expansion-service={kafka.expansion_address}", "--flush=1s", "--gap=1m"),
        f"--kafka-timestamps={timestamps}",
    )
    with cluster.streaming("goodgain", *words, folder=tmp_path) as job:
        # Idle partitions move the watermark to the clock, which closes open conversations.
        wait_until(lambda: conversations_in(output) == set(topics), PATIENCE, "both conversations")
    written = [job.log, *(path for path in output.rglob("*") if path.is_file())]
    assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_the_broker_refuses_a_wrong_password(kafka: Kafka, mechanism: str) -> None:
    kafka.log_in(mechanism, PASSWORD)
    with pytest.raises(EngineError, match="Authentication"):
        kafka.log_in(mechanism, f"not-{PASSWORD}")
