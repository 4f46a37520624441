"""What travels between workers: prints of calls of one conversation, as bytes.

A payload is a sequence of frames, so payloads are joined by concatenation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from transforms.core.fingerprint import CallPrint

_LENGTH_BYTES = 4


class Frame(Struct, frozen=True, array_like=True):
    """Some deliveries of one conversation.

    Attributes:
      calls: their prints.
      rejected_records: records of the conversation that could not be used (SPEC 3).
    """

    calls: list[CallPrint]
    rejected_records: int = 0


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Frame)


def payload(calls: Sequence[CallPrint], rejected_records: int = 0) -> bytes:
    """Pack prints and a count of rejected records of one conversation."""
    frame = _encoder.encode(Frame(list(calls), rejected_records))
    return len(frame).to_bytes(_LENGTH_BYTES) + frame


def unpack(payloads: Iterable[bytes]) -> Frame:
    """Everything in some payloads of one conversation, as one frame."""
    calls: list[CallPrint] = []
    rejected = 0
    for packed in payloads:
        start = 0
        while start < len(packed):
            end = start + _LENGTH_BYTES + int.from_bytes(packed[start : start + _LENGTH_BYTES])
            frame = _decoder.decode(memoryview(packed)[start + _LENGTH_BYTES : end])
            calls += frame.calls
            rejected += frame.rejected_records
            start = end
    return Frame(calls, rejected)
