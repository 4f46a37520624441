"""Native code reads rows of Parquet and leaves odd ones to Python, which reads them all alike."""

from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random

import pyarrow as pa
import pytest

from goodgain.transforms.core.files.bounds import ReadBounds
from goodgain.transforms.core.files.native_columns import native_columns
from goodgain.transforms.core.records.adaptation import Adaptation
from goodgain.transforms.core.scoring.native_packing import NativePacker
from tests.core.files import samples
from tests.native.paths import assert_same, needs_native, new_packer

pytestmark = needs_native

TEXT = pa.string()
TEXTS = pa.map_(TEXT, TEXT)
LISTS = pa.map_(TEXT, pa.list_(TEXT))
ROWS = samples.records(40, results=3)


def rows_left_to_python(table):
    """Indexes of the rows that native code leaves to Python; None = it reads no row."""
    packer = new_packer()
    (batch,) = table.combine_chunks().to_batches()
    columns = native_columns(batch.to_struct_array())
    rows = None if columns is None else packer.prepare_rows(columns, batch.num_rows, None)
    if rows is None:
        return None
    left, begin = [], 0
    while True:
        _, odd = packer.pack_rows(rows, begin, 100_000)
        if odd is None:
            return left
        left.append(odd)
        begin = odd + 1


def table_of(lists=None, fields=None, **columns):
    """A table with these columns; `lists` are the results of each row, with `fields`."""
    count = len(lists or next(iter(columns.values()))[0])
    named = {
        "conversation_id": pa.array([f"c{at % 3}" for at in range(count)]),
        "iteration": pa.array(range(1, count + 1), pa.int32()),
        **{name: pa.array(values, kind) for name, (values, kind) in columns.items()},
    }
    if lists is not None:
        named["results"] = pa.array(lists, pa.list_(pa.struct(fields)))
    return pa.table(named)


def assert_same_table(table, **how):
    """`assert_same` for a table in one row group and several, with and without dictionaries."""
    plain = samples.table_bytes(table, group=7, use_dictionary=False)
    assert_same(plain, "a.parquet", **how)
    return assert_same(samples.table_bytes(table), "a.parquet", **how)


def test_plain_rows_need_no_python():
    plain = [{**row, "conversation_id": f"c{at % 4}"} for at, row in enumerate(ROWS)]
    for many in (True, False):
        rows = samples.parquet_rows(plain)
        if not many:
            for row in rows:
                for result in row["results"]:
                    result["ids"] = [(name, "x") for name, _ in result["ids"]]
                    result["fields"] = [(name, None) for name, _ in result["fields"]]
        table = pa.Table.from_pylist(rows, samples.parquet_schema(many))
        assert rows_left_to_python(table) == []
        (whole, rejected) = assert_same_table(table)
        assert (sum(packed.calls for packed in whole), rejected) == (len(ROWS), [])


