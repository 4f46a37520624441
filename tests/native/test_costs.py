"""Costs in native code: which it reads itself, with the same payloads as in Python."""

import math
from ctypes import c_float

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.records.search_call import LARGEST_COST
from goodgain.transforms.core.scoring.payload import unpack
from tests.core.files.hostile import avro_file
from tests.native.paths import assert_same, needs_native
from tests.native.test_blocks import content_of, record, rows_for_python

pytestmark = needs_native

COST = ["null", "double", "float", "int", "long", "boolean", "string"]
ANY = {"type": "map", "values": COST}
ARM = {"type": "map", "values": "string"}
JUST_ABOVE = math.nextafter(1e100, math.inf)


def schema_of(costs):
    return record("S", conversation_id="string", iteration="int", attributes=ARM, costs=costs)


def rows_of(*costs):
    return [
        {"conversation_id": "c", "iteration": at, "attributes": {"arm": "a"}, "costs": cost}
        for at, cost in enumerate(costs, start=1)
    ]


def file_of(schema, rows, file_schema=None):
    """A file with one block, with any schema in its header."""
    return avro_file(file_schema or schema, [(len(rows), content_of(schema, rows))])


def costs_in(given):
    """The costs of all calls by iteration, and the number of rejected records."""
    whole, rejected = given
    calls = [call for packed in whole for call in unpack([packed.payload]).calls]
    return [call.costs for call in sorted(calls, key=lambda call: call.iteration)], len(rejected)


@pytest.mark.parametrize(
    ("values", "costs", "read"),
    [
        ("double", {"usd": 0.1, "tokens": 1e100}, {"usd": 0.1, "tokens": 1e100}),
        ("double", {"z": 0.0, "a": -0.0, "é": 5e-324}, {"z": 0.0, "a": -0.0, "é": 5e-324}),
        ("float", {"usd": 0.25, "s": 3.4e38}, {"usd": 0.25, "s": 3.3999999521443642e38}),
        ("int", {"tokens": 7, "calls": 0}, {"tokens": 7.0, "calls": 0.0}),
        ("long", {"odd": 2**53 + 1, "big": 2**63 - 1}, {"odd": 2.0**53, "big": 2.0**63}),
        (["null", "double"], {"usd": None, "tokens": 2.5}, {"tokens": 2.5}),
        (["null", "double"], {"usd": None}, {}),
        ("double", {}, {}),
    ],
)
def test_plain_maps_need_no_python(values, costs, read):
    schema = schema_of(["null", {"type": "map", "values": values}])
    rows = rows_of(costs, None, costs)
    assert rows_for_python(schema, rows) == []
    found, rejected = costs_in(assert_same(file_of(schema, rows), "a.avro"))
    # Keys in their original order, and floats with all their bits.
    assert repr(found) == repr([read, {}, read])
    assert rejected == 0


def test_records_instead_of_maps_need_no_python():
    of = record("C", usd=["null", "double"], tokens=["null", "int"], seconds="float")
    rows = rows_of(
        {"usd": 0.5, "tokens": 3, "seconds": 1.0}, {"usd": None, "tokens": None, "seconds": 0.0}
    )
    assert rows_for_python(schema_of(of), rows) == []
    found, _ = costs_in(assert_same(file_of(schema_of(of), rows), "a.avro"))
    assert found == [{"usd": 0.5, "tokens": 3.0, "seconds": 1.0}, {"seconds": 0.0}]


def test_without_the_column_there_are_no_costs():
    schema = record("S", conversation_id="string", iteration="int", attributes=ARM)
    rows = [{name: value for name, value in row.items() if name != "costs"} for row in rows_of({})]
    assert rows_for_python(schema, rows) == []
    without = assert_same(file_of(schema, rows), "a.avro")
    assert costs_in(without) == ([{}], 0)
    nulls = schema_of(["null", ANY])
    assert assert_same(file_of(nulls, rows_of(None)), "a.avro") == without
    assert assert_same(file_of(nulls, rows_of({})), "a.avro") == without


