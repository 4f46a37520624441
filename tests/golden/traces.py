"""The traces behind the golden outputs, in three formats."""

import io
import json
from pathlib import Path
from random import Random

import fastavro
import msgspec
import pyarrow.parquet as pq

from goodgain.pipeline.results.trace_files import trace_schema
from goodgain.pipeline.results.trace_parquet import write_parquet
from goodgain.transforms.core.records.parsing import parse_mapping
from tests.adversarial import trace
from tests.core.files import samples

FORMATS = ("avro", "parquet", "jsonl")
START = 1_740_916_800_000  # 2025-03-02T12:00:00Z, in ms
MINUTE = 60_000
_BLOCK_BYTES = 2_000
_ROW_GROUP = 16  # records
_SYNC = b"golden  outputs "


def records(seed, conversations=14):
    """Records that all formats can hold, with attributes and costs for slices, topics and budgets.

    Conversations have several turns, redeliveries, duplicates and unlabelled results.
    """
    random = Random(seed)
    found = [
        msgspec.to_builtins(parse_mapping(record), enc_hook=int)
        for record in trace(random, conversations)
    ]
    for record in found:
        number = int(record["conversation_id"].split("-")[1])
        record["attributes"] = {
            "arm": "AB"[number % 2],
            "market": ["de", "fr", "fr"][number % 3],
            "query_id": f"q{number // 2}",
            "topic": f"t{number % 4}",
        }
        if number % 5 == 4:
            del record["attributes"]["market"]
        record["timestamp"] = START + number * 7 * MINUTE + record["iteration"] * MINUTE
        record["costs"] = {
            name: random.choice((0.0, 0.1, 12.5, 700.0))
            for name in ("tokens", "usd")
            if random.random() < 0.95
        }
    return found


def single_turns(seed, conversations=14):
    """As `records`, but without earlier turns and redeliveries."""
    found = {
        (record["conversation_id"], record["iteration"], record["call"]): {
            **record, "turn": 1, "turn_count": None, "record_id": None
        }
        for record in records(seed, conversations)
    }  # fmt: skip
    return list(found.values())


def redeliver(seed):
    """As `records`, with every second record again: the same, or changed at the same time."""
    found = records(seed)
    again = []
    for number, record in enumerate(found):
        if number % 4 == 0:
            again.append(record)
        elif number % 4 == 2:
            again.append({**record, "query": f"changed {number % 8}", "results": []})
    return again[::-1] + found


def with_wrong_values(seed):
    """As `records`, with values out of their ranges."""
    found = records(seed)
    for number, wrong in enumerate(
        (
            {"conversation_id": " "},
            {"iteration": 0},
            {"turn": -1},
            {"call": -2},
            {"costs": {"tokens": -1.0}},
            {"results": [{**_RESULT, "gain": 7}]},
            {"results": [_RESULT, {**_RESULT, "score": float("inf")}]},
        )
    ):
        found[number * 4] = {**found[number * 4], **wrong}
    return found


_RESULT = {"id": "a", "gain": 3, "ids": {}, "fields": {}}


def drop_labels(seed):
    """As `records`, without any label."""
    found = records(seed)
    for record in found:
        record["results"] = [{**result, "gain": None} for result in record["results"]]
    return found


def change(found):
    """A candidate: some results lose or gain labels, searches cost more, a conversation is gone."""
    random = Random(1)
    gone = min(record["conversation_id"] for record in found)
    return [
        {
            **record,
            "costs": {name: cost * 1.5 for name, cost in record["costs"].items()},
            "results": [
                {**result, "gain": random.choice((result["gain"], result["gain"], 3))}
                for result in record["results"]
                if random.random() < 0.9
            ],
        }
        for record in found
        if record["conversation_id"] != gone
    ]


def encode_file(found, file_format):
    """Records as the bytes of a file."""
    file = io.BytesIO()
    if file_format == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in found).encode()
    if file_format == "avro":
        schema = fastavro.parse_schema(trace_schema())
        fastavro.writer(file, schema, found, "null", _BLOCK_BYTES, sync_marker=_SYNC)
        return file.getvalue()
    write_parquet(found, file, "none")
    groups = io.BytesIO()
    pq.write_table(pq.read_table(file), groups, row_group_size=_ROW_GROUP)
    return groups.getvalue()


def damage(found, file_format):
    """The bytes of a file with a wrong byte in the middle, and cut off at the end.

    In Parquet it is the type of a page, and the file is not cut off, since its footer is there.
    """
    content = bytearray(encode_file(found, file_format))
    middle = len(content) // 2
    if file_format == "parquet":
        pages = (begin for begin, _ in samples.page_headers(bytes(content)))
        content[next(page for page in pages if page > middle) + 1] ^= 2
        return bytes(content)
    content[middle] ^= 0xFF
    return bytes(content[: -len(content) // 10])


def with_broken_lines(found, file_format):
    """The bytes of a file; in JSON Lines with lines that are not JSON or not UTF-8."""
    content = encode_file(found, file_format)
    if file_format == "jsonl":
        lines = content.splitlines(keepends=True)
        content = b"".join([*lines[:3], b'{"conversation_id": "a-0"\n', b"\xff\n", *lines[3:]])
    return content


def write(folder: Path, name, content):
    """Write bytes or text into a folder; the path as text."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)
