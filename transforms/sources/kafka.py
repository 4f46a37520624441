"""Reads trace records from Kafka, on engines that run Beam's Java source (Flink, Dataflow)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apache_beam as beam
import grpc
from apache_beam.io.kafka import ReadFromKafka

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.sources.stream_packing import ParseMessages, StreamedTraces

_TIMESTAMP_POLICIES = {
    "create": ReadFromKafka.create_time_policy,
    "append": ReadFromKafka.log_append_time,
}


@dataclass(eq=False, repr=False)
class ReadKafkaTraces(beam.PTransform):
    """PBegin to `StreamedTraces`: the value of each message is one trace record, a JSON object.

    Beam's source derives the watermark from the timestamps of the Kafka messages, not from those in
    the records. So the producer must set each message's timestamp to the event time of its record
    (`create`), or the topic must timestamp messages on arrival (`append`), which does not depend on
    the clocks of producers. The watermark never passes the clock of the worker, and advances to it
    while a partition has no new data; a partition that never had any data holds it back.

    Attributes:
      bootstrap_servers: bootstrap brokers, `host:port,host:port`.
      topics: names of the topics to read.
      packing: how records are packed into payloads.
      timestamps: `create` or `append`, like the topic's `message.timestamp.type`.
      consumer: further settings of the Kafka consumer; `auto.offset.reset` defaults to earliest.
      expansion_service: `host:port` of Beam's Java expansion service; None for Beam's own choice.
      adaptation: how to convert records to trace records; None if they need no conversion.
      bounds: limits on the memory that one message may take.

    Raises:
      UsageError: there is no broker or no topic, or `timestamps` is unknown.

    Example:
      >>> from goodgain import Packing, ReadKafkaTraces, Scoring
      >>> packing = Packing.of(Scoring.default())
      >>> ReadKafkaTraces("broker:9092", ["traces"], packing).timestamps
      'create'
    """

    bootstrap_servers: str
    topics: Sequence[str]
    packing: Packing
    timestamps: str = "create"
    consumer: Mapping[str, str] | None = None
    expansion_service: str | None = None
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def __post_init__(self) -> None:
        """Check the fields."""
        if not self.bootstrap_servers.strip():
            raise UsageError("No Kafka broker is given; write kafka://HOST:PORT/TOPIC.")
        if not self.topics or not all(topic.strip() for topic in self.topics):
            raise UsageError("No Kafka topic is given; write kafka://HOST:PORT/TOPIC.")
        if self.timestamps not in _TIMESTAMP_POLICIES:
            raise UsageError(
                f"Kafka timestamps are {' or '.join(_TIMESTAMP_POLICIES)}, not {self.timestamps!r}."
            )

    def expand(self, begin: beam.pvalue.PBegin) -> StreamedTraces:
        """Apply the transform.

        Raises:
          UsageError: the expansion service does not provide Kafka's source.
        """
        consumer = {"auto.offset.reset": "earliest", **(self.consumer or {})}
        source = ReadFromKafka(
            {**consumer, "bootstrap.servers": self.bootstrap_servers},
            list(self.topics),
            timestamp_policy=_TIMESTAMP_POLICIES[self.timestamps],
            with_metadata=True,
            expansion_service=self.expansion_service,
        )
        try:
            rows = begin | "Consume" >> source
        except (grpc.RpcError, RuntimeError) as error:  # its text may contain settings
            raise UsageError(
                f"The expansion service {self.expansion_service or 'of Beam'} does not provide "
                "Beam's Kafka source; its log may say why."
            ) from error
        traces: StreamedTraces = (
            rows
            | "Message" >> beam.Map(_message).with_output_types(Message)
            | "Parse" >> ParseMessages(self.packing, self.adaptation, self.bounds)
        )
        return traces


def _message(row: Any) -> Message:
    """A row of Beam's Kafka source, with attributes `topic`, `partition`, `offset` and `value`."""
    position = f"partition {row.partition}, offset {row.offset}"
    return Message(f"kafka://{row.topic}", position, row.value)
