"""Sketches of calls, and the records of one conversation: the same from native code and Python."""

import io
import json
from random import Random

import pytest
from msgspec.structs import replace

from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.native import SWITCH
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import SearchCall
from goodgain.transforms.core.scoring.conversation_picker import ConversationPicker, OtherCall
from goodgain.transforms.core.scoring.sketches import Sketcher
from tests.adversarial import trace
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.native.paths import needs_native

pytestmark = needs_native

ROWS = samples.records(120)
ODD = [  # each needs Python: converted, rejected with a conversation, without one, no JSON
    {**ROWS[3], "turn": "2"},
    {**ROWS[5], "iteration": 0},
    {"iteration": 1},
]
LINES = (
    samples.jsonl_bytes([*ROWS[:60], *ODD, *ROWS[60:]])
    + b'{"conversation_id": \n'
    + samples.jsonl_bytes(list(trace(Random(5), conversations=60)))
)
FILES = {
    "a.jsonl": LINES,
    "a.json": json.dumps([*ROWS[:60], *ODD, *ROWS[60:]]).encode(),
    "a.avro": samples.avro_bytes(ROWS),
    "cut.avro": samples.avro_bytes(ROWS)[:-500],
    "a.parquet": samples.parquet_bytes(ROWS),
}
WANTED = ROWS[60]["conversation_id"]


def shards(name, adaptation=None):
    content = FILES[name]
    planned = plan_shards(io.BytesIO(content), name, len(content), 30_000)
    return [replace(shard, adaptation=adaptation) for shard in planned], lambda _: io.BytesIO(
        content
    )


def in_both(monkeypatch, read):
    """What is read in Python, then in native code."""
    monkeypatch.setenv(SWITCH, "0")
    in_python = read()
    monkeypatch.delenv(SWITCH)
    return in_python, read()


def sketch(name, threads, adaptation=None):
    planned, open_file = shards(name, adaptation)
    sketcher = Sketcher(shipped_rules(), threads)
    return [part for shard in planned for part in sketcher.of_shard(shard, open_file)]


def pick(name, threads, conversation_id):
    """The calls of the conversation and rejected rows; the conversations of other calls, sorted."""
    planned, open_file = shards(name)
    picker = ConversationPicker({conversation_id}, shipped_rules(), threads)
    found = [part for shard in planned for part in picker.of_shard(shard, open_file)]
    own = [
        part
        for part in found
        if isinstance(part, RejectedRecord) or part.conversation_id == conversation_id
    ]
    return own, sorted(part.conversation_id for part in found if part not in own)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", FILES)
def test_sketches_are_equal(name, threads, monkeypatch):
    in_python, native = in_both(monkeypatch, lambda: sketch(name, threads))
    assert native == in_python
    assert len(native) >= len(ROWS) - 20


def test_sketches_of_renamed_records_are_equal(monkeypatch):
    adaptation = Adaptation(["query=tool"])
    in_python, native = in_both(monkeypatch, lambda: sketch("a.avro", 1, adaptation))
    assert native == in_python


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("conversation_id", [WANTED, "no such conversation"])
def test_the_records_of_a_conversation_are_equal(name, threads, conversation_id, monkeypatch):
    in_python, native = in_both(monkeypatch, lambda: pick(name, threads, conversation_id))
    assert native == in_python
    own, others = native
    assert others
    assert any(isinstance(part, SearchCall) for part in own) == (conversation_id == WANTED)


def test_native_code_reads_nothing_else_into_objects(monkeypatch):
    planned, open_file = shards("a.avro")
    picker = ConversationPicker({WANTED}, shipped_rules(), 1)
    found = [part for shard in planned for part in picker.of_shard(shard, open_file)]
    own = [part for part in found if isinstance(part, SearchCall)]
    expected = [parse_mapping(row) for row in ROWS if row["conversation_id"] == WANTED]
    assert own == expected
    assert all(isinstance(part, OtherCall) for part in found if part not in own)
