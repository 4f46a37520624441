"""Beam's Kafka source on the Flink cluster."""

import uuid
from pathlib import Path

import pytest

from tests.engines.cluster import LOSSLESS, Cluster
from tests.engines.kafka import Kafka
from tests.engines.processes import wait_until
from tests.engines.programs.counting import expected_rows, written_rows

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
