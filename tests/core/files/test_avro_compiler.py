"""What the compiled function decodes, fastavro decodes to the same records."""

import io
import json
from pathlib import Path

import fastavro
import pytest
from fastavro.utils import generate_many

from goodgain.transforms.core.files.avro_compiler import compile_records
from goodgain.transforms.core.files.avro_plan import plain_schema, plan_of
from tests.core.files.samples import zigzag

_TEXTS = {"type": "array", "items": "string"}


def _record(**types):
    fields = [{"name": name, "type": kind} for name, kind in types.items()]
    return {"type": "record", "name": "r", "fields": fields}


_SYMBOLS = {"type": "enum", "name": "e", "symbols": ["a", "b", "c"]}
_INNER = {"type": "record", "name": "inner", "fields": [{"name": "b", "type": ["null", "long"]}]}
_SCHEMAS = {
    "numbers": _record(a="int", b="long", c="float", d="double", e="boolean"),
    "texts": _record(a="string", b="bytes", c=_SYMBOLS, d="null"),
    "lists": _record(a=_TEXTS, b={"type": "map", "values": "double"}),
    "lists of lists": _record(a={"type": "array", "items": {"type": "map", "values": _TEXTS}}),
    "unions": _record(a=["null", "string"], b=["string", _TEXTS, "null"], c=["long", "boolean"]),
    "records": _record(a={"type": "array", "items": _INNER}, c="inner", d=["null", "inner"]),
    "names that need quotes": _record(**{"None": "int", "class": "string", "data": "long"}),
}
_UNCOMMON = {
    "recursive": _record(a=["null", "r"]),
    "fixed": _record(a={"type": "fixed", "name": "f", "size": 3}),
    "many fields": _record(**{f"a{number}": "int" for number in range(501)}),
    "many branches": _record(
        a=[{"type": "enum", "name": f"e{number}", "symbols": ["a"]} for number in range(65)]
    ),
}


def _nested(levels):
    return {"type": "array", "items": _nested(levels - 1)} if levels else "string"


def _compile(schema):
    return compile_records(plan_of(schema, (1, 1), 1))


def _encode(schema, values):
    file = io.BytesIO()
    for value in values:
        fastavro.schemaless_writer(file, schema, value)
    return file.getvalue()


def _decode(schema, data, count):
    """What fastavro reads; None if the data are not exactly so many records."""
    file = io.BytesIO(data)
    try:
        found = [fastavro.schemaless_reader(file, schema) for _ in range(count)]
    except Exception:  # fastavro raises all kinds of errors on broken bytes
        return None
    return None if file.read(1) else found


@pytest.mark.parametrize("schema", _SCHEMAS.values(), ids=_SCHEMAS)
def test_generated_records_are_those_of_fastavro(schema):
    values = list(generate_many(schema, 50))
    data = _encode(schema, values)
    found = _compile(schema)(data, 50)
    assert repr(found) == repr(_decode(schema, data, 50))


@pytest.mark.parametrize("value", [0, -1, 63, 64, -64, -65, 2**31, -(2**63), 2**63 - 1])
def test_numbers_of_any_length_are_read(value):
    schema = _record(a="long")
    assert _compile(schema)(_encode(schema, [{"a": value}]), 1) == [{"a": value}]


@pytest.mark.parametrize("length", [0, 1, 63, 64, 8191, 8192, 300_000])
def test_texts_of_any_length_are_read(length):
    schema = _record(a="string", b=_TEXTS)
    value = {"a": "\u2026" * (length // 3), "b": ["x" * length, "y"]}
    assert _compile(schema)(_encode(schema, [value] * 2), 2) == [value] * 2


def test_the_schema_of_traces_is_compiled():
    schema = json.loads(Path("configs/schemas/trace.avsc").read_text())
    values = list(generate_many(schema, 10))
    data = _encode(schema, values)
    assert repr(_compile(schema)(data, 10)) == repr(_decode(plain_schema(schema), data, 10))


@pytest.mark.parametrize("schema", _SCHEMAS.values(), ids=_SCHEMAS)
def test_damaged_bytes_are_read_as_fastavro_does_or_left_to_it(schema):
    data = _encode(schema, generate_many(schema, 2))[:400]
    decode = _compile(schema)
    damaged = [data[:length] for length in range(len(data))]
    for at in range(len(data)):
        for byte in (0, 1, 2, 3, 127, 128, 129, 255, data[at] ^ 4, data[at] ^ 128):
            damaged.append(data[:at] + bytes((byte,)) + data[at + 1 :])
    left = 0
    for changed in damaged:
        found = decode(changed, 2)
        left += found is None
        assert found is None or repr(found) == repr(_decode(schema, changed, 2))
    assert left


@pytest.mark.parametrize("data", [b"\x80" * 10 + b"\x02", b"\xff" * 9 + b"\x7f"])
def test_numbers_above_64_bits_are_left_to_fastavro(data):
    assert _compile(_record(a="long"))(data, 1) is None


@pytest.mark.parametrize("kind", ["double", "float", "long", "string"])
def test_texts_that_end_beyond_any_offset_are_left_to_fastavro(kind):
    assert _compile(_record(a="string", b=kind))(zigzag(2**63 - 1) + b"a" * 9, 1) is None


@pytest.mark.parametrize("data", [b"\x01\x02\x00\x00", b"\x03\x02a\x00\x00"])
def test_negative_counts_are_left_to_fastavro(data):
    assert _compile(_record(a=_TEXTS))(data, 1) is None


@pytest.mark.parametrize("schema", _UNCOMMON.values(), ids=_UNCOMMON)
def test_uncommon_schemas_are_left_to_fastavro(schema):
    assert _compile(schema) is None


def test_lists_inside_each_other_are_compiled_up_to_a_depth():
    assert _compile(_record(a=_nested(8)))
    assert _compile(_record(a=_nested(9))) is None


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("levels", [1, 38, 99, 120, 149, 300])
def test_records_inside_each_other_are_compiled_up_to_a_depth(levels, optional):
    kind = "string"
    for level in range(levels):
        fields = [{"name": "a", "type": ["null", kind] if optional else kind}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    plan = plan_of(kind, (1, 1), 1)
    assert bool(plan and compile_records(plan)) == (levels <= (19 if optional else 39))


def test_symbols_that_are_used_many_times_are_not_compiled():
    symbols = [f"a{number}" for number in range(1_000)]
    uses = {f"b{number}": ["null", "e"] for number in range(100)}
    kind = _record(a={"type": "enum", "name": "e", "symbols": symbols}, **uses)
    assert _compile(kind) is None


def test_types_that_contain_each_other_many_times_are_not_compiled():
    kind = {"type": "record", "name": "r0", "fields": [{"name": "a", "type": "int"}]}
    for level in range(1, 12):
        fields = [{"name": "a", "type": kind}, {"name": "b", "type": kind["name"]}]
        kind = {"type": "record", "name": f"r{level}", "fields": fields}
    assert _compile(kind) is None
