"""Rows of records that a conversation of a stream does not take: it is closed, or full (SPEC 3)."""

from __future__ import annotations

from collections.abc import Iterator

from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.remedy import Remedy
from goodgain.transforms.core.scoring.payload import Frame
from goodgain.transforms.core.scoring.score_rows import LateRow
from goodgain.transforms.core.streaming.options import Closing

STREAM = "stream"


def late_rows(conversation_id: str, frame: Frame) -> Iterator[LateRow]:
    """The rows of records that arrived after their conversation was closed (SPEC 3)."""
    for call in frame.calls:
        yield LateRow(
            conversation_id,
            call.turn,
            call.iteration,
            call.call,
            call.record_id,
            call.timestamp,
            len(call.results),
        )


def over_cap_rows(conversation_id: str, frame: Frame, closing: Closing) -> Iterator[RejectedRecord]:
    """The rows of records dropped because their conversation exceeded a limit."""
    for call in frame.calls:
        yield RejectedRecord(
            source=STREAM,
            position=f"turn {call.turn}, iteration {call.iteration}, "
            f"record {call.record_digest.hex()}",
            reason=f"The conversation has more than the {closing.max_open_results} results or "
            f"{closing.max_open_bytes} bytes that may be kept open; if that is intended, raise "
            + Remedy("max_open_results")
            + " or "
            + Remedy("max_open_bytes")
            + ".",
            conversation_id=conversation_id,
        )
