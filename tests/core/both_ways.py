"""Parse a record both as JSON and as a mapping, which must give the same."""

import json

import pytest

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.parsing import parse_json, parse_mapping
from goodgain.transforms.core.records.record_encoding import record_encoding
from goodgain.transforms.core.records.search_call import SearchCall

BASE = {"conversation_id": "c", "iteration": 2}
PLAIN = SearchCall("c", 2)


def with_result(**fields):
    return {**BASE, "results": [{}, fields]}


def parse(record):
    """The parsed JSON record, after a check that the mapping gives the same."""
    from_json = parse_json(json.dumps(record).encode())
    assert parse_mapping(record) == from_json
    assert record_encoding(parse_mapping(record)) == record_encoding(from_json)
    return from_json


def parsing_error(record):
    """(reason, field, conversation_id) of the error, after a check that both give the same."""
    with pytest.raises(RecordError) as by_json:
        parse_json(json.dumps(record).encode())
    with pytest.raises(RecordError) as by_mapping:
        parse_mapping(record)
    errors = [
        (e.value.reason, e.value.field, e.value.conversation_id) for e in (by_json, by_mapping)
    ]
    assert errors[0] == errors[1]
    return errors[0]
