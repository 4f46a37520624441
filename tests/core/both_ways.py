"""Reads a record as JSON and as a mapping, for the tests of parsing."""

import json

import pytest

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.parsing import parse_json, parse_mapping
from goodgain.transforms.core.records.search_call import SearchCall, canonical_encoding

BASE = {"conversation_id": "c", "iteration": 2}
PLAIN = SearchCall("c", 2)


def with_result(**fields):
    return {**BASE, "results": [{}, fields]}


def both(record):
    """The record read as JSON, which must equal the one read as a mapping."""
    from_json = parse_json(json.dumps(record).encode())
    assert parse_mapping(record) == from_json
    assert canonical_encoding(parse_mapping(record)) == canonical_encoding(from_json)
    return from_json


def refused(record):
    """The error of the record read as JSON, which must equal that of the mapping."""
    with pytest.raises(RecordError) as by_json:
        parse_json(json.dumps(record).encode())
    with pytest.raises(RecordError) as by_mapping:
        parse_mapping(record)
    seen = [(e.value.reason, e.value.field, e.value.conversation_id) for e in (by_json, by_mapping)]
    assert seen[0] == seen[1]
    return seen[0]
