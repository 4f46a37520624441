"""Patterns that every Python from 3.11.0 on matches alike."""

import re
import re._parser as parser
from importlib import import_module
from pkgutil import walk_packages

import pytest

import goodgain.transforms.core as core


def patterns():
    for found in walk_packages(core.__path__, f"{core.__name__}."):
        for name, value in vars(import_module(found.name)).items():
            if isinstance(value, re.Pattern):
                yield f"{found.name}.{name}", value


def repeats_alternatives(parsed, in_possessive=False):
    """Whether alternatives are repeated possessively, other than in an atomic group."""
    if isinstance(parsed, parser.SubPattern):
        return any(_of_operation(*operation, in_possessive) for operation in parsed)
    if isinstance(parsed, list | tuple):
        return any(repeats_alternatives(operation, in_possessive) for operation in parsed)
    return False


def _of_operation(operation, argument, in_possessive):
    if operation is parser.BRANCH and in_possessive:
        return True
    inside = operation is parser.POSSESSIVE_REPEAT or (
        in_possessive and operation is not parser.ATOMIC_GROUP
    )
    return repeats_alternatives(argument, inside)


def parse(pattern, flags=0):
    return parser.parse(pattern, flags & ~re.DEBUG)


def test_no_pattern_repeats_alternatives_possessively():
    """Python before 3.11.5 matches these wrongly, so that records of JSON arrays were cut off."""
    found = dict(patterns())
    assert len(found) > 10
    wrong = [
        name
        for name, pattern in found.items()
        if repeats_alternatives(parse(pattern.pattern, pattern.flags))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("pattern", "is_wrong"),
    [
        (r"(?:ab|c)*+d", True),
        (r"(?:x(?:ab|c)y)++", True),
        (r"(?:(?>ab|c)x)*+", False),
        (r"(?:[ab]*+c)*+|d", False),
    ],
)
def test_such_patterns_are_recognised(pattern, is_wrong):
    assert repeats_alternatives(parse(pattern)) == is_wrong
