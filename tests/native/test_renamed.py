"""Native code reads records with other names than those of SPEC 2, and Python reads them alike."""

import io
import json
from random import Random

import pyarrow as pa
import pytest

from goodgain.transforms.core.files.avro_plan import plan_of
from goodgain.transforms.core.files.bounds import DEFAULT_BOUNDS
from goodgain.transforms.core.files.shard_plan import plan_shards
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring.shard_payloads import payloads_of_shard
from tests.core.files import samples
from tests.native.paths import assert_same, needs_native, new_packer
from tests.native.test_blocks import record

pytestmark = needs_native

RENAMES = (
    "conversation_id=session",
    "iteration=meta.step",
    "timestamp=meta.time.at",
    "attributes.arm=arm",
    "costs.usd=price",
    "results=hits",
    "ids.doc_id=key",
    "fields.author=doc.by",
    "url=doc.link",
    "gain=relevance",
)
ADAPTATION = Adaptation(RENAMES, iteration_base=0)
FOREIGN = [
    {
        "session": f"c-{number % 5}",
        "meta": {"step": number % 3, "time": {"at": 1_700_000_000_000 + number}, "more": "x"},
        "arm": "AB"[number % 2],
        "attributes": {"market": "de"},
        "price": number / 8,
        "costs": {"tokens": 7.0},
        "query": "q",
        "hits": [
            {
                "key": f"K-{(number * 7 + rank) % 30}",
                "doc": {"by": "Ada", "link": f"https://a.org/{number}/{rank}", "size": 3},
                "relevance": rank,
                "ids": {"other": "o"},
                "fields": {"kind": "k"},
            }
            for rank in range(4)
        ],
    }
    for number in range(40)
]
TEXTS = {"type": "map", "values": "string"}
SCHEMA = record(
    "Call",
    session="string",
    meta=record("Meta", step="long", time=record("Time", at="long"), more="string"),
    arm="string",
    attributes=TEXTS,
    price="double",
    costs={"type": "map", "values": "double"},
    query="string",
    hits={
        "type": "array",
        "items": record(
            "Hit",
            key="string",
            doc=record("Doc", by="string", link="string", size="long"),
            relevance="long",
            ids=TEXTS,
            fields=TEXTS,
        ),
    },
)


def avro(rows, schema=SCHEMA):
    return samples.avro_bytes(rows, schema=schema)


def parquet(rows):
    maps = [
        {
            **row,
            "attributes": list(row["attributes"].items()),
            "costs": list(row["costs"].items()),
        }
        for row in rows
    ]
    columns = {name: pa.array([row[name] for row in rows]) for name in ("session", "meta", "arm")}
    for name, kind in (("attributes", pa.string()), ("costs", pa.float64())):
        columns[name] = pa.array([row[name] for row in maps], pa.map_(pa.string(), kind))
    columns |= {name: pa.array([row[name] for row in rows]) for name in ("price", "query", "hits")}
    return samples.table_bytes(pa.table(columns))


def array(rows, indent=None):
    return json.dumps(rows, indent=indent, ensure_ascii=False).encode()


FILES = {
    "a.jsonl": samples.jsonl_bytes,
    "a.json": array,
    "b.json": lambda rows: array(rows, indent=1),
    "a.avro": avro,
    "a.parquet": parquet,
}


def read_by_python(content, path, adaptation):
    """How many records native code leaves to Python."""
    packer = new_packer()
    for shard in plan_shards(io.BytesIO(content), path, len(content), adaptation=adaptation):
        list(payloads_of_shard(shard, lambda _: io.BytesIO(content), packer))
    return packer.from_python


@pytest.mark.parametrize("path", FILES)
def test_renamed_records_need_no_python(path):
    content = FILES[path](FOREIGN)
    assert read_by_python(content, path, ADAPTATION) == 0
    (whole, rejected) = assert_same(content, path, adaptation=ADAPTATION)
    assert (sum(packed.calls for packed in whole), rejected) == (len(FOREIGN), [])


