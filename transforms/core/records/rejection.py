"""The row for input that could not be used (SPEC 3, `rejected`)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import force_setattr

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.remedy import Phrased, Remedy

LONGEST_PAYLOAD = 2_000
_encode_json = msgspec.json.Encoder(order="sorted", enc_hook=int).encode
_SURROGATE = re.compile("[\ud800-\udfff]")
WHOLE_FILE = "file"
T = TypeVar("T")


class RejectedRecord(Phrased, frozen=True):
    """Input that could not be used, with its position and the reason.

    Attributes:
      source: path of the file.
      position: where it is in the file: `line 12`, `block at byte 4096, record 7`,
        `row group 0, row 15`, or `file`.
      reason: why it cannot be used, in one sentence.
      field: path of the bad field, like `results[3].gain`; None = the whole record.
      conversation_id: its conversation, if readable.
      payload: the raw input as text, invalid bytes escaped, at most 2,000 characters.
      records: how many records the row represents; more than 1 for a damaged block whose header has
        their number, and for the last row of a shard with too many rejections.
      at_least: whether an unknown number of records is lost; then `records` is the least.

    Example:
      >>> from goodgain import RejectedRecord
      >>> RejectedRecord("a.jsonl", "line 1", "iteration is missing.", "iteration").records
      1
    """

    source: str
    position: str
    reason: str
    field: str | None = None
    conversation_id: str | None = None
    payload: str = ""
    records: int = 1
    at_least: bool = False

    def __post_init__(self) -> None:
        """Escape lone surrogates, which can occur in JSON and file names, but no encoder accepts.

        A usable record cannot have a conversation_id with lone surrogates.
        """
        super().__post_init__()
        for name in ("source", "reason", "field"):
            text = getattr(self, name)
            if text is not None and not _is_encodable(text):
                force_setattr(self, name, text.encode("utf-8", "backslashreplace").decode())
        if self.conversation_id is not None and not _is_encodable(self.conversation_id):
            force_setattr(self, "conversation_id", None)


def _is_encodable(text: str) -> bool:
    return text.isascii() or text.isprintable() or not _SURROGATE.search(text)


def first_rejected(
    content: Iterable[T | RejectedRecord], most: int
) -> Iterator[T | RejectedRecord]:
    """The first `most` rejected rows, then one row that counts the rest.

    Args:
      content: that of one shard; anything but rejected rows passes unchanged.
    """
    rows = records = 0
    at_least = False
    first = last = None
    for item in content:
        if not isinstance(item, RejectedRecord):
            yield item
            continue
        rows += 1
        if rows <= most:
            yield item
            continue
        first, last, records = first or item, item, records + item.records
        at_least |= item.at_least
    if first is not None and last is not None:
        yield RejectedRecord(
            first.source,
            f"{first.position} to {last.position}",
            f"{records:,} further records are rejected, but only the first {most:,} of a part of "
            "a file have rows of their own: raise "
            + Remedy("max_rejected_rows")
            + ". The first: "
            + first.phrase("reason"),
            records=records,
            at_least=at_least,
        )


def reject_record(
    source: str, position: str, error: RecordError, payload: str, at_least: bool = False
) -> RejectedRecord:
    """The row for one record that raised `error`."""
    return RejectedRecord(
        source=source,
        position=position,
        reason=error.reason,
        field=error.field,
        conversation_id=error.conversation_id,
        payload=payload,
        at_least=at_least,
    )


def reject_without_timestamp(call: SearchCall, source: str, position: str) -> RejectedRecord:
    """The row for a call of a stream, whose records need an event time (SPEC 2, `timestamp`)."""
    error = RecordError(
        "timestamp is missing; records of a stream need one.", "timestamp", call.conversation_id
    )
    return reject_record(source, position, error, payload_of_bytes(_encode_json(call)))


def payload_of_bytes(raw: bytes) -> str:
    r"""Raw input as truncated text; bytes that are not UTF-8 become `\xff`."""
    # A character takes at most four bytes; decoding no more than needed keeps huge lines cheap.
    return raw[: 4 * LONGEST_PAYLOAD].decode("utf-8", "backslashreplace")[:LONGEST_PAYLOAD]


def payload_of_mapping(record: Mapping[str, Any]) -> str:
    """A decoded record as truncated JSON; values that JSON lacks appear as their repr."""
    try:
        text = json.dumps(record, ensure_ascii=False, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = repr(record)
    # Lone surrogates are bytes that were not UTF-8; no encoder accepts them.
    return text[:LONGEST_PAYLOAD].encode("utf-8", "backslashreplace").decode()[:LONGEST_PAYLOAD]
