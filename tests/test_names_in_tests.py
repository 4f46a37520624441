"""What tests import, use or replace in our modules exists, also in text and in programs in strings.

What they replace has to be looked up when a function runs: a function that is replaced in its own
module stays the same in modules that imported it at their top by its name.
"""

import ast
import re
import symtable
from contextlib import suppress
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from tests.test_layers import MODULES, ROOT, TESTS, module_name

TEXTS = {module_name(path): (ROOT / path).read_text(encoding="utf-8") for path in MODULES}
NAME = re.compile(r"goodgain\.(transforms|pipeline|configs)(\.\w+)+")
PROGRAM = re.compile(r"^\s*(from|import) goodgain\b", re.MULTILINE)
REPLACING = re.compile(r"\.((set|del)attr|patch(\.object)?)$")


def programs(text):
    """A program, and those in its strings."""
    yield (tree := ast.parse(text))
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        string = "".join(
            str(part.value) if isinstance(part, ast.Constant) else "_" for part in parts
        )
        if PROGRAM.search(string):
            with suppress(SyntaxError):  # a part of a program, or prose
                yield ast.parse(dedent(string))


def uses(tree):
    """The full names that a program imports, looks up, replaces or writes, with their lines."""
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                known[alias.asname or alias.name] = full = f"{node.module}.{alias.name}"
                yield node.lineno, "looked up" if node.col_offset else "imported", full
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, "imported", alias.name
                full = alias.name if alias.asname else alias.name.partition(".")[0]
                known[alias.asname or full] = full

    def full_name(node):
        if isinstance(node, ast.Attribute):
            return f"{full_name(node.value)}.{node.attr}"
        return known.get(getattr(node, "id", None), "")

    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            is_read = isinstance(node.ctx, ast.Load)
            yield node.lineno, "looked up" if is_read else "replaced", full_name(node)
        elif isinstance(node, ast.Constant) and NAME.fullmatch(str(node.value)):
            yield node.lineno, "named", node.value
        elif isinstance(node, ast.Call) and REPLACING.search(ast.unparse(node.func)):
            place, name = [*node.args, None, None][:2]
            if isinstance(place, ast.Constant):
                yield node.lineno, "replaced", str(place.value)
            elif isinstance(name, ast.Constant):
                yield node.lineno, "replaced", f"{full_name(place)}.{name.value}"


def split(full_name):
    """A full name's module ("" if it is not ours), the name in it, and what follows that name."""
    module = full_name
    while module and module not in TEXTS:
        module = module.rpartition(".")[0]
    name, _, rest = full_name.removeprefix(module).removeprefix(".").partition(".")
    return module, name, rest


@cache
def names_of(module):
    """The names that a module binds at its top, and those that its functions look up there."""
    top = symtable.symtable(TEXTS[module], module, "exec")
    names = {of.get_name() for of in top.get_symbols() if of.is_assigned() or of.is_imported()}
    scopes, looked_up = top.get_children(), set()
    for scope in scopes:
        scopes += scope.get_children()
        if scope.get_type() == "function":
            looked_up |= {of.get_name() for of in scope.get_symbols() if of.is_global()}
    return names, looked_up


@cache
def is_looked_up(module, name):
    return name in names_of(module)[1] or any(
        how == "looked up" and split(full)[:2] == (module, name)
        for text in TEXTS.values()
        if name in text
        for _, how, full in uses(ast.parse(text))
    )


def mistakes_in(text):
    for program in programs(text):
        for line, how, full_name in uses(program):
            module, name, rest = split(full_name)
            if not module or not name or name.startswith("__"):
                continue
            if name not in names_of(module)[0]:
                yield line, f"{full_name} does not exist"
            elif how == "replaced" and not rest and not is_looked_up(module, name):
                yield line, f"{full_name} is replaced, but not looked up"


def test_what_tests_import_use_and_replace_exists_and_is_looked_up():
    tests = {path: (ROOT / path).read_text(encoding="utf-8") for path in TESTS}
    del tests[Path(__file__).relative_to(ROOT)]
    assert {path: found for path, text in tests.items() if (found := [*mistakes_in(text)])} == {}


@pytest.mark.parametrize(
    ("program", "mistake"),
    [
        ("from goodgain.transforms.coders import gone", "gone does not exist"),
        ("import goodgain.transforms.gone", "gone does not exist"),
        ("from goodgain.transforms import coders\ncoders.gone()", "gone does not exist"),
        ("assert 'goodgain.transforms.gone' not in imported", "gone does not exist"),
        ("TEXT = 'import goodgain.transforms.coders as it\\nit.gone = 1'", "gone does not exist"),
        ("patch.setattr('goodgain.transforms.coders.apply_to_outputs', 1)", "but not looked up"),
    ],
)
def test_mistakes_are_found(program, mistake):
    ((_, found),) = mistakes_in(program)
    assert mistake in found