@pytest.mark.parametrize("path", FILES)
def test_payloads_are_those_of_records_with_our_names(path):
    ours = [
        {
            "conversation_id": row["session"],
            "iteration": row["meta"]["step"] + 1,
            "timestamp": row["meta"]["time"]["at"],
            "attributes": {**row["attributes"], "arm": row["arm"]},
            "costs": {**row["costs"], "usd": row["price"]},
            "query": row["query"],
            "results": [
                {
                    "ids": {**hit["ids"], "doc_id": hit["key"]},
                    "fields": {**hit["fields"], "author": hit["doc"]["by"]},
                    "url": hit["doc"]["link"],
                    "gain": hit["relevance"],
                }
                for hit in row["hits"]
            ],
        }
        for row in FOREIGN
    ]
    assert assert_same(FILES[path](FOREIGN), path, adaptation=ADAPTATION) == assert_same(
        samples.jsonl_bytes(ours), "ours.jsonl"
    )


def with_gaps(value, rng):
    """The value without some of its parts, whose names must be known."""
    if isinstance(value, dict):
        return {
            name: None if rng.random() < 0.1 else with_gaps(part, rng)
            for name, part in value.items()
        }
    return [with_gaps(part, rng) for part in value] if isinstance(value, list) else value


def nullable(kind):
    if isinstance(kind, dict) and kind["type"] == "record":
        fields = [{**field, "type": ["null", nullable(field["type"])]} for field in kind["fields"]]
        return {**kind, "fields": fields}
    if isinstance(kind, dict) and kind["type"] == "array":
        return {**kind, "items": nullable(kind["items"])}
    return {**kind, "values": ["null", kind["values"]]} if isinstance(kind, dict) else kind


@pytest.mark.parametrize("path", FILES)
def test_values_may_be_missing(path):
    rng = Random(5)
    rows = [{**with_gaps(row, rng), "session": "c"} for row in FOREIGN for _ in range(10)]
    if path == "a.parquet":
        rows = [
            {**row, "attributes": row["attributes"] or {}, "costs": row["costs"] or {}}
            for row in rows
        ]
    content = avro(rows, nullable(SCHEMA)) if path == "a.avro" else FILES[path](rows)
    (whole, rejected) = assert_same(content, path, adaptation=ADAPTATION)
    calls = sum(packed.calls for packed in whole)
    assert calls + len(rejected) == len(rows)
    assert min(calls, len(rejected)) > 50
    assert read_by_python(content, path, ADAPTATION) < 20  # rows of Parquet after bad ones


@pytest.mark.parametrize(
    ("renames", "row"),
    [
        # A field that is renamed and there, whose own value counts where the other is null.
        (["query=question"], {"query": "own", "question": None}),
        (["query=question"], {"query": "own", "question": "other"}),
        (["attributes.arm=arm"], {"attributes": {"arm": "A"}, "arm": None}),
        (["attributes.arm=arm"], {"attributes": {"arm": "A"}, "arm": "B"}),
        (["attributes.arm=arm"], {"attributes": {"arm": None}, "arm": "B"}),
        (["attributes.arm=arm"], {"attributes": {"arm": "A", "x": "y"}, "arm": ""}),
        (["attributes.arm=arm", "attributes.b=b"], {"arm": "B", "b": "C", "attributes": None}),
        (["attributes.arm=arm"], {"attributes": [["x", "y"]], "arm": "B"}),
        (["attributes.arm=arm"], {"attributes": "x", "arm": "B"}),
        (["attributes.arm=arm"], {"arm": ["A"]}),
        (["attributes.arm=arm"], {"arm": 7}),
        (["costs.usd=price"], {"costs": {"usd": 1.5}, "price": 2}),
        (["costs.usd=price"], {"costs": {"usd": 1.5}, "price": None}),
        (["costs.usd=price"], {"costs": {"eur": 1.5}, "price": 2}),
        (["costs.usd=price"], {"price": -1}),
        (["costs.usd=price"], {"price": "2"}),
        (["query=a.b"], {"a": {"b": "inside"}}),
        (["query=a.b"], {"a": {"b": "inside"}, "a.b": "whole"}),
        (["query=a.b"], {"a": {"b": None}}),
        (["query=a.b"], {"a": None}),
        (["query=a.b"], {"a": "no object"}),
        (["query=a.b"], {"a": {"b": "x", "c": {"b": "y"}}}),
        (["query=a.b.c"], {"a": {"b": {"c": "x"}}}),
        (["query=a.b.c"], {"a": {"b.c": "x", "b": {"c": "y"}}}),
        (["query=a.b", "tool=a"], {"a": {"b": "x"}}),
        (["query=a", "tool=a"], {"a": "x"}),
        (["query=a.b", "tool=a.c"], {"a": {"b": "x", "c": "y"}}),
        (["query=attributes.q"], {"attributes": {"q": "x", "arm": "A"}}),
        (["query=tool", "tool=query"], {"query": "q", "tool": "t"}),
        (["tool=query"], {"query": "q"}),
        (["tool=query"], {"query": "q", "tool": "t"}),
        (["attributes.b=y", "attributes.a=x"], {"x": "1", "y": "2"}),
        (["attributes.a=x"], {"attributes": {"a": None, "b": "z"}, "x": "1"}),
        (["costs.b=y", "costs.a=x"], {"x": 1, "y": 2}),
        (["costs.a=x"], {"costs": {"a": None, "b": 3}, "x": 1}),
        (["query=a."], {"a": {"": "x"}}),
        (["query=."], {"": {"": "x"}}),
        (["query=\udcff"], {"x": "y"}),
        (["attributes.\udcff=x"], {"y": "z"}),
        (["record_id=x"], {"x": " "}),
        (["turn_count=x"], {"x": 3.0}),
        (["timestamp=x"], {"x": "2025-03-03T06:01:03.858Z"}),
    ],
)
def test_what_a_name_means_depends_on_values(renames, row):
    rows = [{"conversation_id": "c", "iteration": 1, "results": [{"id": "x"}], **row}] * 2
    adaptation = Adaptation(renames)
    for path in ("a.jsonl", "a.json"):
        whole, rejected = assert_same(FILES[path](rows), path, adaptation=adaptation)
        assert len(whole) + len(rejected) > 0


