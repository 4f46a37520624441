"""Messages from topics become records, and options are passed on to Beam's sources."""

import json

import apache_beam as beam
import pytest
from apache_beam.io.gcp.pubsub import PubsubMessage
from apache_beam.io.kafka import ReadFromKafka
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.window import TimestampedValue

import goodgain.transforms.sources.kafka
import goodgain.transforms.sources.pubsub
from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.message import Message, parse_message
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.core.scoring.payload import unpack
from goodgain.transforms.sources.kafka import ReadKafkaTraces
from goodgain.transforms.sources.pubsub import ReadPubSubTraces
from tests.core.direct import shipped_rules
from tests.transforms.watching import MINUTE, NOON, record

SUBSCRIPTION = "projects/search/subscriptions/traces"
PACKING = Packing(shipped_rules())
SENT_SECONDS = NOON // 1000 + 3600  # the topic's own time of the messages


def value(fields):
    return json.dumps(fields).encode()


VALUES = [
    value(record("a", NOON)),
    b"garbage",
    value({"conversation_id": "b", "iteration": 1}),
    None,
    value(record("a", NOON + 600 * MINUTE)),
]


def identify(element, timestamp=beam.DoFn.TimestampParam):
    """What identifies an element, and its event time in seconds."""
    if isinstance(element, RejectedRecord):
        return element.position, timestamp.seconds()
    conversation_id, payload = element
    calls = len(unpack([payload]).calls)
    return conversation_id, calls, timestamp.seconds()


def assert_outputs(source, positions):
    """Run `source` with the messages in `VALUES`, and check its payloads and rejected records."""
    with beam.Pipeline(runner=FnApiRunner()) as pipeline:
        traces = pipeline | source
        payloads = traces.payloads | "SeenPayloads" >> beam.Map(identify)
        rejected = traces.rejected | "SeenRejected" >> beam.Map(identify)
        places = [(positions[place], SENT_SECONDS) for place in (1, 2, 3)]
        # b has only a flag for its rejected record; a time ahead of the topic's is set to it.
        given = [("a", 2, NOON // 1000), ("b", 0, SENT_SECONDS)]
        assert_that(payloads, equal_to(given), label="payloads")
        assert_that(rejected, equal_to(places), label="rejected")


class Sent(beam.PTransform):
    """Messages of a topic, with the time at which they were sent."""

    def __init__(self, messages):
        super().__init__()
        self._messages = messages

    def expand(self, begin):
        stamped = [TimestampedValue(message, SENT_SECONDS) for message in self._messages]
        return begin | beam.Create(stamped, reshuffle=False) | beam.Map(lambda message: message)


def test_kafka_messages_become_records_with_partition_and_offset(monkeypatch):
    options_of_beam = {}

    def read(consumer, topics, **options):
        options_of_beam.update(options, consumer=consumer, topics=topics)
        rows = [
            beam.Row(topic="traces", partition=3, offset=offset, key=None, value=value)
            for offset, value in enumerate(VALUES)
        ]
        return Sent(rows)

    for name in ("create_time_policy", "log_append_time"):
        setattr(read, name, getattr(ReadFromKafka, name))
    monkeypatch.setattr(goodgain.transforms.sources.kafka, "ReadFromKafka", read)
    kafka = ReadKafkaTraces(
        "one:9092", ["traces"], PACKING, "append", {"group.id": "g"}, "localhost:8097"
    )
    assert_outputs(kafka, [f"partition 3, offset {at}" for at in range(5)])
    assert options_of_beam == {
        "consumer": {
            "bootstrap.servers": "one:9092",
            "auto.offset.reset": "earliest",
            "group.id": "g",
        },
        "topics": ["traces"],
        "timestamp_policy": "LogAppendTime",
        "with_metadata": True,
        "expansion_service": "localhost:8097",
    }


def test_pubsub_messages_become_records_with_message_id(monkeypatch):
    options_of_beam = {}

    def read(**options):
        options_of_beam.update(options)
        return Sent(
            [
                PubsubMessage(value or b"", {}, message_id=f"m{number}")
                for number, value in enumerate(VALUES)
            ]
        )

    monkeypatch.setattr(goodgain.transforms.sources.pubsub, "ReadFromPubSub", read)
    pubsub = ReadPubSubTraces(SUBSCRIPTION, PACKING, "event_time", "record_id")
    assert_outputs(pubsub, [f"message m{number}" for number in range(5)])
    assert options_of_beam == {
        "subscription": SUBSCRIPTION,
        "id_label": "record_id",
        "with_attributes": True,
        "timestamp_attribute": "event_time",
    }


def test_beam_accepts_the_subscription():
    pipeline = beam.Pipeline(runner=FnApiRunner())
    traces = pipeline | ReadPubSubTraces(SUBSCRIPTION, PACKING, "event_time")
    assert traces.payloads.pipeline is pipeline
    graph = pipeline.to_runner_api()
    urns = {transform.spec.urn for transform in graph.components.transforms.values()}
    assert "beam:transform:pubsub_read:v1" in urns


@pytest.mark.parametrize(
    ("content", "reason", "field"),
    [
        (b"", "The message is empty.", None),
        (b" \n", "The message is empty.", None),
        (None, "The message is empty.", None),
        (b'{"conversation_id": "a"}', "iteration is missing.", "iteration"),
        (b'{"conversation_id": "a", "iteration": 1}', "timestamp is missing", "timestamp"),
    ],
)
def test_unusable_messages_are_rejected_with_a_reason(content, reason, field):
    row = parse_message(Message("kafka://traces", "partition 0, offset 7", content))
    assert row.reason.startswith(reason)
    assert (row.source, row.position) == ("kafka://traces", "partition 0, offset 7")
    assert row.field == field
    assert row.conversation_id == ("a" if field else None)


def test_a_message_is_parsed_like_a_line_of_a_file():
    fields = record("a", "2025-03-01T12:00:00Z", results=[{"gain": 3.0, "title": "x"}], extra=1)
    assert parse_message(Message("s", "p", value(fields))) == parse_mapping(fields)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ReadKafkaTraces("", ["t"], PACKING), "No Kafka broker is given"),
        (lambda: ReadKafkaTraces("a:1", [], PACKING), "No Kafka topic is given"),
        (lambda: ReadKafkaTraces("a:1", [""], PACKING), "No Kafka topic is given"),
        (lambda: ReadKafkaTraces("a:1", ["t"], PACKING, "event"), "create or append, not 'event'"),
        (lambda: ReadPubSubTraces("traces", PACKING), "write projects/P/subscriptions/S"),
        (lambda: ReadPubSubTraces("projects/p/topics/t", PACKING), "is not a Pub/Sub subscription"),
    ],
)
def test_invalid_sources_are_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()
