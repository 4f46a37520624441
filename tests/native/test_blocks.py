"""Blocks of Avro: which ones native code takes, what it asks Python for, and bytes of all kinds."""

import io
import random
from contextlib import suppress
from types import SimpleNamespace

import fastavro
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.files.avro_plan import plan_of
from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.native import native_module
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring import native_packing
from goodgain.transforms.core.scoring.native_rules import describe_packing_rules
from tests.core.direct import shipped_rules
from tests.core.files import samples
from tests.core.files.hostile import avro_file
from tests.core.files.samples import avro_record as record
from tests.native.paths import assert_same, needs_native, new_packer

pytestmark = needs_native

TEXT = ["null", "string"]
TEXTS = {"type": "array", "items": TEXT}


def content_of(schema, rows):
    """The bytes of rows as they stand in a block, decompressed."""
    file = io.BytesIO()
    for row in rows:
        fastavro.schemaless_writer(file, schema, row)
    return file.getvalue()


def rows_for_python(schema, rows):
    """The places of the rows that Python has to read; None when it has to read the whole block."""
    packer, asked = new_packer(), []
    content = content_of(schema, rows)

    def read(index, data):
        assert data == content_of(schema, rows[index : index + 1])
        asked.append(index)

    taken = packer.pack_block(
        packer.prepare(plan_of(schema, (1, 1), 100_000), None), content, len(rows), read
    )
    return None if taken is None else asked


def plain(row):
    """A row whose values need no repair and whose texts are ASCII."""
    return {**row, "record_id": None, "query": None, "results": []}


RESULT = {"ids": {}, "fields": {}, "id": "x"}
ROWS = [plain(row) for row in samples.records(5)]


def test_plain_rows_need_no_python(monkeypatch):
    monkeypatch.setattr(native_packing, "Fallback", lambda rules: None)
    results = [
        {"ids": {"file_id": "A-1", "x": ["a", "b"]}, "fields": {"start": "2024-02-29T10:00:00Z"}},
        {"url": "https://www.Host.org/a%20b/?id=1&utm_source=x#z", "title": "A  title", "gain": 4},
        {"entity_type": " FILE", "snippet": "x " * 60, "content": "y" * 600, "score": 0.5},
        {"entity_type": "Odd", "fields": {"title": "no evidence", "to": ["one"]}, "ids": {}},
    ]
    rows = [{**row, "results": results} for row in ROWS]
    for row in rows:
        row["results"] = [{"ids": {}, "fields": {}, **result} for result in results]
    assert rows_for_python(samples.avro_schema(), rows) == []


ODD = {
    "conversation_id": " ",
    "iteration": 0,
    "turn": -1,
    "call": -1,
    "record_id": "\u2003",
    "timestamp": 2**60,
    "turn_count": -7,
}


@pytest.mark.parametrize("field", ODD)
def test_odd_rows_alone_are_python_s(field):
    schema = samples.avro_schema()
    for schema_field in schema["fields"]:
        if schema_field["name"] == "timestamp":
            schema_field["type"] = ["null", "long"]
    rows = [*ROWS[:2], {**ROWS[2], field: ODD[field]}, *ROWS[3:]]
    assert rows_for_python(schema, rows) == [2]
    assert_same(samples.avro_bytes(rows, schema=schema), "a.avro")


