"""Sampled records made comparable: what the tests of `goodgain sample` start from."""

import argparse
import json
from datetime import datetime

import fastavro

from pipeline.sample import SampleOptions
from pipeline.sample.command import add_arguments, run

SMALL = SampleOptions(seed=3, conversations=25, bad_share=0.05)

DEFAULTS = {
    "turn": 1,
    "call": None,
    "record_id": None,
    "turn_count": None,
    "is_final": False,
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

DEFAULTS_OF_RESULTS = list(DEFAULTS)[5:]


def command(*arguments):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(list(arguments)))


def results_of(calls):
    return [result for call in calls for result in call.record["results"]]


def comparable(record):
    """A record under SPEC 2's defaults, as text, because NaN is not equal to itself."""
    record = with_defaults(record, DEFAULTS.keys() - set(DEFAULTS_OF_RESULTS))
    if isinstance(record["timestamp"], str):
        record["timestamp"] = datetime.fromisoformat(record["timestamp"])
    if isinstance(record["timestamp"], datetime):
        record["timestamp"] = round(record["timestamp"].timestamp() * 1000)
    record["attributes"] = dict(record["attributes"])
    record["results"] = [
        {
            **with_defaults(result, DEFAULTS_OF_RESULTS),
            "ids": lists(result.get("ids")),
            "fields": lists(result.get("fields")),
        }
        for result in record["results"]
    ]
    return json.dumps(record, sort_keys=True)


def with_defaults(values, names):
    given = {name: value for name, value in values.items() if value is not None}
    return {name: DEFAULTS[name] for name in names} | given


def lists(values):
    return {
        name: [value] if isinstance(value, str) else list(value)
        for name, value in dict(values or {}).items()
    }


def avro_records(path):
    with open(path, "rb") as file:
        return list(fastavro.reader(file))


def json_records(content):
    return [json.loads(line) for line in content.decode().splitlines()]


def unpacked(block):
    return block.num_records, block.bytes_.getvalue()
