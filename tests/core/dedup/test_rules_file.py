"""Reading a rules file: all mistakes are reported at once, with their lines (SPEC 4.3)."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodgain.transforms.core.dedup.rules_file import read_rules, read_shipped_rules
from goodgain.transforms.core.errors import RulesError

DEFAULT = "types: {default: {}}\n"


def mistakes(text):
    with pytest.raises(RulesError) as caught:
        read_rules(text, "my.yaml")
    return [line.strip() for line in str(caught.value).splitlines()[1:]]


def test_shipped_rules_have_the_types_of_the_spec():
    rules = read_rules(read_shipped_rules())
    assert set(rules.types) == {
        "File",
        "Event",
        "EmailMessage",
        "TeamsMessage",
        "People",
        "External",
        "MeetingTranscript",
        "default",
    }
    assert rules.max_candidates == 256
    assert rules.aliases["PeopleInferenceAnswer"] == "People"


def test_the_smallest_rules_file_has_empty_defaults():
    rules = read_rules(DEFAULT)
    assert (rules.max_candidates, rules.aliases, rules.types["default"].reject_on) == (256, {}, [])


def test_reports_all_mistakes_at_once_with_their_lines():
    text = """\
aliases:
  Mail: Letter
  post: Parcel
max_candidates: 0
colour: red
types:
  File:
    definitive: [file_id]
    container: [file_id, 7]
    reject_on: some
    duplicate_if:
      - [title, {at_least: 3, of: [author, subject]}]
      - [{all: [title]}]
      - []
  literature:
    points: {title: -1, needed: 1, needed with id context: 1}
    duplicate_if: [[title]]
    definitiv: [isbn]
"""
    found = mistakes(text)
    assert [line.split(": ")[0] for line in found] == [
        "my.yaml:2",
        "my.yaml:3",
        "my.yaml:4",
        "my.yaml:5",
        "my.yaml:6",
        "my.yaml:9",
        "my.yaml:9",
        "my.yaml:10",
        "my.yaml:10",
        "my.yaml:12",
        "my.yaml:13",
        "my.yaml:14",
        "my.yaml:16",
        "my.yaml:16",
        "my.yaml:16",
        "my.yaml:18",
    ]
    for line in (
        "my.yaml:2: aliases.Mail: stands for Letter, which is not in types",
        "my.yaml:5: colour: not a known name",
        "my.yaml:6: types: must have an entry `default`",
        "my.yaml:9: types.File.container: file_id is also listed as definitive",
        "my.yaml:16: types.literature.points: excludes duplicate_if; use one of the two",
        "my.yaml:18: types.literature.definitiv: not a known name",
    ):
        assert line in found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [", "my.yaml:1: not valid YAML: expected the node content, but found '<stream end>'."),
        (
            "a: 1\n---\nb: 2\n",
            "my.yaml:2: not valid YAML: expected a single document in the stream, but found "
            "another document.",
        ),
        (
            "\x00",
            "my.yaml: not valid YAML: unacceptable character #x0000: "
            "special characters are not allowed.",
        ),
    ],
)
def test_reports_invalid_yaml_with_its_line(text, line):
    with pytest.raises(RulesError) as caught:
        read_rules(text, "my.yaml")
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "my.yaml: must be a mapping, `NAME: VALUE`"),
        ("[]", "my.yaml: must be a mapping, `NAME: VALUE`"),
        ("max_candidates: 3", "my.yaml: types: field required"),
        ("types: {}", "my.yaml:1: types: must have an entry `default`"),
        ("types: {default: }", "my.yaml:1: types.default: must be a mapping, `NAME: VALUE`"),
        (
            DEFAULT + "time_fields: [start]\ntime_fields: [end]",
            "my.yaml:3: time_fields appears here a second time",
        ),
        (
            "types: {default: {}, File: {}, ' FILE': {}}",
            "my.yaml:1: types. FILE: means the same as types.File; case does not matter",
        ),
        (
            DEFAULT + "aliases: {a: default, A: default}",
            "my.yaml:2: aliases.A: means the same as aliases.a; case does not matter",
        ),
        (
            DEFAULT + "aliases:\n  Default: default",
            "my.yaml:3: aliases.Default: means the same as types.default; case does not matter",
        ),
        (
            "types: {default: {definitive: [ids.isbn]}}",
            "my.yaml:1: types.default.definitive: ids.isbn is an id even without `ids.`",
        ),
        (
            "types: {default: {reject_on: [ids.isbn]}}",
            "my.yaml:1: types.default.reject_on: ids.isbn is an id; only fields are allowed here",
        ),
    ],
)
def test_reports_a_single_mistake_with_its_line(text, expected):
    assert mistakes(text) == [expected]


def test_rejects_a_file_that_contains_itself():
    assert mistakes("types: &all\n  default: {}\n  File: *all\n")


@pytest.mark.parametrize(
    ("part", "least", "names"),
    [
        ("title", 1, ["title"]),
        ("{any: [title, subject]}", 1, ["title", "subject"]),
        ("{at_least: 2, of: [a, b, c]}", 2, ["a", "b", "c"]),
        ("ids.isbn", 1, ["ids.isbn"]),
    ],
)
def test_reads_every_form_of_a_part_of_a_clause(part, least, names):
    rules = read_rules(f"types: {{default: {{duplicate_if: [[{part}]]}}}}")
    ((requirement,),) = rules.types["default"].duplicate_if
    assert (requirement.at_least, requirement.of) == (least, names)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["default", "ids.x", "all", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["types", "aliases", "default", "points", "reject_on", "url", "any"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(content=json_like)
def test_any_content_is_read_or_rejected_in_the_name_of_the_file(content):
    message = None
    try:
        read_rules(json.dumps(content), "my.yaml")
    except RulesError as error:
        message = str(error)
    assert message is None or re.search("my.yaml(:1)?: ", message)


@pytest.mark.parametrize(
    ("part", "mistake"),
    [
        (
            "url_aliases: {'a(': b}",
            "is not a regular expression: missing ), unterminated subpattern",
        ),
        ("url_aliases: {'a': '\\1'}", "its replacement names \\1, which is no group of it"),
        ("url_aliases: {'(a)': {to: '\\g', casefold: true}}", "its replacement names \\g, which"),
        ("url_aliases: {'a*': b}", "matches an empty text, so it says nothing"),
        ("strip: {doc_id: '[#'}", "is not a regular expression: unterminated character set"),
    ],
)
def test_patterns_are_checked(part, mistake):
    (line,) = mistakes(f"{DEFAULT}{part}\n")
    assert line.startswith("my.yaml:2: ")
    assert mistake in line


def test_ids_of_passages_are_named_without_prefix():
    with pytest.raises(RulesError, match=r"passage_ids: ids\.chunk is an id even without `ids\.`"):
        read_rules("passage_ids: [ids.chunk]\ntypes: {default: {}}")
