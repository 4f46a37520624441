"""Requests of tests to a Kafka broker, run with the workers' Python, which has Kafka's client.

`python -m tests.engines.kafka_client ADDRESS
check | create TOPIC [TIMESTAMPS] | fill TOPIC POSITIONS | send TOPIC FILE |
log-in ADDRESS CERTIFICATE ...`
"""

import sys
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.engines.programs.counting import MILLISECONDS_PER_POSITION

SECONDS = 30
SECONDS_TO_LOG_IN = 10


def check(address: str) -> None:
    """Raise KafkaException if no broker answers at the address."""
    AdminClient({"bootstrap.servers": address}).list_topics(timeout=SECONDS)


def log_in(
    _: str, address: str, certificate: str, mechanism: str, user: str, password: str
) -> None:
    """Raise KafkaException if the broker refuses the login."""
    login = {"sasl.mechanism": mechanism, "sasl.username": user, "sasl.password": password}
    secure = {"security.protocol": "SASL_SSL", "ssl.ca.location": certificate, **login}
    AdminClient({"bootstrap.servers": address, **secure}).list_topics(timeout=SECONDS_TO_LOG_IN)


def create(address: str, topic: str, timestamps: str = "CreateTime") -> None:
    """Create a topic with one partition that keeps records of any age, and their timestamps."""
    config = {"retention.ms": "-1", "message.timestamp.type": timestamps}
    wanted = NewTopic(topic, 1, 1, config=config)
    # In a variable, because a client drops its requests when it is garbage-collected.
    client = AdminClient({"bootstrap.servers": address})
    client.create_topics([wanted])[topic].result(SECONDS)


def fill(address: str, topic: str, positions: str) -> None:
    """Send every position with its event time, and wait until the broker has them all."""
    times = (position * MILLISECONDS_PER_POSITION for position in range(int(positions)))
    _send(address, topic, [(b"%d" % at, time) for at, time in enumerate(times)])


def send(address: str, topic: str, file: str) -> None:
    """Send the messages in a file of lines: event time in milliseconds, blank, value."""
    split = [line.partition(b" ") for line in Path(file).read_bytes().splitlines()]
    _send(address, topic, [(value, int(time)) for time, _, value in split])


def _send(address: str, topic: str, messages: list[tuple[bytes, int]]) -> None:
    producer = Producer({"bootstrap.servers": address, "acks": "all"})
    for value, event_time in messages:
        producer.produce(topic, key=b"", value=value, timestamp=event_time)
    if left := producer.flush(SECONDS):
        raise RuntimeError(f"{left} messages did not reach {address} within {SECONDS} s")


if __name__ == "__main__":
    actions = {"check": check, "create": create, "fill": fill, "log-in": log_in, "send": send}
    actions[sys.argv[2]](sys.argv[1], *sys.argv[3:])