def test_numbers_lists_and_nulls_out_of_place():
    result = record(
        "R",
        gain=["null", "long", "double"],
        score=["null", "double", "float", "string"],
        ids=["null", {"type": "map", "values": [*TEXT, TEXTS, "int"]}],
        fields=record("F", author=TEXT, to=["null", TEXTS], start={"type": "array", "items": TEXT}),
    )
    schema = record(
        "S",
        conversation_id=[*TEXT, "bytes"],
        iteration=["long", "double"],
        attributes=["null", record("A", arm=TEXT, many=["null", TEXTS])],
        results=["null", {"type": "array", "items": ["null", result]}],
    )
    nothing = {"author": None, "to": None, "start": []}
    cases = [
        {"gain": 5}, {"gain": 2.0}, {"gain": -1}, {"score": float("nan")}, {"score": float("inf")},
        {"score": "1"}, {"ids": {"a": None}}, {"ids": {"a": []}}, {"ids": {"a": ["x"]}},
        {"ids": {"a": ["x", None]}}, {"ids": {"a": ["x", "y", "x"]}}, {"ids": {"a": 1}},
        {"fields": {"author": "x", "to": ["y"], "start": ["2024-01-01", "2024-01-01T00:00Z"]}},
        {"fields": {"author": None, "to": [], "start": [None]}},
    ]  # fmt: skip
    rows = [
        {"conversation_id": "c", "iteration": at, "attributes": attributes, "results": results}
        for at, results in enumerate(
            [*([{"fields": nothing, **case}] for case in cases), [None], None, []], start=1
        )
        for attributes in (None, {"arm": "a", "many": None}, {"arm": None, "many": ["x", "y"]})
    ]
    rows += [{"conversation_id": name, "iteration": 1.0} for name in ("c", b"c", b"\xff", None)]
    content = samples.avro_bytes(rows, schema=schema, block=200)
    (whole, rejected) = assert_same(content, "a.avro")
    assert whole
    assert rejected


def test_types_that_hold_themselves_and_names_in_spaces():
    tree = record("Tree", children={"type": "array", "items": "Tree"}) | {"namespace": "deep"}
    schema = record("S", noise=tree, conversation_id="string", iteration="int", more="deep.Tree")
    leaf = {"children": []}
    for depth in (1, 3, 20, 80):
        grown = leaf
        for _ in range(depth):
            grown = {"children": [grown, leaf]}
        rows = [{"noise": grown, "conversation_id": "c", "iteration": 1, "more": leaf}]
        assert rows_for_python(schema, rows) == ([] if depth < 64 else None)
        assert_same(samples.avro_bytes(rows, schema=schema), "a.avro")


def test_keys_twice_in_a_map():
    pairs = {"type": "array", "items": record("P", key="string", value="string")}
    texts = {"type": "map", "values": "string"}
    plain = {"conversation_id": "string", "iteration": "int"}
    twice = [{"key": "arm", "value": "a"}, {"key": "arm", "value": "b"}]
    row = {"conversation_id": "c", "iteration": 1, "attributes": twice}
    content = content_of(record("S", **plain, attributes=pairs), [row])
    schema = record("S", **plain, attributes=texts)
    (whole, _) = assert_same(avro_file(schema, [(1, content)]), "a.avro")
    assert whole[0].calls == 1


def test_bytes_that_are_not_utf_8_make_the_block_python_s():
    schema = record("S", noise="string", conversation_id="string", iteration="int")
    rows = [{"noise": "x", "conversation_id": "c", "iteration": 1}] * 3
    content = samples.avro_bytes(rows, "null", schema)
    assert_same(content.replace(b"\x02x\x02c", b"\x02\xff\x02c", 1), "a.avro")
    assert_same(content.replace(b"\x02x\x02c", b"\x02x\x02\xff", 1), "a.avro")


def test_records_with_more_results_than_are_read():
    rows = [{**ROWS[0], "results": [RESULT] * size} for size in (0, 2, 3, 4, 2)]
    bounds = ReadBounds(max_record_results=3)
    (whole, rejected) = assert_same(samples.avro_bytes(rows), "a.avro", bounds=bounds)
    assert [row.field for row in rejected] == ["results"]
    assert sum(packed.calls for packed in whole) == 4


