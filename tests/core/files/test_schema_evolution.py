"""Schemas differ between producers and change over time; the records stay the same (SPEC 2)."""

import pyarrow as pa
import pytest

from goodgain.transforms.core.records.parsing import parse_mapping
from goodgain.transforms.core.records.search_call import Result, SearchCall
from tests.core.files import samples
from tests.core.files.samples import avro_record

pytestmark = pytest.mark.usefixtures("reading")

ROW = {
    "conversation_id": "c",
    "iteration": 2,
    "timestamp": 1_700_000_000_123,
    "is_final": True,
    "attributes": {"arm": "a"},
    "results": [{"entity_type": "File", "ids": {"file_id": "f"}, "gain": 3, "score": 2}],
}
CALL = parse_mapping(ROW)


def read_avro(schema, *rows):
    return samples.read(samples.avro_bytes(rows, schema=schema), "a.avro")


def read_arrow(schema, *rows):
    table = pa.Table.from_pylist(list(rows), schema)
    return samples.read(samples.table_bytes(table), "a.parquet")


@pytest.mark.parametrize("number", ["int", "long", "float", "double"])
@pytest.mark.parametrize("nullable", [False, True])
def test_avro_numbers_and_unions(number, nullable):
    def maybe(kind):
        return ["null", kind] if nullable else kind

    result = avro_record(
        "R",
        entity_type=maybe({"type": "enum", "name": "E", "symbols": ["File", "Event"]}),
        ids=maybe({"type": "map", "values": maybe("string")}),
        gain=maybe(number),
        score=maybe(number),
    )
    schema = avro_record(
        "S",
        conversation_id=maybe("string"),
        iteration=maybe(number),
        timestamp=maybe("long"),
        is_final=maybe("boolean"),
        attributes=maybe({"type": "map", "values": maybe("string")}),
        results=maybe({"type": "array", "items": result}),
    )
    assert read_avro(schema, ROW) == [CALL]


def with_schema(content, schema):
    """The blocks of an uncompressed Avro file after a header with another schema."""
    head = samples.avro_bytes([], "null", schema)
    return head[: head.index(samples.SYNC)] + content[content.index(samples.SYNC) :]


def test_avro_columns_may_be_missing_or_unknown():
    inner = avro_record("Inner", a="long")
    kinds = {
        "noise": inner,
        "conversation_id": "string",
        "more": {"type": "array", "items": "Inner"},
        "iteration": "int",
        "price": "bytes",
        "day": "int",
    }
    row = {"noise": {"a": 1}, "conversation_id": "c", "more": [{"a": 2}], "iteration": 2}
    row |= {"price": b"\x01", "day": 2_000_000_000}
    content = samples.avro_bytes([row], "null", avro_record("S", **kinds))
    kinds["price"] = {"type": "bytes", "logicalType": "decimal", "precision": 4}
    kinds["day"] = {"type": "int", "logicalType": "date"}
    read = samples.read(with_schema(content, avro_record("S", **kinds)), "a.avro")
    assert read == [SearchCall("c", 2)]


def test_avro_fields_may_be_null_everywhere():
    text = ["null", "string"]
    many = ["null", {"type": "map", "values": [*text, {"type": "array", "items": text}]}]
    result = avro_record("R", ids=many, fields=many, gain=["null", "int"])
    schema = avro_record(
        "S", conversation_id="string", iteration="int", turn=["null", "int"],
        is_final=["null", "boolean"], attributes=["null", {"type": "map", "values": text}],
        results=["null", {"type": "array", "items": result}], record_id=text,
    )  # fmt: skip
    results = [{"ids": {"a": None, "b": ["x", None], "d": [None]}, "fields": None, "gain": None}]
    nulls = dict.fromkeys(["turn", "is_final", "attributes", "results"])
    rows = [
        {"conversation_id": "c", "iteration": 2, **nulls, "record_id": " "},
        {"conversation_id": "c", "iteration": 2, **nulls, "results": results},
    ]
    expected = [SearchCall("c", 2), SearchCall("c", 2, results=[Result(ids={"b": "x"})])]
    assert read_avro(schema, *rows) == expected


@pytest.mark.parametrize(
    ("kind", "stored", "millis"),
    [
        ({"type": "long", "logicalType": "timestamp-millis"}, -1, -1),
        ({"type": "long", "logicalType": "timestamp-micros"}, -1, -1),
        ({"type": "long", "logicalType": "timestamp-micros"}, 1_999, 1),
        ({"type": "long", "logicalType": "timestamp-nanos"}, 1_999_999, 1),
        ({"type": "long", "logicalType": "local-timestamp-micros"}, 5_000, 5),
        ({"type": "int", "logicalType": "date"}, 2, 2 * 86_400_000),
        ("string", "1970-01-01T00:00:00.005Z", 5),
        ("double", 5.0, 5),
    ],
)
@pytest.mark.parametrize("nullable", [False, True])
def test_avro_times(kind, stored, millis, nullable):
    def schema(kind):
        kind = ["null", kind] if nullable else kind
        return avro_record("S", conversation_id="string", iteration="int", timestamp=kind)

    row = {"conversation_id": "c", "iteration": 2, "timestamp": stored}
    plain = kind["type"] if isinstance(kind, dict) else kind
    content = samples.avro_bytes([row], "null", schema(plain))
    read = samples.read(with_schema(content, schema(kind)), "a.avro")
    assert read == [SearchCall("c", 2, timestamp=millis)]


