"""Errors of records that cannot be used: reason, field and conversation (SPEC 3)."""

import pytest

from goodgain.transforms.core.errors import RecordError
from goodgain.transforms.core.records.parsing import conversation_id_in, parse_json, parse_mapping
from tests.core.both_ways import BASE, parsing_error, with_result


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
            'conversation_id must be text that is not blank, got text "".',
        ),
        (
            {**BASE, "conversation_id": " \t"},
            "conversation_id",
            'conversation_id must be text that is not blank, got text " \\t".',
        ),
        (
            {**BASE, "conversation_id": 5.5},
            "conversation_id",
            "conversation_id must be text that is not blank, got 5.5.",
        ),
        (
            {**BASE, "outcomes": {"correct": 1, "rating": float("inf")}},
            "outcomes.rating",
            "outcomes.rating must be a finite number, got Infinity.",
        ),
        (
            {**BASE, "outcomes": {"correct": "yes"}},
            "outcomes.correct",
            'outcomes.correct must be a finite number, got text "yes".',
        ),
        (
            {**BASE, "outcomes": 1},
            "outcomes",
            "outcomes must be a map of text to finite numbers, got 1.",
        ),
        (
            {**BASE, "results": [{}, {"aspects": "a"}]},
            "results[1].aspects",
            'results[1].aspects must be a list of texts, got text "a".',
        ),
        (
            {**BASE, "costs": {"usd": 1, "tokens": -1}},
            "costs.tokens",
            "costs.tokens must be a number from 0 to 1e+100, got -1.",
        ),
        (
            {**BASE, "costs": {"tokens": True}},
            "costs.tokens",
            "costs.tokens must be a number from 0 to 1e+100, got true.",
        ),
        (
            {**BASE, "costs": {"tokens": "many"}},
            "costs.tokens",
            'costs.tokens must be a number from 0 to 1e+100, got text "many".',
        ),
        (
            {**BASE, "costs": {"tokens": 1e101}},
            "costs.tokens",
            "costs.tokens must be a number from 0 to 1e+100, got 1e+101.",
        ),
        (
            {**BASE, "costs": 5},
            "costs",
            "costs must be a map of text to numbers from 0, got 5.",
        ),
        (
            {**BASE, "iteration": 0},
            "iteration",
            "iteration must be a whole number from 1 to 2147483647, got 0; if iterations are "
            "counted from 0, add --iteration-base 0.",
        ),
        (
            {**BASE, "turn": "3rd"},
            "turn",
            'turn must be a whole number from 1 to 2147483647, got text "3rd".',
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
        ({**BASE, "query": 0.5}, "query", "query must be text, got 0.5."),
        ({**BASE, "results": {}}, "results", "results must be a list of results, got an object."),
        (
            {**BASE, "results": [None]},
            "results[0]",
            "results[0] must be an object with named fields, got null.",
        ),
        (
            {**BASE, "attributes": {"arm": ["a", "b"]}},
            "attributes.arm",
            "attributes.arm must be text, got a list.",
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
            "results[1].gain must be a whole number from 0 to 4, got 7; if it is a label on "
            "another scale, say so with --label-map 7=4.",
        ),
        (
            with_result(gain=-1),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got -1; if it is a label on "
            "another scale, say so with --label-map -1=0.",
        ),
        (
            with_result(gain=True),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got true; if it is a label on "
            "another scale, say so with --label-map true=3.",
        ),
        (
            with_result(gain=2.5),
            "results[1].gain",
            "results[1].gain must be a whole number from 0 to 4, got 2.5; if it is a label on "
            "another scale, say so with --label-map 2.5=4.",
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
            with_result(ids={"a": "x", "b": 3.5}),
            "results[1].ids.b",
            "results[1].ids.b must be text or a list of text, got 3.5.",
        ),
        (
            with_result(ids={"b": 12.0}),
            "results[1].ids.b",
            "results[1].ids.b must be text or a list of text, got 12.0; tables with gaps turn "
            "whole numbers into decimals: write them as text, or as 12.",
        ),
        (
            {**BASE, "conversation_id": 12.0},
            "conversation_id",
            "conversation_id must be text that is not blank, got 12.0; tables with gaps turn whole "
            "numbers into decimals: write them as text, or as 12.",
        ),
        (
            with_result(fields={"b": ["x", True]}),
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
def test_errors_have_a_reason_a_field_and_a_conversation(record, field, reason):
    usable = record.get("conversation_id")
    conversation_id = usable if isinstance(usable, str) and usable.strip() else None
    assert parsing_error(record) == (reason, field, conversation_id)


@pytest.mark.parametrize(
    "value",
    [1e300, float("inf"), True, 10**30, "0000-01-01", "10000-01-01T00:00:00Z", [], 1.5, ""],
)
def test_rejects_invalid_times(value):
    assert parsing_error({**BASE, "timestamp": value})[1] == "timestamp"


def test_rejects_numbers_beyond_the_range_of_floats():
    line = b'{"conversation_id": "c", "iteration": 1, "results": [{"score": 1e999}]}'
    with pytest.raises(RecordError, match="finite number") as error:
        parse_json(line)
    assert error.value.field == "results[0].score"
    with pytest.raises(RecordError, match="finite number"):
        parse_mapping(with_result(score=10**400))


@pytest.mark.parametrize("text", ["[1]", '"a"', "3", "null", "true"])
def test_rejects_a_record_that_is_not_an_object(text):
    with pytest.raises(RecordError, match="must be an object with named fields") as error:
        parse_json(text.encode())
    assert (error.value.field, error.value.conversation_id) == (None, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"conversation_id": "c", "iteration": 1', "truncated; a record is one line, or"),
        (b'{"conversation_id": "c", "iteration": }', "Not valid JSON"),
        (b'{"conversation_id": "c", "gain": NaN, "iteration": }', "Not valid JSON"),
        (b'{"conversation_id": "c", "iteration": 1} trailing', "Not valid JSON"),
        (b'{"conversation_id": "c", "turn": "x", "iteration": 1', "Not valid JSON"),
        (b'{"conversation_id": "c", "query": "\xff", "iteration": 1}', "not valid UTF-8"),
        (b'{"conversation_id": "c", "turn": "x", "query": "\xff"}', "not valid UTF-8"),
        (b'{"conversation_id": "c", "query": "\\ud800", "iteration": 1}', "query has half"),
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
        b'{"conversation_id": "  ", "iteration"',
        b'{"conversation_id": "\xff", "iteration"',
        b'{"conversation_id": "cut of',
    ],
)
def test_damaged_lines_without_a_certain_conversation_id_have_none(line):
    assert conversation_id_in(line) is None
