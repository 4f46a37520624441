"""Options that messages name."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodgain.transforms.core.remedy import Remedy, reword

CORE = Path(__file__).parents[2] / "transforms" / "core"
NAMES = st.from_regex(r"[a-z]{2,9}(\.[a-z]{2,9})?", fullmatch=True)
VALUES = st.none() | st.integers(0, 10**9).map(str) | st.dictionaries(NAMES, NAMES, min_size=1)


@pytest.mark.parametrize(
    ("remedy", "text"),
    [
        (Remedy("max_i", 20), "--max-i 20"),
        (Remedy("allow_no_good"), "--allow-no-good"),
        (Remedy("map", {"gain": "rel", "ids.a": "b"}), "--map gain=rel,ids.a=b"),
        (Remedy("map", {"ids.a": "", "ids.b": ""}), "--map ids.a=,ids.b="),
        (Remedy("label_map", {"5": "4"}), "--label-map 5=4"),
        (Remedy("label_map", {"0.5..1": "2"}), "--label-map 0.5..1=2"),
    ],
)
def test_text_is_that_of_the_command_line(remedy, text):
    assert str(remedy) == text


@given(st.from_regex(r"[a-z]{1,8}(_[a-z]{1,8})?", fullmatch=True), VALUES)
@settings(max_examples=30)
def test_worded_finds_what_was_written(option, value):
    remedy, found = Remedy(option, value), []
    text = reword(f"Give {remedy}; or `goodgain run --help`.", lambda one: found.append(one) or "X")
    assert text == "Give X; or `goodgain run --help`."
    assert found == [remedy]


def texts_of(path):
    """The string constants of a module that are no docstrings or help, in f-strings too."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    left_out = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Option":
            left_out.update(map(id, ast.walk(node)))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in left_out:
            yield node.value


def test_messages_of_the_core_name_options_by_remedies():
    """Only commands to run are written out."""
    written = {
        f"{path.relative_to(CORE)}: {text}"
        for path in CORE.rglob("*.py")
        for text in texts_of(path)
        if re.search(r"(?<![\w-])--[a-z]", text) and "goodgain " not in text
    }
    assert not written
