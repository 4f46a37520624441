"""One raw record to one SearchCall, or to a reason a person understands (SPEC 2, 3)."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.core.errors import RecordError
from transforms.core.parsing import (
    conversation_id_in,
    parse_escaped_mapping,
    parse_json,
    parse_mapping,
    parse_mappings,
)
from transforms.core.records import Result, SearchCall, canonical_encoding

BASE = {"conversation_id": "c", "iteration": 2}
PLAIN = SearchCall("c", 2)


def with_result(**fields):
    return {**BASE, "results": [{}, fields]}


def both(record):
    """The record through JSON and as a mapping; they must agree."""
    from_json = parse_json(json.dumps(record).encode())
    assert parse_mapping(record) == from_json
    assert canonical_encoding(parse_mapping(record)) == canonical_encoding(from_json)
    return from_json


def refused(record):
    """The error of the record through JSON and as a mapping; they must agree."""
    with pytest.raises(RecordError) as by_json:
        parse_json(json.dumps(record).encode())
    with pytest.raises(RecordError) as by_mapping:
        parse_mapping(record)
    seen = [(e.value.reason, e.value.field, e.value.conversation_id) for e in (by_json, by_mapping)]
    assert seen[0] == seen[1]
    return seen[0]


def test_only_what_is_required():
    assert both(BASE) == PLAIN


@pytest.mark.parametrize("name", SearchCall.__struct_fields__[2:])
def test_null_takes_the_default(name):
    assert both({**BASE, name: None}) == PLAIN


@pytest.mark.parametrize("name", Result.__struct_fields__)
def test_null_in_a_result_takes_the_default(name):
    assert both(with_result(**{name: None})) == SearchCall("c", 2, results=[Result(), Result()])


def test_unknown_fields_are_ignored():
    record = {**with_result(gain=1, colour="red"), "shape": {"a": [1]}}
    assert both(record) == both(with_result(gain=1))


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
def test_maps_are_written_in_one_way(name, value, expected):
    assert getattr(both(with_result(**{name: value})).results[1], name) == expected


@pytest.mark.parametrize(
    "value", [{"a": "x", "b": None}, {"a": ["x"]}, [["a", "x"]], [{"key": "a", "value": "x"}]]
)
def test_attributes_are_written_in_one_way(value):
    assert both({**BASE, "attributes": value}).attributes == {"a": "x"}


@pytest.mark.parametrize(("value", "expected"), [(3, 3), (3.0, 3), (0.0, 0), (None, None)])
def test_whole_numbers_of_any_type(value, expected):
    call = both({**with_result(gain=value), "call": value, "turn_count": value})
    assert (call.results[1].gain, call.call, call.turn_count) == (expected, expected, expected)
    assert type(call.results[1].gain) is type(expected)


def test_decimals_of_typed_formats():
    call = parse_mapping(with_result(gain=Decimal("3"), score=Decimal("1.5")))
    assert call.results[1] == Result(gain=3, score=1.5)


def test_an_integer_score_is_a_float():
    assert type(both(with_result(score=3)).results[1].score) is float


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
    assert both({**BASE, "record_id": " r "}).record_id == " r "


NOON = 1_704_110_400_000


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (NOON, NOON),
        (float(NOON), NOON),
        ("2024-01-01T12:00:00Z", NOON),
        ("2024-01-01T12:00:00", NOON),
        ("2024-01-01T13:00:00+01:00", NOON),
        ("1969-12-31T23:59:59.9995Z", -1),
        (-62_135_596_800_000, -62_135_596_800_000),
    ],
)
def test_times_in_json(value, millis):
    assert both({**BASE, "timestamp": value}).timestamp == millis


@pytest.mark.parametrize(
    ("value", "millis"),
    [
        (datetime(2024, 1, 1, 12), NOON),
        (datetime(2024, 1, 1, 12, tzinfo=UTC), NOON),
        (datetime(2024, 1, 1, 13, tzinfo=timezone(timedelta(hours=1))), NOON),
        (date(2024, 1, 1), NOON - 12 * 3_600_000),
    ],
)
def test_times_of_typed_formats(value, millis):
    assert parse_mapping({**BASE, "timestamp": value}).timestamp == millis


@pytest.mark.parametrize(
    ("record", "field", "reason"),
    [
        ({"iteration": 1}, "conversation_id", "conversation_id is missing."),
        (
            {"conversation_id": None, "iteration": 1},
            "conversation_id",
            "conversation_id is missing.",
        ),
        ({"conversation_id": "c"}, "iteration", "iteration is missing."),
        (
            {**BASE, "conversation_id": ""},
            "conversation_id",
            'conversation_id must be text that is not empty, got text "".',
        ),
        (
            {**BASE, "conversation_id": 5},
            "conversation_id",
            "conversation_id must be text that is not empty, got 5.",
        ),
        (
            {**BASE, "iteration": 0},
            "iteration",
            "iteration must be a whole number from 1 to 2147483647, got 0.",
        ),
        (
            {**BASE, "turn": "3"},
            "turn",
            'turn must be a whole number from 1 to 2147483647, got text "3".',
        ),
        (
            {**BASE, "turn": True},
            "turn",
            "turn must be a whole number from 1 to 2147483647, got true.",
        ),
        (
            {**BASE, "call": 1.5},
            "call",
            "call must be a whole number from 0 to 2147483647, got 1.5.",
        ),
        (
            {**BASE, "turn_count": -1},
            "turn_count",
            "turn_count must be a whole number from 0 to 2147483647, got -1.",
        ),
        (
            {**BASE, "turn": 2**31},
            "turn",
            "turn must be a whole number from 1 to 2147483647, got 2147483648.",
        ),
        (
            {**BASE, "turn": 10**90},
            "turn",
            "turn must be a whole number from 1 to 2147483647, "
            "got a number of more than 70 digits.",
        ),
        ({**BASE, "is_final": 1}, "is_final", "is_final must be true or false, got 1."),
        ({**BASE, "query": 5}, "query", "query must be text, got 5."),
        ({**BASE, "results": {}}, "results", "results must be a list of results, got an object."),
        (
            {**BASE, "results": [None]},
            "results[0]",
            "results[0] must be an object with named fields, got null.",
        ),
        (
            {**BASE, "attributes": {"arm": 3}},
            "attributes.arm",
            "attributes.arm must be text, got 3.",
        ),
        (
            {**BASE, "attributes": "a"},
            "attributes",
            'attributes must be a map of text to text, got text "a".',
        ),
        (
            {**BASE, "timestamp": "soon"},
            "timestamp",
            "timestamp must be ISO 8601 or epoch milliseconds, between the years 1 and 9999, "
            'got text "soon".',
        ),
        (
            with_result(gain=7),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got 7.",
        ),
        (
            with_result(gain=-1),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got -1.",
        ),
        (
            with_result(gain=True),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got true.",
        ),
        (
            with_result(gain=2.5),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got 2.5.",
        ),
        (
            with_result(score="high"),
            "results[1].score",
            'results[1].score must be a finite number, got text "high".',
        ),
        (
            with_result(score=float("nan")),
            "results[1].score",
            "results[1].score must be a finite number, got NaN.",
        ),
        (
            with_result(score=float("-inf")),
            "results[1].score",
            "results[1].score must be a finite number, got -Infinity.",
        ),
        (with_result(url=["u"]), "results[1].url", "results[1].url must be text, got a list."),
        (
            with_result(ids={"a": "x", "b": 3}),
            "results[1].ids.b",
            "results[1].ids.b must be text or a list of text, got 3.",
        ),
        (
            with_result(fields={"b": ["x", 3]}),
            "results[1].fields.b",
            "results[1].fields.b must be text or a list of text, got a list.",
        ),
        (
            with_result(fields=[["a"]]),
            "results[1].fields",
            "results[1].fields must be a map of text to text or lists of text, got a list.",
        ),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(record, field, reason):
    usable = record.get("conversation_id")
    conversation_id = usable if isinstance(usable, str) and usable else None
    assert refused(record) == (reason, field, conversation_id)


@pytest.mark.parametrize(
    "value",
    [1e300, float("inf"), True, 10**30, "0000-01-01", "10000-01-01T00:00:00Z", [], 1.5, ""],
)
def test_times_that_are_none(value):
    assert refused({**BASE, "timestamp": value})[1] == "timestamp"


def test_numbers_beyond_a_float():
    line = b'{"conversation_id": "c", "iteration": 1, "results": [{"score": 1e999}]}'
    with pytest.raises(RecordError, match="finite number") as error:
        parse_json(line)
    assert error.value.field == "results[0].score"
    with pytest.raises(RecordError, match="finite number"):
        parse_mapping(with_result(score=10**400))


@pytest.mark.parametrize("text", ["[1]", '"a"', "3", "null", "true"])
def test_a_record_is_an_object(text):
    with pytest.raises(RecordError, match="must be an object with named fields") as error:
        parse_json(text.encode())
    assert (error.value.field, error.value.conversation_id) == (None, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"conversation_id": "c", "iteration": 1', "Not valid JSON"),
        (b'{"conversation_id": "c", "iteration": }', "Not valid JSON"),
        (b'{"conversation_id": "c", "gain": NaN, "iteration": }', "Not valid JSON"),
        (b'{"conversation_id": "c", "iteration": 1} trailing', "Not valid JSON"),
        (b'{"conversation_id": "c", "turn": "x", "iteration": 1', "Not valid JSON"),
        (b'{"conversation_id": "c", "query": "\xff", "iteration": 1}', "not valid UTF-8"),
        (b'{"conversation_id": "c", "turn": "x", "query": "\xff"}', "not valid UTF-8"),
        (b'{"conversation_id": "c", "query": "\\ud800", "iteration": 1}', "Not valid JSON"),
        (b'{"conversation_id": "c", "iteration": 1, "x": ' + b"[" * 100_000, "too deeply"),
        (b'{"conversation_id": "c", "turn": "x", "y": ' + b"[" * 100_000, "too deeply"),
        (b'{"a": {"conversation_id": "d"}, "b": [{"conversation_id": "e"}], '
         b'"conversation_id" : "c", "iteration": ', "Not valid JSON"),
    ],
)  # fmt: skip
def test_damaged_lines_keep_their_conversation(line, reason):
    with pytest.raises(RecordError, match=reason) as error:
        parse_json(line)
    assert error.value.conversation_id == "c"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"plain text",
        b'"conversation_id": "c"',
        b'["conversation_id", "c"',
        b'{"query": "conversation_id", "c"',
        b'{"a": {"conversation_id": "c"',
        b'{"conversation_id": 7, "iteration"',
        b'{"conversation_id": "", "iteration"',
        b'{"conversation_id": "\xff", "iteration"',
        b'{"conversation_id": "cut of',
    ],
)
def test_no_conversation_is_made_up(line):
    assert conversation_id_in(line) is None


def test_an_unknown_field_may_hold_what_it_likes():
    line = b'{"conversation_id": "c", "iteration": 2, "noise": "\xff"}'
    assert parse_json(line) == PLAIN


def test_whole_blocks_or_none():
    assert parse_mappings([BASE, BASE]) == [PLAIN, PLAIN]
    assert parse_mappings([BASE, {**BASE, "turn": None}]) is None


def test_text_that_was_not_utf_8():
    bad = b"\xff".decode("utf-8", "surrogateescape")
    assert parse_escaped_mapping({**BASE, "noise": bad}) == PLAIN
    for record, field, conversation_id in [
        (with_result(title=bad), "results[1].title", "c"),
        (with_result(ids={bad: "x"}), "results[1].ids", "c"),
        (with_result(ids={"a": ["x", bad]}), "results[1].ids.a[1]", "c"),
        ({**BASE, "conversation_id": bad}, "conversation_id", None),
    ]:
        with pytest.raises(RecordError, match="not UTF-8") as error:
            parse_escaped_mapping(record)
        assert (error.value.field, error.value.conversation_id) == (field, conversation_id)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)  # JSON has none of them
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
def test_any_record_parses_alike_in_both_ways_or_is_refused(values, results):
    record = {**BASE, "results": results, **values}
    try:
        call = parse_mapping(record)
    except RecordError:
        refused(record)
        return
    assert both(record) == call
    # A parsed record is canonical: it reads back to itself without any repair.
    assert parse_json(canonical_encoding(call)) == call


@given(st.binary(max_size=60))
def test_any_line_parses_or_is_refused(line):
    prefix = b'{"conversation_id": "c", "iteration": 2, "query": '
    for text in (line, prefix + line, prefix + b'"' + line + b'"}'):
        try:
            call = parse_json(text)
        except RecordError:
            continue
        assert parse_json(canonical_encoding(call)) == call
