"""Nouns and verbs that agree with counts."""

import pytest

from goodgain.transforms.core.wording import explain_missing_interval, format_count, pluralize


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
