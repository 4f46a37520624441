"""Rejects records of a stream without an event time (SPEC 2, `timestamp`)."""

from __future__ import annotations

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.rejected import RejectedRecord, payload_of_bytes, rejected_for
from goodgain.transforms.core.records.search_call import SearchCall, canonical_encoding


def untimed(call: SearchCall, source: str, position: str) -> RejectedRecord:
    """The row for a stream's call without a timestamp."""
    error = RecordError(
        "timestamp is missing; records of a stream need one.", "timestamp", call.conversation_id
    )
    return rejected_for(source, position, error, payload_of_bytes(canonical_encoding(call)))