@pytest.mark.parametrize(
    "result",
    [
        {"ids": {"doc_id": "own"}, "key": "k"},
        {"ids": {"doc_id": "own"}, "key": None},
        {"ids": {"doc_id": "own"}, "key": []},
        {"ids": {"doc_id": ["a", "b"]}, "key": []},
        {"ids": {"doc_id": None}, "key": ["a", "b"]},
        {"ids": {"x": ["a", "b"]}, "key": ["a"]},
        {"ids": {f"x{number}": "y" for number in range(150)}, "key": None},
        {"key": ["a", None, "b"]},
        {"key": {"a": "b"}},
        {"key": 12},
    ],
)
def test_entries_of_maps_of_results(result):
    rows = [{"conversation_id": "c", "iteration": 1, "results": [result, {"key": "z"}]}]
    adaptation = Adaptation(["ids.doc_id=key"])
    for path in ("a.jsonl", "a.json"):
        assert_same(FILES[path](rows), path, adaptation=adaptation)


@pytest.mark.parametrize(
    "iteration", [0, 1, -1, 2**31 - 2, 2**31 - 1, "0", "1", 0.0, 1.5, True, None]
)
def test_iterations_from_0(iteration):
    rows = [{"conversation_id": "c", "step": iteration, "iteration": 5}]
    for renames in (["iteration=step"], ["query=q"]):
        adaptation = Adaptation(renames, iteration_base=0)
        for records in (rows, [{**rows[0], "iteration": iteration}]):
            assert_same(samples.jsonl_bytes(records), "a.jsonl", adaptation=adaptation)


def test_a_file_with_both_a_field_and_its_new_name_is_left_to_python():
    """One after the other by native code and Python would take longer."""
    schema = {**SCHEMA, "fields": [*SCHEMA["fields"], {"name": "iteration", "type": "long"}]}
    packer = new_packer()
    assert packer.prepare(plan_of(schema, (1, 1), 100), ADAPTATION) is None
    assert packer.prepare(plan_of(SCHEMA, (1, 1), 100), ADAPTATION) is not None
    content = avro([{**row, "iteration": 9} for row in FOREIGN], schema)
    (whole, rejected) = assert_same(content, "a.avro", adaptation=ADAPTATION)
    assert (sum(packed.calls for packed in whole), rejected) == (len(FOREIGN), [])


def test_names_elsewhere_do_not_leave_a_file_to_python():
    doc = record("Doc", url="string", title="string")
    schema = record(
        "Call",
        conversation_id="string",
        iteration="long",
        meta=record("Meta", title="string"),
        results={"type": "array", "items": record("Hit", doc=doc, heading="string")},
    )
    hit = {"doc": {"url": "https://a.org/x", "title": "t"}, "heading": "h"}
    rows = [{"conversation_id": "c", "iteration": 1, "meta": {"title": "m"}, "results": [hit]}] * 5
    for renames in (["url=doc.url", "title=heading"], ["title=doc.title"]):
        content, adaptation = avro(rows, schema), Adaptation(renames)
        assert read_by_python(content, "a.avro", adaptation) == 0
        assert_same(content, "a.avro", adaptation=adaptation)


