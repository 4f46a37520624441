"""Redeliveries, the last turn and the order inside a conversation (SPEC 2, 3)."""

import struct
from functools import cached_property, lru_cache

import xxhash

from tests.reference import normalisation

RECORD_DEFAULTS = {
    "conversation_id": None,
    "turn": 1,
    "iteration": None,
    "call": None,
    "record_id": None,
    "timestamp": None,
    "query": None,
    "tool": None,
    "turn_count": None,
    "is_final": False,
    "action": "search",
    "error": None,
    "outcomes": {},
    "attributes": {},
    "costs": {},
    "results": [],
}
RESULT_DEFAULTS = {
    "entity_type": None,
    "id": None,
    "ids": {},
    "url": None,
    "title": None,
    "snippet": None,
    "content": None,
    "fields": {},
    "gain": None,
    "score": None,
    "aspects": None,
    "reference_id": None,
}


class Record(dict):
    """A JSON record with all defaults and its timestamp in milliseconds; nothing changes it."""

    @cached_property
    def digest(self):
        """xxh3 of 128 bits over the record in MessagePack."""
        return xxhash.xxh3_128(messagepack(self)).hexdigest()


def with_defaults(raw, defaults):
    return {
        name: default if raw.get(name) is None else raw[name] for name, default in defaults.items()
    }


def plain_single(value):
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def milliseconds(timestamp):
    """A timestamp as integer milliseconds since 1970 UTC, or None."""
    if isinstance(timestamp, str):
        return normalisation.instant(timestamp) // 1000
    return timestamp


def parse_result(raw):
    result = with_defaults(raw, RESULT_DEFAULTS)
    for name in ("ids", "fields"):
        present = {key: value for key, value in result[name].items() if value not in (None, [])}
        result[name] = {key: plain_single(value) for key, value in present.items()}
    if result["score"] is not None:
        result["score"] = float(result["score"])
    return result


def parse_record(raw):
    """The Record of JSON."""
    record = with_defaults(raw, RECORD_DEFAULTS)
    record["timestamp"] = milliseconds(record["timestamp"])
    record["record_id"] = record_id_of(record)
    for name in ("costs", "outcomes"):
        record[name] = {
            key: float(value) for key, value in record[name].items() if value is not None
        }
    record["results"] = [parse_result(result) for result in record["results"]]
    return Record(record)


def messagepack(value):
    """A value in MessagePack, each part in the shortest of its formats, keys of maps sorted."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return pack_integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        return pack_text(value)
    if isinstance(value, list):
        header = pack_length(len(value), 0x90, 15, (None, 0xDC, 0xDD))
        return header + b"".join(map(messagepack, value))
    header = pack_length(len(value), 0x80, 15, (None, 0xDE, 0xDF))
    return header + b"".join(
        messagepack(key) + messagepack(of_key) for key, of_key in sorted(value.items())
    )


@lru_cache(10_000)
def pack_text(text):
    encoded = text.encode()
    return pack_length(len(encoded), 0xA0, 31, (0xD9, 0xDA, 0xDB)) + encoded


def pack_length(length, short, most, codes):
    """The header of a string, a list or a map: its code alone, or with 8, 16 or 32 bits."""
    if length <= most:
        return bytes([short + length])
    for code, size in zip(codes, (1, 2, 4), strict=True):
        if code is not None and length < 256**size:
            return bytes([code]) + length.to_bytes(size, "big")
    raise ValueError(length)


def pack_integer(number):
    if -32 <= number < 128:
        return number.to_bytes(1, "big", signed=True)
    code = 0xD0 if number < 0 else 0xCC
    for size in (1, 2, 4, 8):
        try:
            return bytes([code]) + number.to_bytes(size, "big", signed=number < 0)
        except OverflowError:
            code += 1
    raise ValueError(number)


def record_id_of(record):
    return record["record_id"] if (record["record_id"] or "").strip() else None


def nullable(value):
    """A sort key by which null is lower than anything."""
    return (0,) if value is None else (1, value)


def identity(record):
    """The identity that all deliveries of a record share."""
    if record_id_of(record) is not None:
        return ("record_id", record_id_of(record))
    if record["call"] is not None:
        return ("call", record["turn"], record["iteration"], record["call"], record["action"])
    return ("digest", record.digest)


def drop_redeliveries(records):
    """The usable records, and the numbers of redelivered and of conflicting deliveries."""
    deliveries = {}
    for record in records:
        deliveries.setdefault(identity(record), []).append(record)
    usable, redelivered, conflicting = [], 0, 0
    for copies in deliveries.values():
        winner = max(copies, key=lambda copy: (nullable(copy["timestamp"]), copy.digest))
        usable.append(winner)
        redelivered += len(copies) - 1
        conflicting += sum(copy.digest != winner.digest for copy in copies)
    return usable, redelivered, conflicting


def in_order(records):
    """The records in the order of SPEC 3."""
    return sorted(
        records,
        key=lambda record: (
            record["turn"],
            record["iteration"],
            record["call"] or 0,
            nullable(record["timestamp"]),
            nullable(record["record_id"]),
            record.digest,
        ),
    )


def last_turn_of(records):
    return max(max(record["turn"], record["turn_count"] or 1) for record in records)


def searches_of(ordered, turn):
    """The search calls of a turn, without records of documents that were opened or cited."""
    return [record for record in ordered if record["turn"] == turn and record["action"] == "search"]


def attributes_of(ordered):
    """The last nonblank value of each attribute."""
    attributes = {}
    for record in ordered:
        for name, value in record["attributes"].items():
            if (value or "").strip():
                attributes[name] = value
    return attributes
