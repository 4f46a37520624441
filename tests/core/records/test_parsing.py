"""A raw record gives a SearchCall, whose values may have several spellings (SPEC 2)."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.parsing import (
    parse_escaped_mapping,
    parse_json,
    parse_mapping,
    parse_mappings,
)
from goodgain.transforms.core.records.record_encoding import decode_record, record_encoding
from goodgain.transforms.core.records.search_call import Result, SearchCall
from tests.core.both_ways import BASE, PLAIN, parse, parsing_error, with_result


def test_required_fields_are_enough():
    assert parse(BASE) == PLAIN


@pytest.mark.parametrize("name", SearchCall.__struct_fields__[2:])
def test_null_takes_the_default(name):
    assert parse({**BASE, name: None}) == PLAIN


@pytest.mark.parametrize("name", Result.__struct_fields__)
def test_null_in_a_result_takes_the_default(name):
    assert parse(with_result(**{name: None})) == SearchCall("c", 2, results=[Result(), Result()])


def test_unknown_fields_are_ignored():
    record = {**with_result(gain=1, colour="red"), "shape": {"a": [1]}}
    assert parse(record) == parse(with_result(gain=1))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"tokens": 3}, {"tokens": 3.0}),
        ({"tokens": 0, "usd": 0.25}, {"tokens": 0.0, "usd": 0.25}),
        ({"tokens": None, "usd": 1}, {"usd": 1.0}),
        ({"tokens": "3", "usd": "0.5"}, {"tokens": 3.0, "usd": 0.5}),
        ({"tokens": "\x1f3\x1c", "usd": "\u30000.5\n"}, {"tokens": 3.0, "usd": 0.5}),
        ([["tokens", 3]], {"tokens": 3.0}),
        ([{"key": "tokens", "value": 3}, {"key": "usd", "value": None}], {"tokens": 3.0}),
        ([], {}),
    ],
)
def test_costs_are_numbers_by_name(written, read):
    found = parse({**BASE, "costs": written}).costs
    assert found == read
    assert {type(cost) for cost in found.values()} <= {float}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, {}),
        ({}, {}),
        ({"correct": 1, "rating": -0.25}, {"correct": 1.0, "rating": -0.25}),
        ({"correct": True, "safe": False}, {"correct": 1.0, "safe": 0.0}),
        ({"rating": "0.5", "gone": None, "unknown": float("nan")}, {"rating": 0.5}),
        ([["correct", 1]], {"correct": 1.0}),
        ([{"key": "correct", "value": True}], {"correct": 1.0}),
    ],
)
def test_outcomes_are_numbers_by_name(written, read):
    found = parse_mapping({**BASE, "outcomes": written}).outcomes
    assert found == read
    assert {type(value) for value in found.values()} <= {float}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (None, None),
        ([], []),
        (["b", "a", "b"], ["b", "a", "b"]),
        (["one"], ["one"]),
        ([1, None, "x"], ["1", "x"]),
    ],
)
def test_aspects_are_a_list_of_texts_or_unknown(written, read):
    (found,) = parse_mapping({**BASE, "results": [{"aspects": written}]}).results
    assert found.aspects == read


def test_costs_may_be_decimals():
    costs = {"usd": Decimal("0.5"), "tokens": 3}
    assert parse_mapping({**BASE, "costs": costs}).costs == {"usd": 0.5, "tokens": 3.0}


@pytest.mark.parametrize("name", ["ids", "fields"])
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": None}, {}),
        ({"a": []}, {}),
        ({"a": [None]}, {}),
        ({"a": ["x"]}, {"a": "x"}),
        ({"a": ["x", None]}, {"a": "x"}),
        ({"a": ["x", "y"]}, {"a": ["x", "y"]}),
        ({"a": ["x", None, "y"]}, {"a": ["x", "y"]}),
        ([["a", ["x"]], ["b", "y"], ["c", None]], {"a": "x", "b": "y"}),
        ([{"key": "a", "value": "x"}], {"a": "x"}),
        ([], {}),
    ],
)
def test_spellings_of_ids_and_fields(name, value, expected):
    assert getattr(parse(with_result(**{name: value})).results[1], name) == expected


@pytest.mark.parametrize(
    "value", [{"a": "x", "b": None}, {"a": ["x"]}, [["a", "x"]], [{"key": "a", "value": "x"}]]
)
def test_spellings_of_attributes(value):
    assert parse({**BASE, "attributes": value}).attributes == {"a": "x"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3), (3.0, 3), (0.0, 0), (None, None), ("3", 3), ("3.0", 3), (" 3.00 ", 3)],
)
def test_whole_numbers_may_be_of_any_type(value, expected):
    call = parse({**with_result(gain=value), "call": value, "turn_count": value})
    assert (call.results[1].gain, call.call, call.turn_count) == (expected, expected, expected)
    assert type(call.results[1].gain) is type(expected)


@pytest.mark.parametrize("value", ["2.5", "3.", "3.0.0", "three", "", ".0"])
def test_rejects_text_that_is_not_a_whole_number(value):
    with pytest.raises(RecordError, match="gain must be a whole number from 0 to 4"):
        parse_mapping(with_result(gain=value))


def test_numpy_floats_are_accepted_as_attributes():
    attributes = {"a": np.float64(12), "b": np.float64(0.5), "c": np.float64("nan")}
    assert parse({**BASE, "attributes": attributes}).attributes == {"a": "12", "b": "0.5"}


def test_numpy_integers_are_accepted():
    call = parse_mapping(
        {**with_result(gain=np.int64(3), id=np.int32(7)), "iteration": np.uint8(2)}
    )
    assert (call.iteration, call.results[1]) == (2, Result(gain=3, id="7"))


@pytest.mark.parametrize(("value", "final"), [("true", True), ("True", True), (" FALSE", False)])
def test_true_and_false_may_be_text(value, final):
    assert parse({**BASE, "is_final": value}).is_final is final


def test_decimals_of_typed_formats_are_numbers():
    call = parse_mapping(with_result(gain=Decimal("3"), score=Decimal("1.5")))
    assert call.results[1] == Result(gain=3, score=1.5)


def test_an_integer_score_becomes_a_float():
    assert type(parse(with_result(score=3)).results[1].score) is float


def test_bytes_of_typed_formats_are_text():
    record = with_result(ids={b"a": b"x"}, title=b"t\xc3\xbc")
    record["conversation_id"] = b"c"
    assert parse_mapping(record) == SearchCall(
        "c", 2, results=[Result(), Result(title="tü", ids={"a": "x"})]
    )


@pytest.mark.parametrize("blank", ["", "  ", "\t\n", b" "])
def test_a_blank_record_id_is_none(blank):
    assert parse_mapping({**BASE, "record_id": blank}).record_id is None


def test_a_record_id_keeps_its_spaces():
    assert parse({**BASE, "record_id": " r "}).record_id == " r "


NOON = 1_704_110_400_000


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (NOON, NOON),
        (float(NOON), NOON),
        (str(NOON), NOON),
        (f"{NOON}.0", NOON),
        ("2024-01-01T12:00:00Z", NOON),
        ("2024-01-01T12:00:00", NOON),
        ("2024-01-01T13:00:00+01:00", NOON),
        ("1969-12-31T23:59:59.9995Z", -1),
        (-62_135_596_800_000, -62_135_596_800_000),
    ],
)
def test_times_in_json(value, millis):
    assert parse({**BASE, "timestamp": value}).timestamp == millis


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (datetime(2024, 1, 1, 12), NOON),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), NOON),
        (datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=1))), NOON),
        (date(2024, 1, 1), NOON - 12 * 3_600_000),
        (Decimal(NOON), NOON),
    ],
)
def test_times_of_typed_formats(value, millis):
    assert parse_mapping({**BASE, "timestamp": value}).timestamp == millis


def test_an_unknown_field_may_have_any_content():
    line = b'{"conversation_id": "c", "iteration": 2, "noise": "\xff"}'
    assert parse_json(line) == PLAIN


def test_blocks_with_a_record_that_needs_repair_are_not_parsed():
    assert parse_mappings([BASE, BASE]) == [PLAIN, PLAIN]
    assert parse_mappings([BASE, {**BASE, "turn": None}]) is None


def test_rejects_text_that_is_not_utf_8_except_in_unknown_fields():
    bad = b"\xff".decode("utf-8", "surrogateescape")
    assert parse_escaped_mapping({**BASE, "noise": bad}) == PLAIN
    assert parse_escaped_mapping({**BASE, bad: 1}) == PLAIN
    assert parse_mappings([{**BASE, bad: 1}]) is None
    for record, field, conversation_id in [
        (with_result(title=bad), "results[1].title", "c"),
        (with_result(ids={bad: "x"}), "results[1].ids.\\udcff", "c"),
        (with_result(ids={"a": ["x", bad]}), "results[1].ids.a[1]", "c"),
        ({**BASE, "conversation_id": bad}, "conversation_id", None),
        ({**BASE, "iteration": bad}, "iteration", "c"),
        ({**BASE, "results": [bad]}, "results[0]", "c"),
        (with_result(gain=bad), "results[1].gain", "c"),
    ]:
        with pytest.raises(RecordError, match="not UTF-8") as error:
            parse_escaped_mapping(record)
        assert (error.value.field, error.value.conversation_id) == (field, conversation_id)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)  # JSON has neither
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)
_CALL_FIELDS = st.sampled_from(SearchCall.__struct_fields__)
_RESULTS = st.lists(
    st.dictionaries(st.sampled_from(Result.__struct_fields__), _JSON, max_size=4) | _JSON,
    max_size=3,
)


@given(
    values=st.dictionaries(_CALL_FIELDS, _JSON, max_size=4), results=st.none() | _RESULTS | _JSON
)
def test_any_record_gives_the_same_call_or_error_in_both_ways(values, results):
    record = {**BASE, "results": results, **values}
    try:
        call = parse_mapping(record)
    except RecordError:
        parsing_error(record)
        return
    assert parse(record) == call
    assert parse_json(msgspec.json.encode(call, enc_hook=int)) == call
    assert decode_record(record_encoding(call)) == call


@given(st.binary(max_size=60))
def test_any_line_is_parsed_or_rejected(line):
    prefix = b'{"conversation_id": "c", "iteration": 2, "query": '
    for text in (line, prefix + line, prefix + b'"' + line + b'"}'):
        try:
            call = parse_json(text)
        except RecordError:
            continue
        assert parse_json(msgspec.json.encode(call, enc_hook=int)) == call


def test_of_a_key_that_an_object_has_twice_the_last_value_counts():
    result = b'{"id":"x","gain":1,"gain":3}'
    call = parse_json(
        b'{"conversation_id":"a","conversation_id":"c","iteration":1,"results":[%b]}' % result
    )
    assert (call.conversation_id, [result.gain for result in call.results]) == ("c", [3])
