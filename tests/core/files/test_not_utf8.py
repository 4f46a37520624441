"""A value that is not UTF-8 costs its own record and no other, wherever it stands (SPEC 3)."""

import io

import pyarrow as pa
import pytest

from goodgain.transforms.core.files.input_formats import PARQUET
from goodgain.transforms.core.files.labels import LabelTable
from goodgain.transforms.core.files.side_table import SideFile, read_rows
from goodgain.transforms.core.files.tables import TableFile
from tests.core.files import hostile, samples, test_qrels
from tests.core.files.samples import avro_record

pytestmark = pytest.mark.usefixtures("reading")

ROWS = 300
BAD = 150  # in the middle of a batch, or of a block
MARK = "Zq9Zq"
TEXT = "string"
MAP = {"type": "map", "values": TEXT}
LISTS = {"type": "map", "values": {"type": "array", "items": TEXT}}


def results(name, kind):
    """The Avro type of results with one field."""
    fields = [{"name": name, "type": kind}]
    return {"type": "array", "items": {"type": "record", "name": "Result", "fields": fields}}


# (field, Avro type, function from a text to the field's value, an ordinary text); numbers, flags
# and lists may be written as text.
PLACES = [
    ("conversation_id", TEXT, str, "c"),
    ("query", TEXT, str, "q"),
    *((name, TEXT, str, "1") for name in ("iteration", "turn", "call", "turn_count")),
    ("timestamp", TEXT, str, "2025-03-02T12:00:00Z"),
    ("is_final", TEXT, str, "true"),
    ("attributes", MAP, lambda text: {text: "v"}, "k"),
    ("attributes", MAP, lambda text: {"k": text}, "v"),
    ("costs", {"type": "map", "values": "double"}, lambda text: {text: 1.5}, "k"),
    ("costs", MAP, lambda text: {"k": text}, "1"),
    *(
        ("results", results(name, TEXT), lambda text, name=name: [{name: text}], "1")
        for name in ("title", "gain", "score")
    ),
    ("results", results("ids", MAP), lambda text: [{"ids": {text: "1"}}], "k"),
    ("results", results("fields", LISTS), lambda text: [{"fields": {"k": ["a", text]}}], "b"),
    ("results", {"type": "array", "items": TEXT}, lambda text: [text] * (text == MARK), ""),
]


def records(field, value_of, plain):
    return [
        {
            "conversation_id": f"c{number}",
            "iteration": 1,
            field: value_of(MARK if number == BAD else plain),
        }
        for number in range(ROWS)
    ]


def avro(field, kind, rows):
    fields = {"conversation_id": TEXT, "iteration": "int", field: kind}
    schema = avro_record("Call", **fields)
    return samples.avro_bytes(rows, "null", schema, block=3000)


def arrow_type(kind, text):
    if isinstance(kind, str):
        return {"string": text, "double": pa.float64()}[kind]
    if kind["type"] == "map":
        return pa.map_(pa.string(), arrow_type(kind["values"], text))
    if kind["type"] == "array":
        return pa.list_(arrow_type(kind["items"], text))
    return pa.struct([(field["name"], arrow_type(field["type"], text)) for field in kind["fields"]])


def as_pairs(value):
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, list):
        return [
            {k: as_pairs(v) for k, v in part.items()} if isinstance(part, dict) else part
            for part in value
        ]
    return value


def parquet(field, kind, rows, text):
    columns = {"conversation_id": pa.string(), "iteration": pa.int64()}
    schema = pa.schema({**columns, field: arrow_type(kind, text)})
    table = pa.Table.from_pylist([{**row, field: as_pairs(row[field])} for row in rows], schema)
    return plain_bytes(table)


def plain_bytes(table):
    """A Parquet file in which each text stands once, as it is."""
    options = {"use_dictionary": False, "write_statistics": False}
    return samples.table_bytes(table, "none", group=1000, **options)


def break_text(content):
    """The content with a byte of the marked text that is never part of UTF-8."""
    (before, after) = content.split(MARK.encode())
    return before + b"Zq\xffZq" + after


def check(content, path, field):
    found = samples.read(break_text(content), path)
    (bad,) = samples.rejected_of(found)
    others = [call.conversation_id for call in samples.calls(found)]
    assert others == [
        "c" if field == "conversation_id" else f"c{number}"
        for number in range(ROWS)
        if number != BAD
    ]
    assert bad.records == 1
    assert not bad.at_least
    assert bad.field.startswith(field)
    assert bad.position.endswith(f" {BAD}") or path.endswith(".avro")
    assert bad.conversation_id == (None if field == "conversation_id" else f"c{BAD}")


@pytest.mark.parametrize(("field", "kind", "value_of", "plain"), PLACES)
def test_avro(field, kind, value_of, plain):
    check(avro(field, kind, records(field, value_of, plain)), "a.avro", field)


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
@pytest.mark.parametrize(("field", "kind", "value_of", "plain"), PLACES)
def test_parquet(field, kind, value_of, plain, text):
    check(parquet(field, kind, records(field, value_of, plain), text), "a.parquet", field)


def test_parquet_with_views_of_text():
    content = parquet("query", TEXT, records("query", str, "q"), pa.string_view())
    check(content, "a.parquet", "query")


HALF = "\ud800"
TEXT_A = samples.zigzag(1) + b"a"


@pytest.mark.parametrize(
    "field",
    [
        {"name": HALF, "type": TEXT},
        {
            "name": "attributes",
            "type": {"type": "record", "name": "A", "fields": [{"name": HALF, "type": TEXT}]},
        },
        {"name": "results", "type": results(HALF, TEXT)},
    ],
)
def test_half_of_a_surrogate_pair_in_a_name_of_a_schema_rejects_the_file(field):
    schema = {
        "type": "record",
        "name": "Call",
        "fields": [
            {"name": "conversation_id", "type": TEXT},
            {"name": "iteration", "type": "int"},
            field,
        ],
    }
    list_of_one = samples.zigzag(1) + TEXT_A + samples.zigzag(0)
    value = list_of_one if field["name"] == "results" else TEXT_A
    content = hostile.avro_file(schema, [(1, TEXT_A + samples.zigzag(1) + value)])
    (bad,) = samples.read(content, "a.avro")
    assert bad.reason.endswith("with a field whose name is not text.")
    assert bad.at_least


def tables(**columns):
    """A table in Parquet of which one text is not UTF-8."""
    return break_text(plain_bytes(pa.table(columns)))


TEXTS = ["a", MARK, "b"]


def test_a_judgment_in_parquet_costs_no_other():
    content = tables(topic=["t"] * 3, document_id=TEXTS, gain=[1, 2, 3])
    assert test_qrels.triples(test_qrels.read(content, "qrels.parquet")) == [
        ("t", "a", 1),
        ("t", r"Zq\xffZq", 2),  # as in CSV
        ("t", "b", 3),
    ]


def test_a_label_in_parquet_costs_no_other():
    content = tables(record_id=TEXTS, rank=[1, 2, 3], gain=[1, 2, 3])
    file = SideFile(TableFile("labels.parquet", PARQUET), len(content), 0)
    found = list(read_rows(file, lambda _: io.BytesIO(content), LabelTable()))
    assert [label.rank for label in found] == [1, 2, 3]
