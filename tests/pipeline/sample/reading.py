"""Reading and normalising records for the tests of `goodgain sample`."""

import argparse
import json
from datetime import datetime

import fastavro

from goodgain.pipeline.cli.sample import add_arguments, run
from goodgain.pipeline.settings.sample_config import SampleConfig
from tests.reference.delivery import RECORD_DEFAULTS, RESULT_DEFAULTS, with_defaults

SMALL = SampleConfig(seed=3, conversations=25, bad_share=0.05)


def command(*arguments):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args(list(arguments)))


def results_of(records):
    return [result for record in records for result in record["results"]]


def comparable(record):
    """A record with the defaults of SPEC 2, as text, because NaN is not equal to itself."""
    record = with_defaults(record, RECORD_DEFAULTS)
    if isinstance(record["timestamp"], str):
        record["timestamp"] = datetime.fromisoformat(record["timestamp"])
    if isinstance(record["timestamp"], datetime):
        record["timestamp"] = round(record["timestamp"].timestamp() * 1000)
    record["attributes"] = dict(record["attributes"])
    record["costs"], record["outcomes"] = dict(record["costs"]), dict(record["outcomes"])
    record["results"] = [
        {
            **with_defaults(result, RESULT_DEFAULTS),
            "ids": lists(result.get("ids")),
            "fields": lists(result.get("fields")),
        }
        for result in record["results"]
    ]
    return json.dumps(record, sort_keys=True)


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


def unpack(block):
    return block.num_records, block.bytes_.getvalue()
