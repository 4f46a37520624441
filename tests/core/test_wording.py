"""Nouns and verbs that agree with counts, and shares and reasons in words."""

import doctest

import pytest

from goodgain.transforms.core import wording
from goodgain.transforms.core.wording import (
    explain_missing_interval,
    format_count,
    format_percent,
    pluralize,
)


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 pairs"), (1, "1 pair"), (2, "2 pairs"), (1000, "1,000 pairs")]
)
def test_nouns_follow_their_count(number, text):
    assert format_count(number, "pair") == text


def test_verbs_follow_their_count():
    assert [format_count(n, "copy is", "copies are") for n in (1, 3)] == [
        "1 copy is",
        "3 copies are",
    ]
    assert [pluralize(n, "has", "have") for n in (0, 1)] == ["have", "has"]


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10_000, "0.0 %"),
        (1, 10, "10.0 %"),
        (3, 10_000, "0.03 %"),
        (9_999, 10_000, "99.99 %"),
        (1, 10**8, "0.000001 %"),
        (10**8 - 1, 10**8, "99.999999 %"),
        (-3, 10_000, "-0.03 %"),
        (10_000, 10_000, "100.0 %"),
    ],
)
def test_a_few_of_many_are_not_none_and_not_all(part, whole, text):
    assert format_percent(part / whole) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (5e-17, "0.0 %"),
        (-5e-17, "0.0 %"),
        (0.9999999999999999, "100.0 %"),
        (1.0000000000000002, "100.0 %"),
    ],
)
def test_rounding_errors_are_none_or_all(share, text):
    assert format_percent(share) == text


def test_examples_in_the_help_run():
    result = doctest.testmod(wording)
    assert result.attempted >= 3
    assert not result.failed


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ("no pair differs, so there is no interval", "no interval: GR: no pair differs"),
        ("one pair has no interval and no test", "GR: one pair has no interval and no test"),
        ("there are no pairs", "no interval: GR: there are no pairs"),
    ],
)
def test_reasons_say_once_that_there_is_no_interval(note, text):
    assert explain_missing_interval(note, "GR") == text
    assert explain_missing_interval(note) == text.replace("GR: ", "")
