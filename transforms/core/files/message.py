"""Parses one message of a topic to a search call or a rejected row (SPEC 2, 3)."""

from __future__ import annotations

from msgspec import Struct

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS, ReadBounds
from goodgain.transforms.core.files.jsonl_reader import record_of_json
from goodgain.transforms.core.files.record_packer import RecordOrPacked, RecordPacker
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.rejection import (
    payload_of_bytes,
    reject_record,
    reject_without_timestamp,
)
from goodgain.transforms.core.remedy import Remedy


class Message(Struct, frozen=True):
    """A raw message.

    Attributes:
      source: the topic or subscription.
      value: one trace record as a JSON object in UTF-8; None if the message has no value.
    """

    source: str
    position: str
    value: bytes | None


def parse_message(
    message: Message,
    adaptation: Adaptation | None = None,
    bounds: ReadBounds = DEFAULT_BOUNDS,
    packer: RecordPacker | None = None,
) -> RecordOrPacked:
    """The record of a message; a rejected row if it is unusable or has no timestamp.

    Args:
      packer: its output, a `PackedBlock`, replaces the record if it can pack it.
    """
    value = message.value or b""
    if packer is not None and b"\n" not in value and packer.can_read(adaptation, bounds):
        block, _ = packer.pack_lines(value, 0, bounds, adaptation)
        if block is not None:
            return block
    try:
        if not value.strip():
            raise RecordError("The message is empty.")
        if len(value) > bounds.max_decoded_bytes:
            raise RecordError(
                f"The message is {len(value)} bytes long; at most {bounds.max_decoded_bytes} are "
                "read: raise " + Remedy("max_decoded_bytes") + "."
            )
        call = record_of_json(value, adaptation, bounds)
    except RecordError as error:
        return reject_record(message.source, message.position, error, payload_of_bytes(value))
    if call.timestamp is None:
        return reject_without_timestamp(call, message.source, message.position)
    return call
