"""Native code and Python request the same external judgments for records, byte for byte."""

import json
import uuid
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.judgments.judgment import LabelKeys
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.records.search_call import Result, SearchCall
from goodgain.transforms.core.scoring import native_packing, packing
from goodgain.transforms.core.scoring.payload import unpack
from tests.adversarial import trace
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.native.paths import assert_same, assert_same_records, needs_native, packers, payloads

pytestmark = needs_native

BY_CONVERSATION = LabelKeys()
BY_ATTRIBUTE = LabelKeys("file_id", "arm")
KEYS = [BY_CONVERSATION, BY_ATTRIBUTE]
BAD = {"conversation_id": "a-1"}  # without an iteration


def reject(conversation_id):
    return RejectedRecord("f", "line 1", "Bad.", conversation_id=conversation_id, records=2)


def with_ids(record):
    """Some results under their names for judgments, one of them for several documents."""
    for at, result in enumerate(record.get("results") or ()):
        name = ["d1", " d1 ", f"d{at}"] if at % 3 else f" é{at}\u2003"
        result["ids"] = {"doc_id": name, **(result.get("ids") or {})}
    return record


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("keep_records", [False, True])
def test_adversarial_traces(keys, keep_records):
    records = [parse_mapping(with_ids(record)) for record in trace(Random(21), conversations=60)]
    records[5:5] = [reject(records[0].conversation_id), reject("alone"), reject(None)]
    found = assert_same_records(records, label_keys=keys, keep_records=keep_records)
    requests = [packed.label_request for packed in found if packed.label_request]
    assert sum(bool(request.documents) for request in requests) > 20
    assert any(request.records for request in requests) == (keys is BY_ATTRIBUTE)
    assert [packed.conversation_id for packed in found if packed.label_request is None] == ["alone"]


@pytest.mark.slow
@pytest.mark.parametrize("keys", KEYS)
def test_files(keys):
    rows = [
        msgspec.to_builtins(parse_mapping(with_ids(record)), enc_hook=int)
        for record in trace(Random(22), conversations=40)
    ]
    rows[3]["results"][:1] = [{"ids": {"doc_id": "x"}, "fields": {}, "gain": 9}]
    rows[9]["conversation_id"] = " "
    lines = samples.jsonl_bytes([*rows, BAD, {**BAD, "iteration": "3"}])
    for content, name in (
        (samples.avro_bytes(rows), "a.avro"),
        (lines, "a.jsonl"),
        (samples.parquet_bytes(rows), "a.parquet"),
    ):
        whole, bad = assert_same(content, name, label_keys=keys)
        assert sum(packed.calls for packed in whole) == len(rows) - 2 + (name == "a.jsonl")
        assert any(packed.label_request.documents for packed in whole if packed.label_request)
        assert bad
        assert_same(content, name, shard_bytes=5_000, label_keys=keys)


def test_payloads_leave_early_in_the_same_order(monkeypatch):
    monkeypatch.setattr(packing, "MOST_BUFFERED_RESULTS", 40)
    packers.cache_clear()
    records = [parse_mapping(with_ids(record)) for record in trace(Random(23), conversations=20)]
    assert_same_records(records, label_keys=BY_CONVERSATION)
    packers.cache_clear()


def test_what_is_asked():
    calls = [
        SearchCall("c", 1, attributes={"arm": "\u3000é\x1c"}, results=[Result(id=" b ")]),
        SearchCall("c", 2, attributes={"arm": "A"}, results=[Result(), Result(id=" ")]),
        SearchCall("c", 3, results=[Result(id="also asked")]),
        SearchCall(
            "c",
            4,
            attributes={"arm": "é"},
            results=[
                Result(id="hidden", ids={"file_id": ["b", " ", "\x1fa\u2003"], "x": "y"}),
                Result(id="shown", ids={"file_id": "\u2028"}),
            ],
        ),
    ]
    (one,) = assert_same_records([*calls, calls[0]], label_keys=BY_ATTRIBUTE)
    request = one.label_request
    assert request.documents == ["a", "also asked", "b", "shown"]
    assert (request.topic_attribute, request.without_name) == ("arm", 2)
    records = request.records.values()
    assert [record.attributes for record in records] == [call.attributes for call in calls]
    assert [record.iteration for record in records] == [1, 2, 3, 4]
    documents = unpack([one.payload]).external.documents.values()
    assert [list(map(len, names)) for names in documents] == [[8], [0, 0], [8], [16, 8]]


