"""What tests ask of a Kafka broker, run with the workers' Python, which has Kafka's client.

`python -m tests.engines.kafka_client ADDRESS check | create TOPIC | fill TOPIC POSITIONS`
"""

import sys

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.engines.programs.counting import MILLISECONDS_PER_POSITION

SECONDS = 30


def check(address: str) -> None:
    """Raises KafkaException when no broker answers at the address."""
    AdminClient({"bootstrap.servers": address}).list_topics(timeout=SECONDS)


def create(address: str, topic: str) -> None:
    """Make a topic with one partition that keeps records however old their event times are."""
    wanted = NewTopic(topic, 1, 1, config={"retention.ms": "-1"})
    # Named, because a client that nobody holds drops its requests.
    client = AdminClient({"bootstrap.servers": address})
    client.create_topics([wanted])[topic].result(SECONDS)


def fill(address: str, topic: str, positions: str) -> None:
    """Send every position with its event time, and return when the broker has them all."""
    producer = Producer({"bootstrap.servers": address, "acks": "all"})
    for position in range(int(positions)):
        event_time = position * MILLISECONDS_PER_POSITION
        producer.produce(topic, key=b"", value=b"%d" % position, timestamp=event_time)
    if left := producer.flush(SECONDS):
        raise RuntimeError(f"{left} positions did not reach {address} within {SECONDS} s")


if __name__ == "__main__":
    what = {"check": check, "create": create, "fill": fill}[sys.argv[2]]
    what(sys.argv[1], *sys.argv[3:])
