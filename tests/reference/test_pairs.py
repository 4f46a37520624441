"""Pairs of results with the step of SPEC 4.3 that decides them, written from its text."""

import pytest

from tests.reference import evaluate
from tests.reference.pair_examples import PAIRS, make

SNIPPET = "a snippet of no less than fifty characters, so that it is a key"


def judge(one, other):
    """(duplicate, step, clause) of a pair, or None if the results are not candidates."""
    outcome = evaluate([{"conversation_id": "c", "iteration": 1, "results": [one, other]}])
    if outcome["duplicates"]:
        (row,) = outcome["duplicates"]
        return True, row["step"], row["clause"]
    misses = list(outcome["counts"]["near_misses"])
    return (False, misses[0], None) if misses else None


def texts(**columns):
    return columns


# (type, attributes, clause): both results have these attributes; one has a further id that is in no
# rule, so that `identical` and equal evidence cannot decide.
CLAUSES = [
    ("File", {"texts": texts(snippet="s")}, 1),
    ("File", {"texts": texts(content="s")}, 1),
    ("File", {"file_name": "n", "author": "a", "file_type": "t"}, 2),
    ("File", {"file_name": "n", "texts": texts(title="t"), "last_modified_by": "b"}, 2),
    ("File", {"file_name": "n", "author": "a", "last_modified_time": "2024-01-01"}, 2),
    ("File", {"file_name": "n", "author": "a"}, None),
    ("File", {"author": "a", "file_type": "t", "last_modified_by": "b"}, None),
    ("Event", {"start": "1", "end": "2", "ids": {"original_id": "o"}}, 1),
    ("Event", {"start": "1", "ids": {"original_id": "o"}}, None),
    ("Event", {"start": "1", "end": "2", "organizer_email": "e", "subject": "s"}, 2),
    ("Event", {"start": "1", "end": "2", "organizer_email": "e", "texts": texts(content="s")}, 2),
    ("Event", {"start": "1", "end": "2", "organizer_email": "e"}, None),
    ("Event", {"start": "1", "end": "2", "subject": "s", "texts": texts(snippet="s")}, 3),
    ("Event", {"start": "1", "end": "2", "texts": texts(title="t", content="s")}, 3),
    ("Event", {"start": "1", "end": "2", "subject": "s", "texts": texts(title="t")}, None),
    ("EmailMessage", {"date_time_received": "2024-01-01", "to": "t"}, 1),
    ("EmailMessage", {"date_time_received": "2024-01-01", "texts": texts(title="t")}, None),
    ("EmailMessage", {"subject": "s", "texts": texts(content="c"), "from_": "f"}, 2),
    ("EmailMessage", {"subject": "s", "from_": "f", "to": "t"}, 3),
    ("EmailMessage", {"texts": texts(snippet="s"), "from_": "f", "to": "t"}, 3),
    ("EmailMessage", {"subject": "s", "texts": texts(snippet="s")}, None),
    ("EmailMessage", {"from_": "f", "to": "t"}, None),
    ("TeamsMessage", {"texts": texts(snippet="s", title="t"), "participants": "p"}, 1),
    ("TeamsMessage", {"subject": "s", "from_": "f", "participants": ["p", "q"]}, 2),
    ("TeamsMessage", {"subject": "s", "texts": texts(title="t"), "from_": "f"}, None),
    ("TeamsMessage", {"from_": "f", "to": "t", "participants": "p"}, None),
    ("People", {"display_name": "n", "department": "d", "office_location": "o"}, 1),
    ("People", {"display_name": "n", "department": "d"}, None),
    ("People", {"department": "d", "office_location": "o", "company_name": "c"}, None),
    ("External", {"texts": texts(content="s")}, 1),
    ("External", {"display_name": "n", "plugin_id": "p", "plugin_type": "t"}, None),
    ("MeetingTranscript", {"texts": texts(snippet="s")}, 1),
    ("MeetingTranscript", {"texts": texts(title="t"), "end": "2"}, 2),
    ("MeetingTranscript", {"start": "1", "end": "2"}, None),
    ("Wiki", {"texts": texts(snippet="s")}, 1),
    ("Wiki", {"texts": texts(title="t"), "file_name": "f"}, 1),
    ("Wiki", {"texts": texts(title="t"), "author": "a", "start": "1"}, 1),
    (None, {"author": "a", "start": "1", "to": "t", "from_": "f"}, 1),
    (None, {"author": "a", "start": "1"}, 2),
    (None, {"texts": texts(title="t")}, 2),
]


