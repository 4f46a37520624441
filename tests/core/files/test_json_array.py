"""Files that are one JSON array of records, and text that only looks like JSON Lines."""

import bz2
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.files import json_array_reader
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.csv_reader import begins_like_csv
from goodgain.transforms.core.files.first_records import first_records
from goodgain.transforms.core.files.jsonl_reader import why_not_jsonl
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.files.shard_reader import read_shard
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.records.search_call import SearchCall

RECORDS = [
    {"conversation_id": "c", "iteration": number, "query": "ü\n,]", "results": [{"gain": 3}]}
    for number in range(1, 30)
]


def shards(content, name="a.json", **options):
    return plan_shards(io.BytesIO(content), name, len(content), **options)


def read(content, name="a.json", **options):
    return [
        record
        for shard in shards(content, name, **options)
        for record in read_shard(shard, lambda _: io.BytesIO(content))
    ]


def calls(found):
    return [record for record in found if isinstance(record, SearchCall)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
def test_an_array_is_read_like_json_lines(indent, pack, name):
    array = b"\xef\xbb\xbf \n" + json.dumps(RECORDS, indent=indent).encode() + b" \n"
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS).encode()
    assert read(pack(array), name, shard_bytes=100) == read(lines)


def test_an_empty_array_has_no_records():
    assert read(b"[]") == read(b" [ \n ] ") == []


def test_a_bad_record_affects_no_other():
    found = read(json.dumps([RECORDS[0], 3, None, {"conversation_id": "d"}, RECORDS[1]]).encode())
    assert calls(found) == read(json.dumps(RECORDS[:2]).encode())
    rejected = [
        (record.position, record.conversation_id)
        for record in found
        if not isinstance(record, SearchCall)
    ]
    assert rejected == [("record 2", None), ("record 3", None), ("record 4", "d")]


@pytest.mark.parametrize("cut", [5, 40, -2])
def test_a_damaged_array_is_read_up_to_the_damage(cut):
    content = json.dumps(RECORDS).encode()[:cut]
    *good, bad = read(content)
    assert len(calls(good)) == len(good)
    assert "JSON array" in bad.reason


@pytest.mark.parametrize("rest", [b'"' + b"x" * 2**22, b"1" * 2**22])
def test_an_array_truncated_in_a_long_value_is_read_once(rest):
    """A new search from each byte of the value would take hours."""
    good, bad = read(b"[" + json.dumps(RECORDS[0]).encode() + b', {"a": ' + rest)
    assert (good.iteration, bad.position) == (1, "record 2")
    assert "it is truncated" in bad.reason


def test_a_text_with_a_lone_surrogate_is_rejected():
    (row,) = read(b'[{"conversation_id": "c", "iteration": 1, "query": "\\ud800"}]')
    assert (row.position, row.conversation_id) == ("record 1", "c")


def test_a_record_nested_too_deeply_is_rejected():
    deep = b'{"conversation_id": "c", "iteration": 1, "results": ' + b"[" * 100_000 + b"]" * 100_000
    good = b'{"conversation_id": "c", "iteration": 1}'
    bad, call = read(b"[" + deep + b"}," + good + b"]")
    assert "nested too deeply" in bad.reason
    assert call.iteration == 1
    (row,) = read(b"[" + deep[:-1])
    assert "it is truncated" in row.reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (json.dumps([1, 2] * 500).encode(), "not of records"),
        (
            json.dumps([{"a": 1, "b": 2}] * 500).encode(),
            "neither conversation_id nor iteration, but a, b",
        ),
        (b"[what is this", "begins like a JSON array but is not one"),
        (b'["\xff"]', "begins like a JSON array but is not one"),
        (gzip.compress(json.dumps(RECORDS).encode())[:-9], "cannot be unpacked"),
    ],
)
def test_an_array_without_records_gives_one_rejected_row(content, reason):
    (row,) = read(content)
    assert reason in row.reason
    assert row.position == "file"


def test_fields_of_an_array_are_renamed():
    (call,) = read(
        b'[{"session": "c", "step": 1}]',
        adaptation=Adaptation(["conversation_id=session", "iteration=step"]),
    )
    assert call.conversation_id == "c"


def test_an_array_too_large_for_memory_suggests_json_lines():
    (row,) = read(json.dumps(RECORDS).encode(), bounds=ReadBounds(max_decoded_bytes=100))
    assert "jq -c '.[]'" in row.reason


def test_limits_of_a_record_apply_in_an_array():
    many = {**RECORDS[0], "results": [{}] * 11}
    bad, call = read(
        json.dumps([many, RECORDS[1]]).encode(), bounds=ReadBounds(max_record_results=10)
    )
    assert "--max-record-results" in bad.reason
    assert call.iteration == 2
    content = json.dumps([{**RECORDS[0], "results": [{}] * 2**20}, RECORDS[1]]).encode()
    bad, call = read(content, bounds=ReadBounds(max_record_results=10))
    assert "--max-record-results" in bad.reason


def test_json_lines_may_begin_with_an_array():
    found = read(b"[1]\n" + json.dumps(RECORDS[0]).encode() + b"\n", "a.jsonl")
    assert [record.position for record in found[:1]] == ["line 1"]
    assert len(calls(found)) == 1


def test_first_records_are_those_of_the_array():
    content = json.dumps(RECORDS).encode()
    (shard,) = shards(content)
    assert first_records(io.BytesIO(content), shard) == RECORDS


def test_one_object_over_several_lines_is_rejected():
    (row,) = read(json.dumps(RECORDS[0], indent=2).encode())
    assert "spans several lines" in row.reason


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\n\n",
        b'{"conversation_id": "c"}\n',
        b"not json\n{}",
        b"not json, at all\nneither is this",
        b"a,b",
        b"{\n",
        b"{\n{\n",
        b"1,2\n3,4\n",
        b"{, b\n{, b",
    ],
)
def test_other_text_is_not_mistaken_for_a_table(head):
    assert why_not_jsonl(head) is None
    assert not begins_like_csv(head)


def test_judgments_may_be_tables():
    (shard,) = shards(b"topic,doc_id,gain\n1,d,3\n", "qrels.csv", of_traces=False)
    assert shard.problem is None


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just('a"]},[{\\'),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@given(st.lists(values, max_size=5), st.sampled_from([None, 0, 3]), st.booleans())
def test_elements_are_split_as_by_the_json_module(elements, indent, ascii_only):
    content = json.dumps(elements, indent=indent, ensure_ascii=ascii_only)
    found = json_array_reader._elements(content.encode("utf-8", "surrogatepass"))
    assert [json.loads(text) for text in found] == elements
