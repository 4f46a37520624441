"""Redeliveries, the last turn and the order inside a conversation (SPEC 2, 3)."""

import json

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
    "reference_id": None,
}


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


def parsed_result(raw):
    result = with_defaults(raw, RESULT_DEFAULTS)
    for name in ("ids", "fields"):
        result[name] = {key: plain_single(value) for key, value in result[name].items()}
    if result["score"] is not None:
        result["score"] = float(result["score"])
    return result


def parsed_record(raw):
    """The JSON record with all defaults and its timestamp in milliseconds."""
    record = with_defaults(raw, RECORD_DEFAULTS)
    record["timestamp"] = milliseconds(record["timestamp"])
    record["record_id"] = record_id_of(record)
    record["costs"] = {
        name: float(cost) for name, cost in record["costs"].items() if cost is not None
    }
    record["results"] = [parsed_result(result) for result in record["results"]]
    return record


def encoding(record):
    """The canonical encoding of a parsed record."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


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
    return ("encoding", encoding(record))


def without_redeliveries(records):
    """The usable records, and the numbers of redelivered and of conflicting deliveries."""
    deliveries = {}
    for record in records:
        deliveries.setdefault(identity(record), []).append(record)
    usable, redelivered, conflicting = [], 0, 0
    for copies in deliveries.values():
        winner = max(copies, key=lambda copy: (nullable(copy["timestamp"]), encoding(copy)))
        usable.append(winner)
        redelivered += len(copies) - 1
        conflicting += sum(encoding(copy) != encoding(winner) for copy in copies)
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
            encoding(record),
        ),
    )


def last_turn_of(records):
    return max(max(record["turn"], record["turn_count"] or 1) for record in records)


def searches_of(ordered, turn):
    """The search calls of a turn, without records of documents that were opened or cited."""
    return [one for one in ordered if one["turn"] == turn and one["action"] == "search"]


def attributes_of(ordered):
    """The last nonblank value of each attribute."""
    attributes = {}
    for record in ordered:
        for name, value in record["attributes"].items():
            if (value or "").strip():
                attributes[name] = value
    return attributes