@pytest.mark.parametrize(("entity_type", "attributes", "clause"), CLAUSES)
def test_clauses_of_a_type(entity_type, attributes, clause):
    one = make(entity_type, **attributes)
    other = make(entity_type, **attributes)
    other["ids"] = {**other["ids"], "more": "1"}
    expected = (False, "inconclusive", None) if clause is None else (True, "fields", clause)
    assert judge(one, other) == expected


REJECT_ON = {
    "File": "file_name file_type author last_modified_by last_modified_time title snippet content",
    "Event": "start end organizer_email",
    "EmailMessage": "date_time_received from to subject snippet content",
    "TeamsMessage": "from to participants title subject snippet content",
    "People": "display_name department company_name office_location",
    "External": "plugin_id plugin_type display_name snippet content",
    "MeetingTranscript": "start end title snippet content",
    "Wiki": "anything author title snippet content start",
}
COLUMNS = ["title", "snippet", "content"]


@pytest.mark.parametrize(
    ("entity_type", "name"),
    [(entity_type, name) for entity_type, names in REJECT_ON.items() for name in names.split()],
)
def test_a_different_reject_on_field_rejects(entity_type, name):
    one, other = make(entity_type), make(entity_type)
    for result, value in ((one, "x"), (other, "y")):
        (result if name in COLUMNS else result["fields"])[name] = value
    assert judge(one, other) == (False, "fields", None)


@pytest.mark.parametrize(
    ("entity_type", "name"),
    [("Event", "title"), ("People", "snippet"), ("EmailMessage", "title"), ("External", "author")],
)
def test_a_different_other_field_does_not_reject(entity_type, name):
    one, other = make(entity_type), make(entity_type)
    for result, value in ((one, "x"), (other, "y")):
        (result if name in COLUMNS else result["fields"])[name] = value
    assert judge(one, other) == (False, "inconclusive", None)


DEFINITIVE = {
    "File": "file_id unique_id",
    "Event": "event_id",
    "EmailMessage": "email_url",
    "TeamsMessage": "item_id",
    "People": "alias upn email",
    "External": "artifact_id",
    "MeetingTranscript": "event_id",
    "Wiki": "doc_id",
}
CONTAINER = {"File": "site_id web_id list_id", "Event": "original_id"}


@pytest.mark.parametrize(
    ("entity_type", "name"),
    [(entity_type, name) for entity_type, names in DEFINITIVE.items() for name in names.split()],
)
def test_definitive_ids_decide(entity_type, name):
    one = make(entity_type, {name: ["1", "2"]}, author="a")
    assert judge(one, make(entity_type, {name: ["2", "3"]}, author="b")) == (True, "ids", None)
    assert judge(one, make(entity_type, {name: "3"}, author="a")) == (False, "ids", None)


@pytest.mark.parametrize(
    ("entity_type", "name"),
    [(entity_type, name) for entity_type, names in CONTAINER.items() for name in names.split()],
)
def test_container_ids_only_reject(entity_type, name):
    one = make(entity_type, {name: "1"})
    different = make(entity_type, {name: "2"})
    assert judge(one, different) == (False, "ids", None)
    assert judge(one, make(entity_type, {name: "1", "x": "1"})) == (False, "inconclusive", None)


@pytest.mark.parametrize(
    ("one", "other", "expected"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS]
)
def test_decision_of_a_pair(one, other, expected):
    assert judge(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS]
)
def test_decision_of_a_pair_in_reverse_order(one, other, expected):
    assert judge(other, one) == expected


KEYS = [
    ("id:a", {"ids": {"b": "1", "a": "1", "doc_id": "1"}}),
    ("id", {"id": "g", "url": "//x", "title": "t"}),
    ("url", {"url": "//x", "title": "t", "snippet": SNIPPET}),
    ("snippet", {"title": "t", "snippet": SNIPPET, "content": SNIPPET}),
    ("content", {"title": "t", "snippet": "short", "content": SNIPPET}),
    ("title", {"title": "t", "fields": {"subject": "s", "author": "a", "to": "t"}}),
    ("subject", {"fields": {"file_name": "f", "subject": "s"}}),
    ("file_name", {"fields": {"file_name": "f", "display_name": "d"}}),
    ("display_name", {"fields": {"display_name": "f", "start": "1", "end": "2"}}),
    ("start+end", {"fields": {"start": "1", "end": "2"}}),
    ("evidence", {"fields": {"author": "1", "end": "2"}}),
]


@pytest.mark.parametrize(("kind", "result"), KEYS)
def test_the_first_key_in_canonical_order_is_reported(kind, result):
    outcome = evaluate(
        [{"conversation_id": "c", "iteration": 1, "results": [result, dict(result)]}]
    )
    assert [row["key"] for row in outcome["duplicates"]] == [kind]
