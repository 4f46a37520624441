"""The compiled rule table: new types without code, and more names than one-byte numbers."""

import pytest

from goodgain.transforms.core.dedup.rule_compiler import compile_rules
from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.errors import RulesError
from tests.core.direct import duplicates, score, verdict

# A user's rules for a type without shipped rules.
BOOK = """
  Book:
    definitive: [isbn]
    container: [shelf]
    reject_on: [edition]
    duplicate_if:
      - [title, {at_least: 2, of: [author, publisher, year]}]
      - [title, ids.work]
"""


@pytest.fixture(scope="module")
def with_books():
    text = read_shipped_rules().replace("\ntypes:", "\ntypes:" + BOOK, 1)
    return compile_rules(read_rules(text.replace("aliases:", "aliases:\n  Tome: Book", 1)))


def book(ids=None, entity_type="book", title=None, **fields):
    return {"entity_type": entity_type, "ids": ids or {}, "title": title, "fields": fields}


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (book({"isbn": "1"}), book({"isbn": "1"}, "TOME"), (True, "ids", None)),
        (book({"isbn": "1"}), book({"isbn": "2"}), (False, "ids", None)),
        (
            book({"isbn": "1", "shelf": "a"}),
            book({"isbn": "1", "shelf": "b"}),
            (False, "ids", None),
        ),
        (
            book(title="t", author="a", year="1"),
            book(title="T", author="a", year="1", publisher="p"),
            (True, "fields", 1),
        ),
        (
            book(title="t", author="a", year="1", edition="1"),
            book(title="t", author="a", year="1", edition="2"),
            (False, "fields", None),
        ),
        (
            book({"work": ["w", "v"]}, title="t"),
            book({"work": "w"}, title="t"),
            (True, "fields", 2),
        ),
        (
            book(title="t", author="a"),
            book(title="t", author="a", year="2"),
            (False, "inconclusive", None),
        ),
        (book(title="t"), book(entity_type="File", title="t"), (False, "type", None)),
    ],
)
def test_rules_of_a_new_type(with_books, one, other, expected):
    assert verdict(one, other, with_books) == expected


def test_new_type_in_a_whole_conversation(with_books):
    records = [
        {
            "conversation_id": "c",
            "iteration": i,
            "results": [book({"isbn": "1"}), book({"work": "w"})],
        }
        for i in (1, 2)
    ]
    rows = duplicates(score(records, with_books))
    assert [(row["rank"], row["key"], row["entity_type"]) for row in rows] == [
        (1, "id:isbn", "Book"),
    ]


def crowded_rules():
    """Rules that name 70 fields and 40 ids, more than one-byte numbers allow."""
    fields = [f"field{number}" for number in range(70)]
    ids = [f"id{number}" for number in range(40)]
    return compile_rules(
        read_rules(
            f"""
time_fields: [{", ".join(fields)}]
types:
  Thing:
    definitive: [{", ".join(ids[:39])}]
    container: [id39]
    reject_on: [field0, field68]
    duplicate_if:
      - [field1, field69]
      - [field2, ids.work]
  default:
    reject_on: all
    points: {{field69: 3, any other field: 1, needed: 4, needed with id context: 2}}
"""
        )
    )


def thing(ids=None, entity_type="Thing", id=None, **fields):
    return {"entity_type": entity_type, "ids": ids or {}, "fields": fields, "id": id}


NAMES = [
    (thing({"id38": "1"}), thing({"id38": "1"}), (True, "ids", None)),
    (thing({"id38": "1"}), thing({"id38": "2"}), (False, "ids", None)),
    (thing({"id38": ["2", "1"]}), thing({"id38": ["1", "3"]}), (True, "ids", None)),
    (
        thing({"id0": "1", "id39": "a"}),
        thing({"id0": "1", "id39": "b"}),
        (False, "ids", None),
    ),
    (thing({"id39": "a"}), thing({"id39": "a", "x": "y"}), (False, "inconclusive", None)),
    (
        thing(field1="a", field69="b"),
        thing(field69="b", field1="a", field5="c"),
        (True, "fields", 1),
    ),
    (thing(field1="a", field68="b"), thing(field68="c", field1="a"), (False, "fields", None)),
    (
        thing({"work": "w"}, field2="2024-01-01"),
        thing({"work": "w"}, field2="2024-01-01T01:00+01:00", field3="q"),
        (True, "fields", 2),
    ),
    (
        thing(entity_type=None, field69="2024-01-01", field68="b"),
        thing(entity_type=None, field69="2024-01-01T00:00Z", field68="b", field0="c"),
        (True, "fields", 1),
    ),
    (
        thing(entity_type=None, field68="b", field69="c"),
        thing(entity_type=None, field68="b", field69="d"),
        (False, "fields", None),
    ),
    (
        thing({"id39": "a"}, entity_type=None, field0="b", field68="c"),
        thing({"id39": "a"}, entity_type=None, field0="b", field68="c", field1="d"),
        (False, "inconclusive", None),
    ),
    (
        thing({"id38": "a"}, entity_type=None, field0="b", field68="c"),
        thing({"id38": "a"}, entity_type=None, field0="b", field68="c", field1="d"),
        (True, "fields", 2),
    ),
]