def test_avro_time_out_of_range_rejects_only_its_record():
    schema = samples.avro_schema()
    rows = samples.records(3)
    plain = [{**row, "timestamp": 10**18 if n == 1 else 5} for n, row in enumerate(rows)]
    for field in schema["fields"]:
        if field["name"] == "timestamp":
            field["type"] = ["null", "long"]
    read = samples.read(samples.avro_bytes(plain, schema=schema), "a.avro")
    (row,) = samples.rejected_of(read)
    assert (row.field, row.records) == ("timestamp", 1)
    assert len(samples.calls(read)) == 2


ARROW_TEXT = pa.map_(pa.string(), pa.string())
ARROW_MANY = pa.map_(pa.string(), pa.list_(pa.string()))
ARROW_STRUCT = pa.struct([("file_id", pa.string()), ("other", pa.string())])
ARROW_PAIRS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.string())]))


@pytest.mark.parametrize("number", [pa.int8(), pa.uint64(), pa.float32(), pa.float64()])
@pytest.mark.parametrize(
    ("kind", "write"),
    [
        (ARROW_TEXT, lambda m: list(m.items())),
        (ARROW_MANY, lambda m: [(k, [v]) for k, v in m.items()]),
        (ARROW_STRUCT, lambda m: m),
        (ARROW_PAIRS, lambda m: [{"key": k, "value": v} for k, v in m.items()]),
    ],
    ids=["map", "map of lists", "struct", "list of pairs"],
)
def test_parquet_numbers_and_maps(number, kind, write):
    text = pa.dictionary(pa.int32(), pa.string())
    result = pa.struct([("entity_type", text), ("ids", kind), ("gain", number), ("score", number)])
    schema = pa.schema(
        [
            ("conversation_id", pa.large_string()),
            ("iteration", number),
            ("timestamp", pa.timestamp("ms")),
            ("is_final", pa.bool_()),
            ("attributes", ARROW_TEXT),
            ("results", pa.large_list(result)),
        ]
    )
    (plain,) = ROW["results"]
    row = {**ROW, "attributes": [("arm", "a")], "results": [{**plain, "ids": write(plain["ids"])}]}
    assert read_arrow(schema, row) == [CALL]


@pytest.mark.parametrize(
    ("unit", "stored"), [("s", -1), ("ms", -1_000), ("us", -999_001), ("ns", -999_000_001)]
)
def test_parquet_times(unit, stored):
    kind = pa.timestamp(unit, "Europe/Berlin")
    schema = pa.schema([("conversation_id", pa.string()), ("iteration", pa.int32())])
    table = pa.Table.from_pylist([{"conversation_id": "c", "iteration": 2}], schema)
    table = table.append_column("timestamp", pa.array([stored], pa.int64()).cast(kind))
    read = samples.read(samples.table_bytes(table), "a.parquet")
    assert read == [SearchCall("c", 2, timestamp=-1_000)]


def test_parquet_day_and_iso_text_as_time():
    for kind, stored in ((pa.date32(), 2), (pa.string(), "1970-01-03")):
        column = pa.array([stored], pa.int32() if kind == pa.date32() else kind).cast(kind)
        table = pa.table({"conversation_id": ["c"], "iteration": [2], "timestamp": column})
        read = samples.read(samples.table_bytes(table), "a.parquet")
        assert read == [SearchCall("c", 2, timestamp=2 * 86_400_000)]


def test_parquet_fields_may_be_null_everywhere():
    result = pa.struct([("ids", ARROW_MANY), ("fields", ARROW_TEXT), ("gain", pa.int32())])
    schema = pa.schema(
        [
            ("conversation_id", pa.string()),
            ("iteration", pa.int32()),
            ("turn", pa.int32()),
            ("is_final", pa.bool_()),
            ("attributes", ARROW_TEXT),
            ("results", pa.list_(result)),
        ]
    )
    base = {"conversation_id": "c", "iteration": 2}
    results = [
        {"ids": [("a", None), ("b", ["x", None]), ("d", []), ("e", ["y", "z"])]},
        {"fields": [("a", None), ("b", "x")], "gain": 1},
    ]
    rows = [base, {**base, "turn": 1, "results": results}, {**base, "attributes": [("a", None)]}]
    expected = [Result(ids={"b": "x", "e": ["y", "z"]}), Result(fields={"b": "x"}, gain=1)]
    plain = SearchCall("c", 2)
    assert read_arrow(schema, *rows) == [plain, SearchCall("c", 2, results=expected), plain]


def test_parquet_unknown_columns_and_slices():
    rows = samples.records(50)
    table = pa.Table.from_pylist(samples.parquet_rows(rows), samples.parquet_schema())
    table = table.append_column("noise", pa.array([[{"a": 1}]] * 50)).slice(7, 30)
    read = samples.read(samples.table_bytes(table, group=8), "a.parquet")
    assert read == [parse_mapping(row) for row in rows[7:37]]


def test_a_file_written_by_pandas_is_read():
    row = {**samples.records(20)[0], "outcomes": {"correct": 1.0}}  # Parquet has no empty structs
    table = pa.Table.from_pandas(pa.Table.from_pylist([row]).to_pandas())
    assert samples.read(samples.table_bytes(table), "a.parquet") == [parse_mapping(row)]
