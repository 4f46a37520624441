"""Options that messages name."""

import ast
import pickle
import re
from functools import reduce
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from goodgain.transforms.core.errors import UsageError
from goodgain.transforms.core.judgments.judgment import JudgmentPlace, QrelsProblem
from goodgain.transforms.core.records.rejection import RejectedRecord
from goodgain.transforms.core.remedy import Phrase, Phrased, Remedy, join, word
from goodgain.transforms.core.warnings.warning import DataWarning

PRODUCT = [Path(__file__).parents[2] / name for name in ("transforms", "pipeline")]
CORE = PRODUCT[0] / "core"
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


REMEDIES = st.builds(Remedy, st.from_regex(r"[a-z]{1,8}(_[a-z]{1,8})?", fullmatch=True), VALUES)
PARTS = st.lists(st.text("ab {.-", max_size=4) | REMEDIES, min_size=1, max_size=6)


@given(PARTS)
@settings(max_examples=50)
def test_a_phrase_keeps_its_parts_wherever_text_is_added(parts):
    in_words = "".join(part if isinstance(part, str) else repr(part) for part in parts)
    from_left = reduce(lambda phrase, part: phrase + part, parts, Phrase())
    from_right = reduce(lambda phrase, part: part + phrase, reversed(parts), Phrase())
    joined = join("", ["", *(part if isinstance(part, str) else Phrase(part) for part in parts)])
    for phrase in (from_left, from_right, Phrase(*parts)):
        assert phrase == joined == "".join(map(str, parts))
        assert word(phrase, repr) == in_words
        assert word(pickle.loads(pickle.dumps(phrase)), repr) == in_words
    assert word(joined, repr) == in_words


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("raise " + Remedy("max_i"), "raise X"),
        (Remedy("max_i") + " is too small", "X is too small"),
        (Remedy("cost") + " and " + Remedy("budget"), "X and X"),
        ("for {n} of " + Remedy("labels") + " ({n})", "for {n} of X ({n})"),
        (("for {n} of " + Remedy("labels") + " ({n})").format(n=2), "for 2 of X (2)"),
        (("Raise " + Remedy("max_i") + ".").removesuffix("."), "Raise X"),
        (("Raise " + Remedy("max_i")).removesuffix("."), "Raise X"),
        (("Raise " + Remedy("max_i") + ".").removeprefix("R"), "aise X."),
        ((Remedy("max_i") + ".").removeprefix("--"), "X."),
        (join(", ", ["a", Remedy("cost") + "b"]), "a, Xb"),
        ("add `goodgain run --max-i 3`", "add `goodgain run --max-i 3`"),
    ],
)
def test_options_are_worded_and_nothing_else(phrase, text):
    assert word(phrase, lambda _: "X") == text


def test_errors_carry_the_options_that_they_name():
    assert (
        word(UsageError("raise " + Remedy("max_i")).message, repr) == f"raise {Remedy('max_i')!r}"
    )
    assert str(UsageError("raise " + Remedy("max_i", 3))) == "raise --max-i 3"
    assert UsageError().message == ""


class Finding(Phrased, frozen=True):
    text: str
    number: int = 0


def test_a_struct_stores_texts_and_knows_their_options_where_it_was_made():
    finding = Finding("raise " + Remedy("max_i", 3), 1)
    plain = Finding("raise --max-i 3", 1)
    assert type(finding.text) is str
    assert finding == plain
    assert finding.word(repr).text == f"raise {Remedy('max_i', 3)!r}"
    assert word(finding.phrase("text"), repr) == finding.word(repr).text
    assert msgspec.json.encode(finding) == b'{"text":"raise --max-i 3","number":1}'
    for other in (plain, pickle.loads(pickle.dumps(finding)), replace(finding, number=1)):
        assert other.word(repr) == plain
        assert other.phrase("text") == plain.text


def test_public_rows_are_phrased():
    """Whoever encodes them must not meet a phrase."""
    reason = "raise " + Remedy("max_i")
    for made in (
        RejectedRecord("a", "b", reason),
        DataWarning("c", 1, None, reason, reason),
        QrelsProblem(JudgmentPlace(0, 1, "line 1"), reason),
    ):
        assert b"raise --max-i" in msgspec.msgpack.encode(made)
        assert "X" in str(made.word(lambda _: "X"))


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


TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for folder in PRODUCT
    for path in folder.rglob("*.py")
}


def is_phrase(node, names):
    """Whether an expression is an option or text added to one; `names` are known to be such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return is_phrase(node.left, names) or is_phrase(node.right, names)
    if isinstance(node, ast.IfExp):
        return is_phrase(node.body, names) or is_phrase(node.orelse, names)
    called = node.func if isinstance(node, ast.Call) else node
    return isinstance(called, ast.Name) and called.id in names


def phrases_in(body, names):
    """The names that statements give to phrases."""
    return {
        target.id
        for node in body
        if isinstance(node, ast.Assign) and is_phrase(node.value, names)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def functions_of(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def returns_phrase(function, names):
    names = names | phrases_in(ast.walk(function), names)
    return any(
        isinstance(node, ast.Return) and is_phrase(node.value, names) for node in ast.walk(function)
    )


def formatted_phrases(tree, names):
    return {
        part.lineno
        for scope in [tree, *functions_of(tree)]
        for known in [names if scope is tree else names | phrases_in(ast.walk(scope), names)]
        for part in ast.walk(scope)
        if isinstance(part, ast.FormattedValue) and is_phrase(part.value, known)
    }


def named_phrases(tree, names):
    """The constants of a module that are phrases, and its functions that return one."""
    names = names | phrases_in(tree.body, names)
    return names | {
        function.name for function in functions_of(tree) if returns_phrase(function, names)
    }


def test_no_option_is_formatted_into_text():
    """Formatting leaves only the text of the command line."""
    own = {path: named_phrases(tree, {"Remedy"}) for path, tree in TREES.items()}
    public = {name for names in own.values() for name in names if not name.startswith("_")}
    assert {"label_map_hint", "reason_to_withhold", "OWN_IDEAL"} <= public
    formatted = {
        path: lines
        for path, tree in TREES.items()
        if (lines := formatted_phrases(tree, public | own[path]))
    }
    assert not formatted


def test_a_formatted_option_is_found():
    text = """
def advise():
    advice = "give " + Remedy("pool")
    return f"To compare, {advice}."
"""
    assert formatted_phrases(ast.parse(text), {"Remedy"}) == {4}
    assert not formatted_phrases(ast.parse(text.replace('+ Remedy("pool")', "")), {"Remedy"})
