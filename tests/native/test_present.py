"""Where the native part can be built, it is: otherwise all tests of it would be skipped unseen."""

import importlib
import os
import re
import subprocess
from itertools import takewhile
from pathlib import Path

import pytest

from goodgain.transforms.core import native
from goodgain.transforms.core.records.search_call import Result, SearchCall

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "native/src"
CORE = ROOT / "transforms/core"


def can_be_built():
    """Whether there is a cargo that works; rustup's may stand on PATH without a toolchain."""
    try:
        return not subprocess.run(["cargo", "--version"], capture_output=True).returncode
    except OSError:
        return False


@pytest.mark.skipif(
    not os.environ.get("CI") and not can_be_built(), reason="there is no cargo here"
)
def test_the_native_part_is_in_use():
    module = importlib.import_module(native._MODULE)
    built_for = module.FORMAT, module.CALL_FIELDS, module.RESULT_FIELDS
    fields = list(SearchCall.__struct_fields__), list(Result.__struct_fields__)
    assert built_for == (native.FORMAT, *fields), "it is of another version: make native"
    assert native.native_module() is not None, native.active_path()


def test_both_languages_have_the_same_format_and_fields():
    """In the sources, so that no cargo is needed to see it."""
    assert re.findall(r"const FORMAT: u32 = (\d+);", source("lib.rs")) == [str(native.FORMAT)]
    records = source("records.rs")
    for name, struct in (("CALL_FIELDS", SearchCall), ("RESULT_FIELDS", Result)):
        (listed,) = re.findall(rf"const {name}: \[&str; \d+\] = \[(.*?)\];", records, re.DOTALL)
        assert re.findall(r'"(\w+)"', listed) == list(struct.__struct_fields__)


@pytest.mark.parametrize("path", sorted(SOURCES.glob("*.rs")), ids=lambda path: path.name)
def test_each_file_names_the_python_file_that_it_mirrors(path):
    """Or says that it mirrors none, and which it works with or why."""
    top = "".join(takewhile(lambda line: line.startswith("//!"), path.open(encoding="utf-8")))
    named = re.findall(r"`([\w/]+\.py)`", top)
    assert named or "mirrors no Python file" in top
    assert [name for name in named if not (CORE / name).is_file()] == []


def source(name):
    return (SOURCES / name).read_text(encoding="utf-8")