def test_fields_under_other_names():
    adaptation = Adaptation(["query=tool", "conversation_id=query"], iteration_base=0)
    rows = [{**row, "query": f"q{at % 3}"} for at, row in enumerate(samples.records(20))]
    (whole, _) = assert_same(samples.avro_bytes(rows), "a.avro", adaptation=adaptation)
    assert {packed.conversation_id for packed in whole} == {"q0", "q1", "q2"}


RANDOM = samples.records(30, results=3)
SCHEMA = samples.avro_schema()
CONTENT = content_of(SCHEMA, RANDOM)


@given(st.binary(max_size=300), st.integers(0, 40))
@settings(max_examples=300)
def test_any_bytes_as_a_block(content, count):
    packer = new_packer()
    packer.pack_block(
        packer.prepare(plan_of(SCHEMA, (1, 1), 100_000), None), content, count, lambda *_: None
    )


@pytest.mark.slow
def test_changed_blocks_as_files():
    """Damage that no codec and no marker hides."""
    rng = random.Random(5)
    for _ in range(400):
        changed = bytearray(CONTENT)
        for _ in range(rng.choice([1, 1, 2, 5])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        if rng.random() < 0.2:
            del changed[rng.randrange(len(changed)) :]
        count = len(RANDOM) + rng.choice([0, 0, 0, 1, -1])
        assert_same(avro_file(SCHEMA, [(count, changed)]), "a.avro")


def test_a_call_without_a_timestamp_has_no_time_in_a_stream():
    packer = new_packer()
    rows = [{**RANDOM[0], "timestamp": None}]
    (whole,) = map(native_packing._encode, samples.calls(samples.read(samples.jsonl_bytes(rows))))
    plan = packer.prepare(plan_of(SCHEMA, (1, 1), 100_000), None)
    with pytest.raises(ValueError, match="without a timestamp"):
        packer._packer.add_block(plan, content_of(SCHEMA, rows), 1, lambda *_: whole, (0, 1))


@given(st.binary(max_size=200))
@settings(max_examples=200)
def test_any_bytes_as_an_encoded_call(encoded):
    # Only our own code encodes calls, with all fields; an object without any has the defaults.
    assume(not encoded.startswith((b"\x80", b"\xde\0\0", b"\xdf\0\0\0\0")))
    rules, output = describe_packing_rules(shipped_rules()), (False, None)
    packer = native_module().Packer(rules, SimpleNamespace(), False, None, 5_000, 1, output)
    with pytest.raises(ValueError, match="not an encoded search call"):
        packer.add(encoded, 0)
    assert packer.rest() == []


def test_encoded_calls_cut_off_or_changed():
    packer = new_packer()
    whole = native_packing._encode(samples.calls(samples.read(samples.jsonl_bytes(RANDOM[:1])))[0])
    rng = random.Random(6)
    for _ in range(2_000):
        changed = bytearray(whole)
        changed[rng.randrange(len(changed))] = rng.randrange(256)
        with suppress(ValueError):
            packer._packer.add(bytes(changed[: rng.randrange(len(changed) + 1)]), 0)


names = st.sampled_from(["conversation_id", "iteration", "results", "ids", "costs", "", "x"])
types = st.one_of(
    st.sampled_from([*((kind, None) for kind in ("null", "string", "int", "what")), ("enum", [])]),
    st.tuples(st.sampled_from(["array", "map", "fixed"]), st.integers(-1, 9)),
    st.tuples(st.just("union"), st.lists(st.integers(0, 9), max_size=3)),
    st.tuples(st.just("record"), st.lists(st.tuples(names, st.integers(0, 9)), max_size=3)),
)


@pytest.mark.slow
@given(st.lists(types, max_size=8), st.integers(0, 9), st.binary(max_size=60))
@settings(max_examples=300)
def test_any_table_as_a_plan(table, top, content):
    packer = new_packer()
    try:
        plan = native_module().Plan(table, top, (1, 1), 9)
    except (ValueError, TypeError, OverflowError):
        return
    packer.pack_block(plan, content, 3, lambda *_: None)