def test_only_rejected_records_ask_for_nothing():
    (one,) = assert_same_records([reject("c")], label_keys=BY_CONVERSATION)
    assert one.label_request is None
    assert unpack([one.payload]).external is None


def test_plain_records_need_no_python(monkeypatch):
    monkeypatch.setattr(native_packing, "Fallback", lambda rules: None)
    how = packing.Packing(shipped_rules(), label_keys=BY_ATTRIBUTE)
    packer = native_packing.NativePacker(how, native_module())
    result = Result(id="x", ids={"file_id": ["3F2504E0-4F89-11D3-9A0C-0305E82C3301", "\ta "]})
    (one,) = payloads(packer, [SearchCall("c", 1, attributes={"arm": " A"}, results=[result])])
    assert one.label_request.documents == ["3F2504E0-4F89-11D3-9A0C-0305E82C3301", "a"]


def test_white_space_is_python_s():
    """Every character of the basic plane, and some beyond, at the ends of names."""
    codes = [*range(0xD800), *range(0xE000, 0x10000), *range(0x10000, 0x110000, 997)]
    names = [f"{chr(code)}{code}{chr(code)}" for code in codes]
    calls = [
        SearchCall(
            "c",
            at + 1,
            results=[Result(ids={"file_id": names[at : at + 500]})],
        )
        for at in range(0, len(names), 500)
    ]
    assert_same_records(calls, label_keys=BY_ATTRIBUTE)


def any_text(random):
    kind = random.randrange(3)
    if kind == 0:
        return "".join(
            random.choices("aAé \t\x1c\x85\u2003\u200b\ufeff😀\n", k=random.randrange(6))
        )
    if kind == 1:
        guid = str(uuid.UUID(int=random.getrandbits(128)))
        return "".join(random.choice([character, character.upper()]) for character in guid)
    return random.choice(["a", "b", "x" * 300])


def any_texts(random):
    """One as it is, or several."""
    several = [any_text(random) for _ in range(random.randint(1, 4))]
    return several if len(several) > 1 else several[0]


def any_result(random):
    names = [name for name in ("doc_id", "file_id", "é") if random.random() < 0.5]
    return Result(
        id=random.choice([None, any_text(random)]),
        ids={name: any_texts(random) for name in names},
        reference_id=random.choice([None, any_text(random)]),
    )


def any_call(random):
    names = [name for name in ("arm", "é") if random.random() < 0.5]
    return SearchCall(
        conversation_id=random.choice(["c", " c ", "d\u2003", "é"]),
        iteration=random.randint(1, 2),
        record_id=random.choice([None, "r"]),
        attributes={name: any_text(random) for name in names},
        results=[any_result(random) for _ in range(random.randint(0, 18))],
    )


# Drawing each value by hypothesis took ten times what is tested.
calls = st.integers(0, 2**64 - 1).map(Random).map(any_call)
rejections = st.sampled_from(["c", "é", "x", None]).map(reject)


@pytest.mark.slow
@given(
    st.lists(calls | rejections, max_size=8),
    st.lists(st.integers(0, 7), max_size=4),
    st.builds(
        LabelKeys,
        st.sampled_from(["doc_id", "file_id", "é", "id"]),
        st.sampled_from([None, "arm", "é", "no"]),
    ),
    st.booleans(),
)
@settings(max_examples=200)
def test_any_records(records, redelivered, keys, keep_records):
    records += [records[at] for at in redelivered if at < len(records)]
    assert_same_records(records, label_keys=keys, keep_records=keep_records)


@given(st.lists(calls, min_size=1, max_size=4), st.sampled_from(KEYS))
@settings(max_examples=60)
def test_any_lines(records, keys):
    rows = [msgspec.to_builtins(record) for record in records]
    lines = [json.dumps(row, ensure_ascii=at % 2 == 0) for at, row in enumerate(rows)]
    assert_same("\n".join([*lines, *lines[:1], "{"]).encode(), "a.jsonl", label_keys=keys)
