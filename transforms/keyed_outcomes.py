"""Rows of outcomes among the payloads of a stream."""

from __future__ import annotations

import msgspec

from goodgain.transforms.core.files.outcomes import OutcomesOfRow
from goodgain.transforms.fingerprint import Keyed

# A row in a stream of payloads begins with the length of a frame that has no content.
_NO_FRAME = bytes(4)

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(OutcomesOfRow).decode


def key_row(row: OutcomesOfRow) -> Keyed:
    """A row among payloads, by conversation."""
    return row.conversation_id, _NO_FRAME + _encode(row)


def is_row(packed: bytes) -> bool:
    """Whether this is a row of `key_row`, and not a payload."""
    return packed.startswith(_NO_FRAME)


def row_in(packed: bytes) -> OutcomesOfRow:
    """The row of `key_row`."""
    return _decode(memoryview(packed)[len(_NO_FRAME) :])
