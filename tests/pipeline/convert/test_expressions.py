"""Compiled JMESPath expressions give the same values as the interpreter of the library."""

import json

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jmespath.exceptions import JMESPathError

from goodgain.pipeline.convert.importing.counts import ImportCounts
from goodgain.pipeline.convert.importing.expressions import compile_expression
from goodgain.pipeline.convert.importing.formats.catalog import FORMATS
from goodgain.pipeline.convert.importing.mapping_file import (
    parse_mapping_file,
    read_shipped_mapping,
)
from goodgain.pipeline.convert.importing.trace_functions import TraceFunctions
from goodgain.transforms.core.errors import UsageError

LEAVES = st.sampled_from([None, True, False, 0, 1, 2.5, "", "x", "y", [], {}, '{"a": "x"}'])
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "c.d"]), inner, max_size=3)
    ),
    max_leaves=8,
)
EXPRESSIONS = [
    "a", "a.b", '"c.d"', '"c.d".a || b', "a || b || a.b", "a && b", "a == 'x'", "'x' == a || b",
    "a == b", "a != 'x'", "a < b", "!a", "@", "`1`", "a[0]", "a[].b", "a[?b == 'x'] | [0].b",
    "contains(['x', 'y'], a)", "sum([a, b])", "length(a)", "from_json(a).a", "present(a, b)",
    "indexed(@, 'c')", "[a, b]", "{k: a}", "keys(a)", "to_string(a)", "not_null(a, b)",
    "sort_by(a, &b)", "documents(@)", "a && b || b && a",
]  # fmt: skip


def by_interpreter(text, value):
    options = jmespath.Options(custom_functions=TraceFunctions(ImportCounts()))
    try:
        return jmespath.search(text, value, options)
    except (JMESPathError, TypeError):
        return None


@given(VALUES)
def test_compiled_expressions_agree_with_the_interpreter(value):
    for text in EXPRESSIONS:
        found = compile_expression(text, TraceFunctions(ImportCounts()))(value)
        assert json.dumps(found) == json.dumps(by_interpreter(text, value)), text


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_a_valid_mapping(format):
    mapping = parse_mapping_file(read_shipped_mapping(format), format, ImportCounts())
    assert mapping.unit in ("span", "call", "result")
    assert mapping.conversation


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("(?P<url>", "is not a regular expression"), ("a.b", "has no named group")],
)
def test_a_wrong_pattern_is_refused_with_its_line(pattern, problem):
    written = f"unit: call\nconversation: c\nresults: match(found, '{pattern}')\n"
    with pytest.raises(UsageError, match=problem):
        parse_mapping_file(written, "m.yaml", ImportCounts())
