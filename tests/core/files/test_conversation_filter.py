"""Reading only some conversations decodes fewer records, and loses none of theirs."""

import copy
import io
import json

import pytest

from goodgain.transforms.core.files.conversation_filter import filter_for
from goodgain.transforms.core.files.shard import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from tests.core.files import samples

ROWS = samples.records(400, results=2)
WANTED = frozenset(("conversation-7", "conversation-93"))
FILES = {
    "traces.avro": samples.avro_bytes(ROWS),
    "traces.avro.gz": samples.COMPRESS[".gz"](samples.avro_bytes(ROWS)),
    "traces.jsonl": samples.jsonl_bytes(ROWS),
    "traces.jsonl.zst": samples.COMPRESS[".zst"](samples.jsonl_bytes(ROWS)),
    "traces.parquet": samples.parquet_bytes(ROWS, group=20),
}


def read(path, content, wanted=None):
    shards = plan_shards(io.BytesIO(content), path, len(content))
    files = samples.Files({path: content})
    return [record for shard in shards for record in read_shard(shard, files.open, wanted)]


def records_of(conversation_ids, records):
    return [record for record in records if record.conversation_id in conversation_ids]


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("path", FILES)
def test_all_wanted_records_and_few_others_are_read(path):
    everything = read(path, FILES[path])
    found = read(path, FILES[path], filter_for(WANTED))
    assert records_of(WANTED, found) == records_of(WANTED, everything)
    assert len(records_of(WANTED, found)) == 8
    assert len(found) <= len(everything) / 4


@pytest.mark.usefixtures("reading")
@pytest.mark.parametrize("path", FILES)
def test_more_conversations_than_can_be_searched_for_are_all_read(path):
    everything = read(path, FILES[path])
    many = {f"conversation-{number}" for number in range(101)}
    assert records_of(many, read(path, FILES[path], filter_for(many))) == records_of(
        many, everything
    )


def test_json_escapes_do_not_hide_a_conversation():
    rows = [
        b'{"conversation_id": "\\u0061b/c", "iteration": 1}',
        b'{"conversation_id": "ab\\/c", "iteration": 2}',
        b'{"conversation_id": "ab/c", "iteration": 3}',
        b'{"conversation_id": "other", "iteration": 4}',
    ]
    found = read("traces.jsonl", b"\n".join(rows), filter_for({"ab/c"}))
    assert [record.iteration for record in found] == [1, 2, 3]


@pytest.mark.parametrize("conversation_id", ['a"b', "a\\b", "a\nb"])
def test_ids_that_json_escapes_are_found(conversation_id):
    line = json.dumps({"conversation_id": conversation_id, "iteration": 1}).encode()
    (found,) = read("traces.jsonl", line, filter_for({conversation_id}))
    assert found.conversation_id == conversation_id


@pytest.mark.usefixtures("reading")
def test_an_id_that_is_an_avro_enum_is_found():
    schema = copy.deepcopy(samples.avro_schema())
    symbols = ["one", "two"]
    schema["fields"][0]["type"] = {"type": "enum", "name": "Known", "symbols": symbols}
    rows = [{**row, "conversation_id": symbols[at % 2]} for at, row in enumerate(ROWS[:40])]
    found = read("traces.avro", samples.avro_bytes(rows, schema=schema), filter_for({"two"}))
    assert len(records_of({"two"}, found)) == 20


def test_damage_that_may_belong_to_a_wanted_conversation_is_reported():
    lines = b'{"conversation_id": "conversation-7", "iteration": 0}\n{"conversation_id": "x"}\n'
    (row,) = read("traces.jsonl", lines, filter_for({"conversation-7"}))
    assert row.conversation_id == "conversation-7"