@pytest.mark.parametrize(("one", "other", "expected"), NAMES)
def test_rules_with_names_beyond_one_byte_numbers(one, other, expected):
    assert verdict(one, other, crowded_rules()) == expected


def test_a_definitive_id_beyond_one_byte_numbers_replaces_the_generic_id():
    rules = crowded_rules()
    one, other = thing({"id38": "1"}, id="g"), thing({"x": "y"}, id="g")
    assert verdict(one, other, rules) == (False, "inconclusive", None)
    assert verdict(thing(id="g"), other, rules) == (True, "generic_id", None)


def test_the_key_of_an_id_beyond_one_byte_numbers_has_its_name():
    records = [
        {"conversation_id": "c", "iteration": i, "results": [thing({"id38": "1"})]} for i in (1, 2)
    ]
    (row,) = duplicates(score(records, crowded_rules()))
    assert row["key"] == "id:id38"


UNKNOWN = [
    # Ids and fields in no rule still give candidates, and count for `default` and in step 4.
    ({"ids": {"odd": "1"}}, {"ids": {"odd": "1"}}, (True, "named_id", None)),
    (
        {"entity_type": "File", "ids": {"odd": "1"}},
        {"entity_type": "File", "ids": {"odd": "1"}},
        (False, "inconclusive", None),
    ),
    (
        {"entity_type": "File", "ids": {"odd": "1"}, "fields": {"strange": "a"}},
        {"entity_type": "File", "ids": {"odd": "1"}, "fields": {"strange": "A "}},
        (True, "identical", None),
    ),
    (
        {"ids": {"odd": "1"}, "fields": {"strange": "a", "queer": "b"}},
        {"ids": {"odd": "1"}, "fields": {"queer": "b", "strange": "a", "more": "c"}},
        (True, "fields", 2),
    ),
    (
        {"fields": {"strange": "a"}, "id": "g"},
        {"fields": {"strange": "b"}, "id": "g"},
        (False, "fields", None),
    ),
    (
        {"entity_type": "File", "ids": {"odd": "1"}, "id": "g"},
        {"entity_type": "File", "ids": {"odd": "2"}, "id": "g"},
        (False, "inconclusive", None),
    ),
    (
        {"entity_type": "Wiki", "id": "g"},
        {"entity_type": " WIKI", "id": "g", "title": "t"},
        (True, "generic_id", None),
    ),
    ({"entity_type": "Wiki", "id": "g"}, {"entity_type": "Page", "id": "g"}, (False, "type", None)),
]


@pytest.mark.parametrize(("one", "other", "expected"), UNKNOWN)
def test_types_ids_and_fields_in_no_rule(one, other, expected):
    assert verdict(one, other) == expected


def test_time_fields_of_the_spec_need_not_be_listed():
    rules = compile_rules(
        read_rules(
            "types: {default: {points: {any other field: 1, needed: 1,"
            " needed with id context: 1}, reject_on: all}}"
        )
    )
    one, other = {"fields": {"start": "2024-01-01"}}, {"fields": {"start": "2024-01-01T00:00Z"}}
    assert verdict(one, other, rules) == (True, "fields", 1)


def test_rejects_too_many_types_or_identity_parameters():
    types = ", ".join(f"t{number}: {{}}" for number in range(254))
    with pytest.raises(RulesError, match="255 types"):
        compile_rules(read_rules(f"types: {{default: {{}}, {types}}}"))
    names = ", ".join(f"p{number}" for number in range(29))
    text = f"types: {{default: {{}}}}\nurl: {{identity_parameters: [{names}]}}"
    with pytest.raises(RulesError, match="29 identity parameters"):
        compile_rules(read_rules(text))