@pytest.mark.parametrize(
    ("cost", "read"),
    [
        (float("nan"), {}),
        ("7.5", {"usd": 7.5}),
        ("much", None),
        (float("inf"), None),
        (-1, None),
        (-5e-324, None),
        (JUST_ABOVE, None),
        (True, None),
    ],
)
def test_other_maps_are_left_to_python(cost, read):
    rows = rows_of({"usd": 1.0}, {"usd": cost}, {"usd": 2.0})
    assert rows_for_python(schema_of(ANY), rows) == [1]
    found, rejected = costs_in(assert_same(file_of(schema_of(ANY), rows), "a.avro"))
    assert found == [{"usd": 1.0}, *([] if read is None else [read]), {"usd": 2.0}]
    assert rejected == (read is None)


def test_the_largest_cost_is_the_same_as_in_python():
    assert LARGEST_COST == 1e100 < JUST_ABOVE


@pytest.mark.parametrize("costs", ["double", "string", {"type": "array", "items": "double"}])
def test_columns_other_than_maps_are_left_to_python(costs):
    rows = rows_of({"double": 1.0, "string": "x"}.get(str(costs), [1.0]))
    assert rows_for_python(schema_of(costs), rows) == [0]
    assert costs_in(assert_same(file_of(schema_of(costs), rows), "a.avro")) == ([], 1)


@pytest.mark.parametrize(
    "entries",
    [
        [("usd", 1.0), ("usd", 2.0)],
        [("usd", 1.0), ("usd", None)],
        [("usd", None), ("s", 3.0), ("usd", 2.0)],
        [(f"unit-{at % 13}", None if at % 3 else float(at)) for at in range(40)],
    ],
)
def test_repeated_units_are_left_to_python(entries):
    """An array of pairs is encoded like a map."""
    of = ["null", "double"]
    pairs = {"type": "array", "items": record("P", key="string", value=of)}
    as_map = schema_of({"type": "map", "values": of})
    rows = rows_of([{"key": key, "value": value} for key, value in entries])
    content = file_of(schema_of(pairs), rows, as_map)
    last = {unit: cost for unit, cost in dict(entries).items() if cost is not None}
    found, _ = costs_in(assert_same(content, "a.avro"))
    assert list(found[0].items()) == list(last.items())


units = st.sampled_from(["usd", "tokens", "s", "é", "", "Z" * 40]) | st.text(max_size=3)
plain = st.floats(0, 1e100) | st.floats(0, 2.0**99, width=32) | st.integers(0, 2**63 - 1)
odd = st.floats() | st.integers(-(2**63), -1) | st.booleans() | st.sampled_from(["1", "1e3", "x"])
maps = st.none() | st.dictionaries(units, st.none() | plain, max_size=20)
odd_maps = st.dictionaries(units, st.none() | plain | odd, max_size=4)


def branch(cost):
    """The branch of COST for fastavro: float if it represents the cost exactly."""
    if cost is None:
        return None
    if isinstance(cost, float):
        return ("float" if c_float(cost).value == cost else "double", cost)
    return ({bool: "boolean", str: "string", int: "long"}[type(cost)], cost)


def write_costs(costs):
    return None if costs is None else {unit: branch(cost) for unit, cost in costs.items()}


@given(st.lists(maps | odd_maps, min_size=1, max_size=6), st.booleans())
@settings(max_examples=80)
def test_any_costs_in_avro(drawn, keep_records):
    schema = schema_of(["null", ANY])
    content = file_of(schema, rows_of(*map(write_costs, drawn)))
    assert_same(content, "a.avro", keep_records=keep_records)


@given(st.lists(maps, min_size=1, max_size=6))
@settings(max_examples=60)
def test_plain_costs_in_avro_need_no_python(drawn):
    assert rows_for_python(schema_of(["null", ANY]), rows_of(*map(write_costs, drawn))) == []


@given(st.lists(maps | odd_maps, min_size=1, max_size=6), st.booleans())
@settings(max_examples=80)
def test_any_costs_in_json_lines(drawn, keep_records):
    content = b"".join(msgspec.json.encode(row) + b"\n" for row in rows_of(*drawn))
    assert_same(content, "a.jsonl", keep_records=keep_records)