MOMENT = datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)
CASES = [  # column, its values and type, and what `rows_left_to_python` gives
    ("conversation_id", ["c", " ", "é", None, "", "\u2003x"], TEXT, [1, 2, 3, 4]),
    ("conversation_id", ["c", "d"], pa.large_string(), []),
    ("conversation_id", ["c", "d", "c"], pa.dictionary(pa.int8(), TEXT), []),
    ("conversation_id", [b"c", b"\xff"], pa.binary(), None),
    ("iteration", [1, 0, -1, 2**31 - 1, 2**31, None], pa.int64(), [1, 2, 4, 5]),
    ("iteration", [1, 255], pa.uint8(), []),
    ("iteration", [1, 2**64 - 1, 2**63], pa.uint64(), [1, 2]),
    ("iteration", [1.0, 1.5, float("nan"), None, float("inf"), 2.0**60], pa.float64(), range(1, 6)),
    ("iteration", ["1", "2.0", "x"], TEXT, [0, 1, 2]),
    ("iteration", [Decimal(1), Decimal(2)], pa.decimal128(5, 1), None),
    ("turn", [None, 1.0, float("nan"), -0.0, 3.0], pa.float32(), [3]),
    ("call", [None, 0, -1, 7], pa.int16(), [2]),
    ("turn_count", [0, None, -1], pa.int8(), [2]),
    ("is_final", [True, False, None] * 5, pa.bool_(), []),
    ("is_final", [1, 0], pa.int8(), [0, 1]),
    ("is_final", ["true", None], TEXT, [0]),
    ("action", ["search", "open", None, "cite", "", "Open"], TEXT, [4, 5]),
    ("error", ["no network", None, ""], TEXT, []),
    ("record_id", [None, "", " \t", "x", "\u2003", "é"], TEXT, [4, 5]),
    ("record_id", [1, None], pa.int32(), [0]),
    ("query", [None, None], pa.null(), []),
    ("query", ["", "é😀", None], TEXT, []),
    ("query", [1.5, None], pa.float64(), [0]),
    ("query", ["x", "y"], pa.string_view(), None),
    ("timestamp", [MOMENT, None, datetime(1, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"), []),
    ("timestamp", [-1, 0, 10**18], pa.timestamp("ns"), []),
    ("timestamp", [-1, 0, 10**12], pa.timestamp("s"), [2]),
    ("timestamp", [date(1969, 12, 31), None], pa.date32(), []),
    ("timestamp", [-1, 253_402_300_799_999, 253_402_300_800_000], pa.int64(), [2]),
    ("timestamp", [1e12, 0.5, float("nan")], pa.float64(), [1]),
    ("timestamp", ["2025-03-03T06:01:03.858Z", "1704110400000", "x", None], TEXT, [1, 2]),
    ("timestamp", [0, 1], pa.date64(), None),
    ("attributes", [[("a", "x"), ("b", None)], None, [("a", "x"), ("a", "y")], []], TEXTS, [2]),
    ("attributes", [[("a", None), ("a", "y")], [("b", "1")]], TEXTS, [0]),
    ("attributes", [[("a", ["x"]), ("b", ["x", "y"])], []], LISTS, [0]),
    ("attributes", [{"a": "x", "b": None}, None], pa.struct([("a", TEXT), ("b", TEXT)]), []),
    ("attributes", [[("a", 1)], []], pa.map_(TEXT, pa.int32()), [0]),
    (
        "attributes",
        [{"a": 12.0}, {"a": None}, {"a": 0.5}],
        pa.struct([("a", pa.float64())]),
        [0, 2],
    ),
    ("outcomes", [[("a", -1.5), ("b", None)], None, []], pa.map_(TEXT, pa.float64()), []),
    (
        "outcomes",
        [[("a", float("nan"))], [("a", float("inf"))]],
        pa.map_(TEXT, pa.float64()),
        [0, 1],
    ),
    ("outcomes", [{"correct": True, "x": None}, None], pa.struct([("correct", pa.bool_())]), [0]),
    ("outcomes", [{"correct": 1, "x": None}, None], pa.struct([("correct", pa.int8())]), []),
    ("costs", [[("a", 1.5), ("b", None)], [("a", -1.0)], None], pa.map_(TEXT, pa.float64()), [1]),
    ("costs", [[("a", float("nan"))], [("a", 1e101)]], pa.map_(TEXT, pa.float64()), [0, 1]),
    ("costs", [[("a", 7), ("b", 2**63 - 1)], [("a", -7)]], pa.map_(TEXT, pa.int64()), [1]),
    ("costs", [[("a", 1.0), ("a", 2.0)], [("b", 0.1)]], pa.map_(TEXT, pa.float32()), [0]),
    ("costs", [{"a": 1.0}, {"a": None}, None], pa.struct([("a", pa.float64())]), []),
    ("costs", [[("a", "1")], []], TEXTS, [0]),
    ("results", [[1], []], pa.list_(pa.int8()), [0]),
    ("results", [None, None], pa.null(), []),
    ("results", [[{"id": "x"}, None], [], None], pa.list_(pa.struct([("id", TEXT)])), [0]),
    ("results", [[{"id": "x"}], []], pa.large_list(pa.struct([("id", TEXT)])), []),
    ("results", [[{"id": "x"}], [{"id": "y"}]], pa.list_(pa.struct([("id", TEXT)]), 1), None),
]


@pytest.mark.parametrize(("name", "values", "kind", "odd"), CASES)
def test_columns_of_every_type(name, values, kind, odd):
    table = table_of(**{name: (values, kind)})
    assert rows_left_to_python(table) == (odd if odd is None else list(odd))
    (whole, rejected) = assert_same_table(table)
    assert sum(packed.calls for packed in whole) + len(rejected) == len(values)


@pytest.mark.parametrize(
    ("name", "values", "kind", "odd"),
    [
        ("gain", [0, 4, None], pa.int64(), []),
        ("gain", [0, 5, -1], pa.int64(), [1, 2]),
        ("gain", [4.0, float("nan"), 1.5], pa.float64(), [2]),
        ("score", [0.5, None, float("nan"), float("inf")], pa.float64(), [2, 3]),
        ("score", [0.1, None], pa.float32(), []),
        ("score", [7, 2**62 + 1], pa.int64(), []),
        ("score", ["1", None], TEXT, [0]),
        ("title", ["é", None, "x"], TEXT, []),
        ("title", ["a", "b", "a"], pa.dictionary(pa.int8(), TEXT), []),
        ("ids", [[("a", ["x", None, "y"]), ("b", [None]), ("c", ["z"])], None], LISTS, []),
        ("ids", [[("a", []), ("b", None), ("a", ["x"])], [("b", ["x", "x"])]], LISTS, [0]),
        ("ids", [{"a": ["x"], "b": None}], pa.struct([("a", pa.list_(TEXT)), ("b", TEXT)]), []),
        ("ids", [[("a", 7)], []], pa.map_(TEXT, pa.int64()), [0]),
        ("ids", [[("a", "x"), ("b", None)]], TEXTS, []),
        ("fields", [[(f"k{at}", None) for at in range(200)], [("a", "x")]], TEXTS, [0]),
        ("noise", [[{"a": [1.5]}], None], pa.list_(pa.struct([("a", pa.list_(pa.float64()))])), []),
        ("noise", [Decimal(1), None], pa.decimal128(5, 1), None),
    ],
)
def test_results_with_columns_of_every_type(name, values, kind, odd):
    rows = [[{name: value, "id": f"r{at}"}, {"id": "x"}] for at, value in enumerate(values)]
    table = table_of(rows, [(name, kind), ("id", TEXT)])
    assert rows_left_to_python(table) == odd
    assert_same_table(table)
    assert_same_table(table_of([None, [], *rows, []], [(name, kind), ("id", TEXT)]))


def raw_texts(*texts):
    """Bytes in a column of text, UTF-8 or not."""
    offsets = [sum(map(len, texts[:at])) for at in range(len(texts) + 1)]
    buffers = [None, pa.array(offsets, pa.int32()).buffers()[1], pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(TEXT, len(texts), buffers)


@pytest.mark.parametrize("name", ["conversation_id", "query", "noise"])
def test_texts_that_are_not_utf_8(name):
    table = table_of(turn=([1] * 4, pa.int8()))
    if name in table.schema.names:
        table = table.drop_columns([name])
    table = table.append_column(name, raw_texts(b"a", b"\xff", b"\xed\xa0\x80", b"b"))
    assert rows_left_to_python(table) == ([] if name == "noise" else [1, 2])
    assert_same_table(table)


def test_columns_that_start_inside_their_buffers():
    rows = samples.parquet_rows(ROWS)
    whole = pa.Table.from_pylist(rows, samples.parquet_schema())
    for begin, length in ((0, 1), (1, 7), (5, 16), (33, 7)):
        packers = [new_packer() for _ in range(2)]
        given = []
        for packer, table in zip(
            packers,
            (whole, pa.Table.from_pylist(rows[begin : begin + length], whole.schema)),
            strict=True,
        ):
            (batch,) = table.combine_chunks().to_batches()
            if table is whole:
                batch = batch.slice(begin, length)
            prepared = packer.prepare_rows(native_columns(batch.to_struct_array()), length, None)
            taken, odd = packer.pack_rows(prepared, 0, 99)
            assert odd is None
            given.append([taken, *packer.rest()])
        assert given[0] == given[1]


def test_small_slices_of_large_buffers_are_left_to_python():
    (batch,) = table_of(query=(["x" * 3_000] * 1_000, TEXT)).to_batches()
    assert native_columns(batch.to_struct_array()) is not None
    assert native_columns(batch.slice(5, 10).to_struct_array()) is None


def test_two_fields_with_the_same_name():
    twice = pa.StructArray.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["id", "id"])
    assert native_columns(twice) is not None
    packer = new_packer()
    assert packer.prepare_rows(native_columns(twice), 1, None) is None


def test_deep_columns_are_left_to_python():
    kind, value = TEXT, "x"
    for _ in range(70):
        kind, value = pa.list_(kind), [value]
    table = table_of([[{"noise": value}]], [("noise", kind)])
    assert rows_left_to_python(table) is None


@pytest.mark.parametrize("odd", [range(100), range(30, 60), [0, 1, 2, 9, 40, 98, 99], [99]])
def test_odd_rows_go_to_python_together(odd, monkeypatch):
    calls = []
    pack_rows = NativePacker.pack_rows
    monkeypatch.setattr(
        NativePacker,
        "pack_rows",
        lambda self, rows, begin, most: calls.append(begin) or pack_rows(self, rows, begin, most),
    )
    table = table_of(record_id=(["\u2003" if at in odd else "x" for at in range(100)], TEXT))
    assert rows_left_to_python(table) == list(odd)
    calls.clear()
    (whole, rejected) = assert_same(samples.table_bytes(table), "a.parquet")
    assert (sum(packed.calls for packed in whole), rejected) == (100, [])
    assert len(calls) <= 8


def test_bounds():
    table = table_of([[{"id": "x"}] * size for size in (0, 2, 3, 9, 1)], [("id", TEXT)])
    bounds = ReadBounds(max_record_results=2)
    (whole, rejected) = assert_same_table(table, bounds=bounds)
    assert [row.field for row in rejected] == ["results"] * 2
    assert sum(packed.calls for packed in whole) == 3


def test_fields_under_other_names():
    adaptation = Adaptation(["query=tool", "conversation_id=query"], iteration_base=0)
    rows = [{**row, "query": f"q{at % 3}"} for at, row in enumerate(ROWS)]
    (whole, _) = assert_same(samples.parquet_bytes(rows), "a.parquet", adaptation=adaptation)
    assert {packed.conversation_id for packed in whole} == {"q0", "q1", "q2"}


@pytest.mark.slow
def test_damaged_files():
    rng = Random(8)
    content = samples.parquet_bytes(ROWS, codec="none", group=10)
    for _ in range(50):
        changed = bytearray(content)
        for _ in range(rng.choice([1, 1, 3])):
            changed[rng.randrange(len(changed) - 8)] = rng.randrange(256)
        assert_same(bytes(changed), "a.parquet")
