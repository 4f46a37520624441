"""Reads trace records from Google Cloud Pub/Sub, on Dataflow."""

from __future__ import annotations

import re
from dataclasses import dataclass

import apache_beam as beam
from apache_beam.io.gcp.pubsub import PubsubMessage, ReadFromPubSub

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.message import Message
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring.packing import Packing
from goodgain.transforms.sources.stream_packing import ParseMessages, StreamedTraces

_SUBSCRIPTION = re.compile(r"projects/[^/]+/subscriptions/[^/]+")


@dataclass(eq=False, repr=False)
class ReadPubSubTraces(beam.PTransform):
    """PBegin to `StreamedTraces`: the data of each message is one trace record, a JSON object.

    Beam's source derives the watermark from the publish time of messages, or from an attribute with
    the record's event time. A message that Pub/Sub delivers twice is a redelivered record,
    unless the source drops it by `id_attribute`.

    Attributes:
      subscription: `projects/P/subscriptions/S`.
      packing: how records are packed into payloads.
      timestamp_attribute: attribute with the event time, epoch milliseconds or RFC 3339.
      id_attribute: attribute with a unique id of the message.
      adaptation: how to convert records to trace records; None if they need no conversion.
      bounds: limits on the memory that a message may take.

    Raises:
      UsageError: `subscription` does not name a subscription.

    Example:
      >>> from goodgain import Packing, ReadPubSubTraces, Scoring
      >>> packing = Packing.of(Scoring.default())
      >>> read = ReadPubSubTraces("projects/p/subscriptions/s", packing)
      >>> read.subscription
      'projects/p/subscriptions/s'
    """

    subscription: str
    packing: Packing
    timestamp_attribute: str | None = None
    id_attribute: str | None = None
    adaptation: Adaptation | None = None
    bounds: ReadBounds = DEFAULT_BOUNDS

    def __post_init__(self) -> None:
        """Check the subscription."""
        if not _SUBSCRIPTION.fullmatch(self.subscription):
            raise UsageError(
                f"{self.subscription!r} is not a Pub/Sub subscription; write "
                "projects/P/subscriptions/S."
            )

    def expand(self, begin: beam.pvalue.PBegin) -> StreamedTraces:
        """Apply the transform."""
        traces: StreamedTraces = (
            begin
            | "Pull"
            >> ReadFromPubSub(
                subscription=self.subscription,
                id_label=self.id_attribute,
                with_attributes=True,
                timestamp_attribute=self.timestamp_attribute,
            )
            | "Message" >> beam.Map(_message, self.subscription).with_output_types(Message)
            | "Parse" >> ParseMessages(self.packing, self.adaptation, self.bounds)
        )
        return traces


def _message(message: PubsubMessage, subscription: str) -> Message:
    return Message(f"pubsub://{subscription}", f"message {message.message_id}", message.data)