@pytest.mark.parametrize(
    ("renames", "times"),
    [
        (["timestamp=ts"], {"ts": "timestamp-micros"}),
        (["timestamp=ts", "call=timestamp"], {"ts": "timestamp-micros", "timestamp": None}),
        (["timestamp=ts", "call=timestamp"], {"ts": None, "timestamp": "timestamp-micros"}),
        (["turn_count=timestamp"], {"timestamp": "timestamp-micros"}),
        (["query=q"], {"timestamp": "timestamp-micros"}),
        (["timestamp=m.at"], {"timestamp": "timestamp-micros", "at": "timestamp-micros"}),
    ],
)
def test_times_of_avro_in_other_units(renames, times):
    fields = {
        name: {"type": "long", **({"logicalType": logical} if logical else {})}
        for name, logical in times.items()
    }
    inner = record("M", at=fields.pop("at", "long"))
    schema = record("Call", conversation_id="string", iteration="long", m=inner, **fields)
    rows = [
        {"conversation_id": "c", "iteration": 1, "m": {"at": at}, **dict.fromkeys(fields, at)}
        for at in (5_000, 1_740_000_000_123_456)
    ]
    (whole, rejected) = assert_same(avro(rows, schema), "a.avro", adaptation=Adaptation(renames))
    assert len(whole) + len(rejected) > 0


def test_names_that_no_table_can_say():
    packer = new_packer()
    for renames in (["query=a", "tool=a"], ["query=attributes.q"], ["query=a.b", "tool=a"]):
        assert not packer.can_read(Adaptation(renames), DEFAULT_BOUNDS)
    many = [f"attributes.a{number}=a{number}" for number in range(60)]
    deep = ["query=" + ".".join("abcdefghijklmnopqrstuvwxyz")]
    assert not packer.can_read(Adaptation(many), DEFAULT_BOUNDS)
    assert not packer.can_read(Adaptation(deep), DEFAULT_BOUNDS)
    assert packer.can_read(Adaptation(many[:48]), DEFAULT_BOUNDS)
    assert not packer.can_read(Adaptation(label_map=["2=1"]), DEFAULT_BOUNDS)
    assert packer.can_read(Adaptation(["query=a"]), DEFAULT_BOUNDS)
    assert packer.can_read(None, DEFAULT_BOUNDS)


HITS = pa.map_(pa.string(), pa.list_(pa.struct({"id": pa.string()})))


@pytest.mark.parametrize(
    ("renames", "column"),
    [
        (["timestamp=m.at"], pa.array([[("at", 4)], None], pa.map_(pa.string(), pa.int64()))),
        (["results=m.hits"], pa.array([[("hits", [{"id": "a"}])]] * 2, HITS)),
        (["results=m.hits"], pa.array([[("hits", [{"id": "a"}] * at)] for at in (1, 2)], HITS)),
        (["query=m"], pa.array([None, None], pa.map_(pa.string(), pa.string()))),
        (["query=m"], pa.array([[("a", "b")], None], pa.map_(pa.string(), pa.string()))),
        (["query=m"], pa.array([None, []], pa.list_(pa.struct({"a": pa.string()})))),
        (["query=m"], pa.array([None, ["a"]], pa.list_(pa.string()))),
        (["attributes.a=m"], pa.array([None, [("a", "b")]], pa.map_(pa.string(), pa.string()))),
        (["query=m.a"], pa.array([None, {"a": "x"}], pa.struct({"a": pa.string()}))),
        (["call=m"], pa.array([1.0, float("nan")], pa.float64())),
        (["query=m"], pa.array([1, None], pa.int64())),
        (["timestamp=m"], pa.array([1, None], pa.timestamp("us"))),
        (["costs.a=m"], pa.array([1, None], pa.int32())),
    ],
)
def test_columns_of_parquet_that_python_converts_by_their_type(renames, column):
    table = pa.table({"conversation_id": ["c", "d"], "iteration": [1, 2], "m": column})
    content = samples.table_bytes(table)
    (whole, rejected) = assert_same(content, "a.parquet", adaptation=Adaptation(renames))
    assert len(whole) + len(rejected) > 0
